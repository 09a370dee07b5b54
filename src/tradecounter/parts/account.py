"""What operations and pages of the account are made with, besides their desk."""

from tradecounter.parts.site import SiteParts
from tradecounter.shipments.queries.fulfilment import OrderFulfilment


class AccountParts(SiteParts, frozen=True, kw_only=True):
    """The same views and services that the customers' API uses."""

    fulfilment: OrderFulfilment
