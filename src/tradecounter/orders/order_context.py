"""What an order of a customer is priced from: the customer's view, shipping and the reseller's settings."""

from collections.abc import Callable
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


class OrderContexts(Struct, frozen=True):
    """Makes the contexts of customers' orders, for whoever orders; `view_of` returns a customer's view."""

    view_of: Callable[[int], CustomerView]
    methods: ShippingMethods
    policy: OrderingPolicy

    def of(self, customer_id: int, now: datetime, code: str | None = None) -> OrderContext:
        """Return the context of a customer's order. Raises DomainError as `view_of` does."""
        return OrderContext(
            customer_id=customer_id,
            view=self.view_of(customer_id),
            shipping=self.methods.current,
            policy=self.policy,
            now=now,
            code=code,
        )


async def read_contexts(tx: Transaction, policy: OrderingPolicy, now: datetime) -> OrderContexts:
    """Return contexts that are made from the data as it is now, for programs that keep no copy of it.

    An unknown customer is a DomainError (not found).
    """
    storefront, methods = Storefront(FrozenClock(now), low_stock=1), ShippingMethods()
    versions = await read_versions(tx)
    await storefront.refresh(tx, versions)
    await methods.refresh(tx, versions)

    def view_of(customer_id: int) -> CustomerView:
        view = storefront.last_view(customer_id)
        if view is None:
            raise not_found("customer", customer_id)
        return view

    return OrderContexts(view_of, methods, policy)
