"""Confirming a quote for a customer who has accepted it by mail or on the phone (specification, section 3)."""

from datetime import datetime

from tradecounter.db.changes import read_versions
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import FrozenClock
from tradecounter.kit.errors import DomainError, Kind, not_found
from tradecounter.ordering.confirm_order import confirm_order
from tradecounter.ordering.lookup import the_quote
from tradecounter.ordering.order_context import OrderContext
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.states import ConfirmedOrder, UnpricedQuote
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.storefront.storefront import Storefront


async def confirm_quote(
    tx: Transaction, code: str, method_id: int | None, policy: OrderingPolicy, now: datetime
) -> ConfirmedOrder:
    """Confirm a priced quote as its customer would, with the same checks; one that is confirmed stays as it is.

    `code` is the whole confirmation code. Raises DomainError: not found, precondition failed (not priced), and what
    `confirm_order` raises.
    """
    quote = await the_quote(tx, code)
    if isinstance(quote, UnpricedQuote):
        raise DomainError(Kind.PRECONDITION_FAILED, f"the quote {code} is not priced yet: `quote price` does that")
    order, _ = await confirm_order(tx, code, method_id, await _context(tx, quote.customer_id, policy, now))
    return order


async def _context(tx: Transaction, customer_id: int, policy: OrderingPolicy, now: datetime) -> OrderContext:
    """Return the context of a customer's order, read for this one use."""
    storefront, methods = Storefront(FrozenClock(now), low_stock=1), ShippingMethods()
    versions = await read_versions(tx)
    await storefront.refresh(tx, versions)
    await methods.refresh(tx, versions)
    view = storefront.last_view(customer_id)
    if view is None:
        raise not_found("customer")
    return OrderContext(
        customer_id=customer_id, view=view, methods=methods.all, regions=methods.regions, policy=policy, now=now
    )
