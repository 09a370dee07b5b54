"""Confirms a quote for a customer who accepted it by e-mail or phone (specification, section 3)."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.confirm_order import confirm_order
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.queries.lookup import the_quote
from tradecounter.ordering.read_context import read_context
from tradecounter.ordering.states import ConfirmedOrder, UnpricedQuote


async def confirm_quote(
    tx: Transaction,
    code: str,
    method_id: int | None,
    policy: OrderingPolicy,
    now: datetime,
    *,
    override_credit: str | None = None,
) -> ConfirmedOrder:
    """Confirm a priced quote, with the same checks as for its customer; a confirmed quote stays unchanged.

    `code` is the whole confirmation code. Raises DomainError: not found, precondition failed (not priced), and the
    errors of `confirm_order`.
    """
    quote = await the_quote(tx, code)
    if isinstance(quote, UnpricedQuote):
        raise DomainError(Kind.PRECONDITION_FAILED, f"the quote {code} is not priced yet: price it with `quote price`")
    context = await read_context(tx, quote.customer_id, policy, now)
    order, _ = await confirm_order(tx, code, method_id, context, override_credit=override_credit)
    return order
