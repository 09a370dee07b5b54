"""`/api/customer/{id}/list`: a customer's lists of products, which all its users share."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.customers.operations.staff import ONE_CUSTOMER, CustomerId
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, SinceParameters
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.kit.wire import made_from
from tradecounter.saved_lists.manage_lists import ListContent, ListItem, change_list, create_list, remove_list
from tradecounter.saved_lists.queries import AllUsers, fetch_list, lines_of_list, lists_of
from tradecounter.storefront.storefront import RefreshableViews


class ListSummary(Struct):
    """A list."""

    id: int
    name: str
    lines: Annotated[int, Meta(description="How many products it has.")]


class ProductList(Struct):
    """A list with its products."""

    id: int
    name: str
    items: list[ListItem]


_ITEMS = [ListItem("CV-320P", 5)]
_DESCRIBED: Mapping[type, Described] = {
    ListSummary: Described("", ListSummary(4, "New starter", 1)),
    ProductList: Described("The list.", ProductList(4, "New starter", _ITEMS), "List"),
    ListContent: Described("", ListContent("New starter", _ITEMS), "List"),
}
_LISTS = Subject(tag="Customers", read="customers:read", write="customers:write", described=_DESCRIBED)
_ALL = f"{ONE_CUSTOMER}/list"
_ONE = f"{ONE_CUSTOMER}/list/{{list_id}}"

ListId = Annotated[int, InPath("list_id", "The list's id.", 1, "list")]


class SavedListOperations(Struct, frozen=True):
    """The endpoints of customers' lists. Those of one user alone are not among them."""

    desk: Desk
    views: RefreshableViews

    @_LISTS.shows(_ALL, "The lists.")
    async def list_lists(self, tx: Transaction, customer_id: CustomerId, query: SinceParameters) -> list[ListSummary]:
        """A customer's lists of products.

        Those that all users share, by name. A list changes with its name and its products.
        """
        account = await fetch_account(tx, customer_id)
        saved_lists = await lists_of(tx, AllUsers(account.id), query.since)
        return [made_from(saved_list, ListSummary) for saved_list in saved_lists]

    @_LISTS.changes("POST", _ALL, location="{id}")
    async def create_list(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, body: ListContent
    ) -> ProductList:
        """Add a list of products that all users of a customer share.

        The customer can buy each of them. Units of a SKU that is there twice are added up.
        """
        view = await self.views.of(customer_id)
        return await _shown(tx, customer_id, await create_list(tx, AllUsers(customer_id), view, body, now))

    @_LISTS.shows(_ONE)
    async def get_list(self, tx: Transaction, customer_id: CustomerId, list_id: ListId) -> ProductList:
        """One list with its products."""
        return await _shown(tx, customer_id, list_id)

    @_LISTS.changes("PUT", _ONE)
    async def replace_list(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, list_id: ListId, body: ListContent
    ) -> ProductList:
        """Replace the name and the products of a list."""
        view = await self.views.of(customer_id)
        await change_list(tx, AllUsers(customer_id), view, list_id, body, now)
        return await _shown(tx, customer_id, list_id)

    @_LISTS.changes("DELETE", _ONE, "The list is deleted.")
    async def delete_list(self, tx: Transaction, now: datetime, customer_id: CustomerId, list_id: ListId) -> None:
        """Delete a list."""
        await remove_list(tx, AllUsers(customer_id), list_id, now)


async def _shown(tx: Transaction, customer_id: int, list_id: int) -> ProductList:
    saved_list = await fetch_list(tx, AllUsers(customer_id), list_id)
    items = [ListItem(line.sku, line.quantity) for line in await lines_of_list(tx, list_id)]
    return ProductList(saved_list.id, saved_list.name, items)
