"""The contexts of customers' orders, for whoever orders: a program, a user or the staff."""

from datetime import datetime

from msgspec import Struct

from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.storefront.refreshable_views import RefreshableViews


class OrderContexts(Struct, frozen=True):
    """Makes the contexts of customers' orders."""

    views: RefreshableViews
    methods: ShippingMethods
    policy: OrderingPolicy

    async def of(self, customer_id: int, now: datetime) -> OrderContext:
        """Return the context of a customer's order. Raises DomainError (unavailable) if the data is stale."""
        view = self.views.for_order(customer_id)
        return OrderContext(
            customer_id=customer_id,
            view=view,
            shipping=self.methods.current,
            policy=self.policy,
            now=now,
        )
