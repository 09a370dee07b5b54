"""Customers' views; refreshes the storefront for a customer or a product that was just added."""

from collections.abc import Iterable

from msgspec import Struct

from tradecounter.db.freshness import Freshness
from tradecounter.db.refresher import Refresher
from tradecounter.kit.errors import not_found
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.storefront.storefront import Storefront
from tradecounter.storefront.view import CustomerView


class RefreshableViews(Struct, frozen=True):
    """Returns views from the storefront, and refreshes it if a customer or a product is missing."""

    storefront: Storefront
    refresher: Refresher
    freshness: Freshness

    async def of(self, customer_id: int) -> CustomerView:
        """Return the customer's current view, for sales. Raises DomainError (unavailable) if the data is stale."""
        self.freshness.require()
        return await self.last(customer_id)

    def for_order(self, customer_id: int) -> CustomerView:
        """Return a view for an order, which finds out itself whether it is current (`storefront/current_view.py`).

        Does not wait for a customer that is not loaded yet. Raises DomainError (unavailable) if the data is stale.
        """
        self.freshness.require()
        return self.storefront.last_view(customer_id) or self.storefront.view_without_terms()

    async def last(self, customer_id: int) -> CustomerView:
        """Return the customer's view even if it is stale, for anything but sales. Raises DomainError (not found)."""
        view = self.storefront.last_view(customer_id)
        for refresh in (self.refresher.catch_up, self.refresher.refresh):  # the latter also waits for what is under way
            if view is None:
                await refresh()
                view = self.storefront.last_view(customer_id)
        if view is None:
            raise not_found("customer", customer_id)
        return view

    async def snapshot(self) -> CatalogueSnapshot:
        """Return the catalogue, without what changed within the last second."""
        return self.storefront.snapshot

    async def latest_snapshot(self) -> CatalogueSnapshot:
        """Return the catalogue with all changes but large ones, for which a refresh takes seconds."""
        await self.refresher.catch_up()
        return await self.snapshot()

    async def showing(self, customer_id: int, product_ids: Iterable[int]) -> CustomerView:
        """Return the customer's latest view, after a refresh if it lacks one of the products, which may be new."""
        view = await self.last(customer_id)
        if all(product_id in view.snapshot.row_of_id for product_id in product_ids):
            return view
        await self.refresher.refresh()
        return await self.last(customer_id)
