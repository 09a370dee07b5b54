"""What operations and pages of the account are made with, besides their desk."""

from msgspec import Struct

from tradecounter.orders.order_context import OrderContexts
from tradecounter.settings import Settings
from tradecounter.shipments.queries.fulfilment import OrderFulfilment
from tradecounter.storefront.storefront import RefreshableViews


class AccountParts(Struct, frozen=True):
    """The same views and services that the customers' API uses."""

    views: RefreshableViews
    contexts: OrderContexts
    fulfilment: OrderFulfilment
    settings: Settings
