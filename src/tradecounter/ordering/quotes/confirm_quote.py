"""Confirms a quote for a customer who accepted it by e-mail or phone (specification, section 3)."""

from datetime import datetime

from tradecounter.db.changes import read_versions
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import FrozenClock
from tradecounter.kit.errors import DomainError, Kind, not_found
from tradecounter.ordering.confirm_order import confirm_order
from tradecounter.ordering.order_context import OrderContext
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.queries.lookup import the_quote
from tradecounter.ordering.states import ConfirmedOrder, UnpricedQuote
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.storefront.storefront import Storefront


async def confirm_quote(
    tx: Transaction, code: str, method_id: int | None, policy: OrderingPolicy, now: datetime
) -> ConfirmedOrder:
    """Confirm a priced quote, with the same checks as for its customer; a confirmed quote stays unchanged.

    `code` is the whole confirmation code. Raises DomainError: not found, precondition failed (not priced), and the
    errors of `confirm_order`.
    """
    quote = await the_quote(tx, code)
    if isinstance(quote, UnpricedQuote):
        raise DomainError(Kind.PRECONDITION_FAILED, f"the quote {code} is not priced yet: price it with `quote price`")
    order, _ = await confirm_order(tx, code, method_id, await _context(tx, quote.customer_id, policy, now))
    return order


async def _context(tx: Transaction, customer_id: int, policy: OrderingPolicy, now: datetime) -> OrderContext:
    """Read the context of a customer's order from the database, since the command line has no storefront in memory."""
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
