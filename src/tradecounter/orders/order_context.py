"""What an order of a customer is priced from: the customer's view, shipping and the reseller's settings."""

from datetime import datetime

from msgspec import Struct

from tradecounter.db.changes import read_versions
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import FrozenClock
from tradecounter.kit.errors import not_found
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.shipping.methods import Shipping, ShippingMethods
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView


class OrderContext(Struct, frozen=True, kw_only=True):
    """The context of a customer's order; `code` is the confirmation code of a new order, random by default."""

    customer_id: int
    view: CustomerView
    shipping: Shipping
    policy: OrderingPolicy
    now: datetime
    code: str | None = None


async def read_context(tx: Transaction, customer_id: int, policy: OrderingPolicy, now: datetime) -> OrderContext:
    """Return the context of a customer's order. Raises DomainError (not found)."""
    storefront, methods = Storefront(FrozenClock(now), low_stock=1), ShippingMethods()
    versions = await read_versions(tx)
    await storefront.refresh(tx, versions)
    await methods.refresh(tx, versions)
    view = storefront.last_view(customer_id)
    if view is None:
        raise not_found("customer", customer_id)
    return OrderContext(customer_id=customer_id, view=view, shipping=methods.current, policy=policy, now=now)
