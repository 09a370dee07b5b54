"""Customers' views, with a refresh for a customer or a product that was added a moment ago."""

from collections.abc import Iterable
from dataclasses import dataclass

from tradecounter.db.freshness import Freshness
from tradecounter.db.refresher import Refresher
from tradecounter.kit.errors import not_found
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView


@dataclass(frozen=True, slots=True)
class RefreshableViews:
    """Returns views from the storefront; refreshes it when it does not know the customer yet."""

    storefront: Storefront
    refresher: Refresher
    freshness: Freshness

    async def of(self, customer_id: int) -> CustomerView:
        """Return the customer's current view, to sell by. Raises DomainError (unavailable) when it is stale."""
        self.freshness.require()
        return await self.last(customer_id)

    async def last(self, customer_id: int) -> CustomerView:
        """Return the customer's view however old it is, for what sells nothing by it."""
        view = self.storefront.last_view(customer_id)
        if view is None:
            await self.refresher.catch_up()
            view = self.storefront.last_view(customer_id)
        if view is None:
            raise not_found("customer")
        return view

    async def showing(self, customer_id: int, product_ids: Iterable[int]) -> CustomerView:
        """Return the customer's last view; refresh it first if a product is missing, which may be a new one."""
        view = await self.last(customer_id)
        if all(product_id in view.snapshot.row_of_id for product_id in product_ids):
            return view
        await self.refresher.refresh()
        return await self.last(customer_id)
