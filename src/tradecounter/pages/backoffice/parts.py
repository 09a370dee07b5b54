"""What the pages of the back office are made with, besides their desk."""

from dataclasses import dataclass

from tradecounter.backoffice.order_context import OrderContexts
from tradecounter.backoffice.present_order import OrderPresenter
from tradecounter.letterhead.seller import Letterhead
from tradecounter.pages.backoffice.imports.uploads import Uploads
from tradecounter.settings import Settings


@dataclass(frozen=True, slots=True)
class OfficeParts:
    """The same presenters and settings that the API of the back office uses."""

    orders: OrderPresenter
    contexts: OrderContexts
    letterhead: Letterhead
    settings: Settings
    uploads: Uploads
