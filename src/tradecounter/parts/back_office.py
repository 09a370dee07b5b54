"""What operations and pages of the back office are made with, besides their desk."""

from tradecounter.imports.uploads import ImportUploads
from tradecounter.letterhead.seller import Letterhead
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.parts.site import SiteParts


class OfficeParts(SiteParts, frozen=True, kw_only=True):
    """The same presenters and settings that the API of the back office uses."""

    orders: OrderPresenter
    letterhead: Letterhead
    uploads: ImportUploads
