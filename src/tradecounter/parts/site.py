"""What pages of both sites are made with, besides their desk."""

from msgspec import Struct

from tradecounter.orders.order_context import OrderContexts
from tradecounter.settings import Settings
from tradecounter.storefront.storefront import RefreshableViews


class SiteParts(Struct, frozen=True, kw_only=True):
    """The customers' views of the catalogue, and what their orders are made with."""

    views: RefreshableViews
    contexts: OrderContexts
    settings: Settings
