"""What the pages of the account are made with, besides their desk."""

from dataclasses import dataclass

from tradecounter.fulfilment.queries.reads import OrderFulfilment
from tradecounter.ordering.create.respond import OrderCreation
from tradecounter.settings import Settings
from tradecounter.storefront.refreshable_views import RefreshableViews


@dataclass(frozen=True, slots=True)
class AccountParts:
    """The same views and services that the customers' API uses."""

    views: RefreshableViews
    creation: OrderCreation
    fulfilment: OrderFulfilment
    settings: Settings
