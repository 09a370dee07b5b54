"""What the pages of the account are made with, besides their desk."""

from msgspec import Struct

from tradecounter.orders.create.respond import OrderCreation
from tradecounter.parts.order_contexts import OrderContexts
from tradecounter.settings import Settings
from tradecounter.shipments.queries.reads import OrderFulfilment
from tradecounter.storefront.refreshable_views import RefreshableViews


class AccountParts(Struct, frozen=True):
    """The same views and services that the customers' API uses."""

    views: RefreshableViews
    creation: OrderCreation
    fulfilment: OrderFulfilment
    settings: Settings

    @property
    def contexts(self) -> OrderContexts:
        """The contexts of customers' orders."""
        return OrderContexts(self.views, self.creation.methods, self.creation.policy)
