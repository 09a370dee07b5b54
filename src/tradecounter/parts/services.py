"""What operations and pages of both sites are made with, besides their desk."""

from msgspec import Struct

from tradecounter.imports.uploads import Uploads
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.order_context import OrderContexts
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.settings import Settings
from tradecounter.shipments.queries.fulfilment import OrderFulfilment
from tradecounter.storefront.storefront import RefreshableViews


class AccountParts(Struct, frozen=True):
    """The same views and services that the customers' API uses."""

    views: RefreshableViews
    contexts: OrderContexts
    fulfilment: OrderFulfilment
    settings: Settings


class OfficeParts(Struct, frozen=True):
    """The same presenters and settings that the API of the back office uses."""

    views: RefreshableViews
    orders: OrderPresenter
    contexts: OrderContexts
    letterhead: Letterhead
    settings: Settings
    uploads: Uploads
