"""Requesting a quote: an order at today's prices that support may make better ones for (specification, section 3)."""

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.place_order import hold
from tradecounter.ordering.wire import CreateOrderRequest


async def request_quote(tx: Transaction, request: CreateOrderRequest, circumstances: Circumstances) -> str:
    """Hold a quote until support has priced it, tell support, and return its confirmation code.

    Raises DomainError: invalid (also when it is to be confirmed at once), payment required, conflict.
    """
    if request.auto_confirm:
        raise invalid("auto_confirm", "must not be set on a quote: it is confirmed once support has priced it")
    held = await hold(tx, "quote", request, circumstances)
    await queue(tx, "mail_quote_requested", order_id=held.id)
    return held.code
