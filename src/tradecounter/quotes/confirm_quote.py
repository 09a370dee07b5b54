"""Confirms a quote for a customer who accepted it by e-mail or phone (specification, section 3)."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.error_codes import Code
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.guards import NO_GUARDS, ConfirmationGuards
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.orders.queries.all_orders import fetch_quote
from tradecounter.orders.states import ConfirmedOrder, UnpricedQuote


async def confirm_quote(
    tx: Transaction,
    code: str,
    method_id: int | None,
    policy: OrderingPolicy,
    now: datetime,
    *,
    override_credit: str | None = None,
    guards: ConfirmationGuards = NO_GUARDS,
) -> ConfirmedOrder:
    """Confirm a priced quote, with the same checks as for its customer; a confirmed quote stays unchanged.

    `code` is the whole confirmation code. Raises DomainError: not found, precondition failed (not priced), and
    the errors of `confirm_order`.
    """
    quote = await fetch_quote(tx, code)
    if isinstance(quote, UnpricedQuote):
        raise DomainError(
            Kind.PRECONDITION_FAILED, f"the quote {code} is not priced yet: price it first", code=Code.NOT_PRICED
        )
    order, _ = await confirm_order(
        tx,
        quote.customer_id,
        quote.confirmation_code,
        method_id,
        policy,
        now,
        override_credit=override_credit,
        guards=guards,
    )
    return order
