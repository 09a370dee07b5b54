"""What operations and pages of the back office are made with, besides their desk."""

from msgspec import Struct

from tradecounter.imports.uploads import ImportUploads
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.order_context import OrderContexts
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.settings import Settings
from tradecounter.storefront.storefront import RefreshableViews


class OfficeParts(Struct, frozen=True):
    """The same presenters and settings that the API of the back office uses."""

    views: RefreshableViews
    orders: OrderPresenter
    contexts: OrderContexts
    letterhead: Letterhead
    settings: Settings
    uploads: ImportUploads
