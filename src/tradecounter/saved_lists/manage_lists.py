"""Creates, changes and deletes saved lists."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import lock_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.text import is_blank
from tradecounter.orders.create.draft import wanted_lines
from tradecounter.orders.create.quick_lines import require_good_lines
from tradecounter.orders.lines import added_up
from tradecounter.orders.offers import sold_lines, unknown_products
from tradecounter.orders.wire import LONGEST_SKU, MOST_UNITS, CreateOrderItem
from tradecounter.saved_lists.queries import (
    Owner,
    SavedList,
    delete_list,
    insert_list,
    lines_of_list,
    lists_of,
    lock_list,
    put_lines,
    replace_lines,
    update_list,
)
from tradecounter.storefront.view import CustomerView

_MOST_LISTS = 200
_MOST_LINES = 500


ListName = Annotated[str, Meta(min_length=1, max_length=100)]


class ListDetails(Struct):
    """A list: its name, whether all users of the customer may use it, and its lines, such as `PHONE 2`."""

    name: ListName
    shared: bool = False
    lines: str = ""
    field: ClassVar[str] = "lines"

    def wanted(self, view: CustomerView) -> Sequence[CreateOrderItem]:
        """Return the items. Raises DomainError (invalid) with all that is wrong."""
        lines, bad = sold_lines(view, self.lines)
        require_good_lines(bad)
        return [CreateOrderItem(line.sku, line.units) for line in lines]


class ListItem(Struct):
    """A product of a list."""

    sku: Annotated[
        str, Meta(min_length=1, max_length=LONGEST_SKU, description="The product's SKU; case does not matter.")
    ]
    quantity: Annotated[int, Meta(ge=1, le=MOST_UNITS, description="Units to order.")]


class ListContent(Struct):
    """A list that all users of a customer may use: its name and its products with units."""

    name: ListName
    items: Annotated[list[ListItem], Meta(max_length=_MOST_LINES)] = []
    field: ClassVar[str] = "items"
    shared: ClassVar[bool] = True

    def wanted(self, _view: CustomerView) -> Sequence[CreateOrderItem]:
        """Return the items."""
        return [CreateOrderItem(item.sku, item.quantity) for item in self.items]


async def create_list(
    tx: Transaction, owner: Owner, view: CustomerView, details: ListDetails | ListContent, now: datetime
) -> int:
    """Store a list and return its id. Raises DomainError: invalid, for its fields; conflict, with too many lists."""
    await lock_account(tx, owner.customer_id)  # so that lists that are made at the same time count each other
    if len(await lists_of(tx, owner)) >= _MOST_LISTS:
        raise DomainError(Kind.CONFLICT, f"there are {_MOST_LISTS} lists already: delete one first")
    lines = _lines(view, details)
    list_id = await insert_list(tx, owner, details.name, now, shared=details.shared)
    await put_lines(tx, list_id, lines)
    _record(tx, "saved_list.create", owner, now, list_id, details.name)
    return list_id


async def change_list(
    tx: Transaction, owner: Owner, view: CustomerView, list_id: int, details: ListDetails | ListContent, now: datetime
) -> None:
    """Replace a list; one that would stay as it is is not touched. Raises DomainError: not found; invalid."""
    saved_list = await lock_list(tx, owner, list_id)
    lines = _lines(view, details)
    stored = [(line.product_id, line.quantity) for line in await lines_of_list(tx, list_id)]
    if (saved_list.name, saved_list.shared, stored) == (details.name, details.shared, lines):
        return
    await update_list(tx, list_id, details.name, None if details.shared else owner.id)
    await replace_lines(tx, list_id, lines)
    _record(tx, "saved_list.change", owner, now, list_id, details.name)


async def remove_list(tx: Transaction, owner: Owner, list_id: int, now: datetime) -> None:
    """Delete a list. Raises DomainError (not found)."""
    saved_list = await lock_list(tx, owner, list_id)
    await delete_list(tx, list_id)
    _record(tx, "saved_list.delete", owner, now, list_id, saved_list.name)


async def add_to_list(
    tx: Transaction, owner: Owner, view: CustomerView, list_id: int, item: CreateOrderItem, now: datetime
) -> SavedList:
    """Put a product into a list, in which it then has these units.

    Raises DomainError: not found; invalid, for a product that the customer cannot buy and for a list that is full.
    """
    saved_list = await lock_list(tx, owner, list_id)
    known = view.find(item.sku)
    if known is None:
        raise invalid("sku", unknown_products(view, [(0, item.sku, 1)])[0])
    product = view.product(known[0])
    units = {line.product_id: line.quantity for line in await lines_of_list(tx, list_id)}
    if len(units.keys() | {product.id}) > _MOST_LINES:
        raise DomainError(Kind.INVALID, f"the list is full: it has at most {_MOST_LINES} lines")
    if units.get(product.id) != item.quantity:
        await put_lines(tx, list_id, [(product.id, item.quantity)])
        _record(tx, "saved_list.change", owner, now, list_id, saved_list.name)
    return saved_list


def _lines(view: CustomerView, details: ListDetails | ListContent) -> Sequence[tuple[int, int]]:
    """Return the lines as pairs of product and units. Raises DomainError (invalid) with all that is wrong."""
    if is_blank(details.name):
        raise invalid("name", "must not be blank")
    wanted = wanted_lines(view, details.wanted(view))
    units = added_up((found.product.id, found.quantity) for found in wanted)
    if len(units) > _MOST_LINES:
        raise invalid(details.field, f"are too many: a list has at most {_MOST_LINES}")
    if too_many := next((found.product.sku for found in wanted if units[found.product.id] > MOST_UNITS), None):
        raise invalid(details.field, f"must have at most {MOST_UNITS:,} units of {too_many} together")
    return list(units.items())


def _record(tx: Transaction, action: str, owner: Owner, now: datetime, list_id: int, name: str) -> None:
    audit(tx, action, f"customer/{owner.customer_id}", now, after={"id": list_id, "name": name})
