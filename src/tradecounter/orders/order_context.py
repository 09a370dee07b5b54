"""The context from which an order is priced: the customer's view, shipping and the reseller's settings."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Self

from msgspec import Struct

from tradecounter.db.changes import read_versions
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import FrozenClock
from tradecounter.kit.errors import or_not_found
from tradecounter.kit.wire import made_from
from tradecounter.orders.states import OrderKind
from tradecounter.settings import Settings
from tradecounter.shipping.methods import Shipping, ShippingMethods
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView


class OrderingPolicy(Struct, frozen=True, kw_only=True):
    """Lifetimes, caps, VAT in per cent, and the prefixes of order references."""

    pending_lifetime: timedelta
    quote_lifetime: timedelta
    max_pending_orders: int
    max_unpriced_quotes: int
    vat_rate: Decimal
    own_brand_prefix: str
    plain_prefix: str

    @classmethod
    def from_settings(cls, settings: Settings) -> Self:
        """Return the policy of the settings."""
        return made_from(settings, cls, pending_lifetime=settings.pending_order_lifetime)

    def most_pending(self, kind: OrderKind) -> int:
        """Return the cap on a customer's pending orders, or on its unpriced quotes."""
        return self.max_pending_orders if kind == "order" else self.max_unpriced_quotes


class OrderContext(Struct, frozen=True, kw_only=True):
    """The context of a customer's order; `code` is the confirmation code of a new order, random by default."""

    customer_id: int
    view: CustomerView
    shipping: Shipping
    policy: OrderingPolicy
    now: datetime
    code: str | None = None


class OrderContexts(Struct, frozen=True):
    """Makes the contexts of customers' orders; `view_of` returns a customer's view."""

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
    """Return contexts made from the current data, for programs that keep no copy of it.

    They raise DomainError (not found) for an unknown customer.
    """
    storefront, methods = Storefront(FrozenClock(now), low_stock=1), ShippingMethods()
    versions = await read_versions(tx)
    await storefront.refresh(tx, versions)
    await methods.refresh(tx, versions)

    def view_of(customer_id: int) -> CustomerView:
        return or_not_found(storefront.last_view(customer_id), "customer", customer_id)

    return OrderContexts(view_of, methods, policy)
