"""Confirms a quote for a customer who accepted it by e-mail or phone (specification, section 3)."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.error_codes import Code
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.confirm_for_customer import confirm_for_customer
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.orders.reseller_wire import Confirmation
from tradecounter.orders.states import ConfirmedOrder, UnpricedQuote
from tradecounter.quotes.queries.quotes import fetch_quote


async def confirm_quote(
    tx: Transaction,
    code: str,
    request: Confirmation,
    policy: OrderingPolicy,
    now: datetime,
    *,
    pricing: int | None = None,
) -> ConfirmedOrder:
    """Confirm a priced quote by its whole code; a confirmed quote stays unchanged.

    `pricing` is the number of the price that was shown; without it, any price is confirmed.
    Raises DomainError: not found, precondition failed (not priced), and the errors of `confirm_for_customer`.
    """
    quote = await fetch_quote(tx, code)
    if isinstance(quote, UnpricedQuote):
        raise DomainError(
            Kind.PRECONDITION_FAILED, f"the quote {code} is not priced yet: price it first", code=Code.NOT_PRICED
        )
    return await confirm_for_customer(tx, quote, request, policy, now, pricing=pricing)
