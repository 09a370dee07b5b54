"""Requesting a quote: an order at today's prices that support may make better ones for (specification, section 3)."""

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.place_order import hold
from tradecounter.ordering.standing import Standing
from tradecounter.ordering.store import NewOrder
from tradecounter.ordering.wire import CreateOrderRequest


async def request_quote(
    tx: Transaction, request: CreateOrderRequest, standing: Standing, circumstances: Circumstances
) -> NewOrder:
    """Hold a quote until support has priced it, tell support and the customer, and return it.

    Raises DomainError: invalid (also when it is to be confirmed at once), payment required, conflict.
    """
    if request.auto_confirm:
        raise invalid("auto_confirm", "must not be set on a quote: it is confirmed once support has priced it")
    quote = await hold(tx, "quote", request, standing, circumstances)
    await queue(tx, "mail_quote_requested", f"quotes of customer {circumstances.customer_id}", order_id=quote.id)
    await queue(tx, "mail_quote_received", order_id=quote.id)
    return quote
