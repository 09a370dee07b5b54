"""Rows in which people type a SKU or words, with the products that these name, for new and for amended orders."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import row_numbers
from tradecounter.edge.page_kit.submitted_forms import Submitted
from tradecounter.kit.clock import uk_date
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.orders.offers import OfferedLine, offered_lines, search_lines, unknown_products
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.storefront.view import CustomerView, current_view

_PICK = re.compile(r"pick-(\d{1,4})")  # the button of a product that the words of a row have found
_MOST_FOUND = 5
_MOST_SEARCHED = 50  # rows whose words are searched for: people type one at a time


class Row(Struct, frozen=True):
    """A row of the form: the typed text, and its product, the products that its words match, or its error."""

    number: int
    sku: str = ""
    quantity: str = ""
    offered: OfferedLine | None = None
    found: Sequence[OfferedLine] = ()
    problem: str = ""


async def product_rows(
    tx: Transaction,
    values: Mapping[str, Sequence[str]],
    group: str,
    whole: CustomerView,
    customer_id: int,
    *,
    blank: int,
    now: datetime,
) -> list[Row]:
    """Return the rows of a group with the prices of an order, followed by `blank` empty rows."""
    typed = _typed(values, group)
    view = await current_view(tx, whole, customer_id, [row.sku for row in typed if row.sku], uk_date(now))
    rows = _with_products(typed, view, whole, now)
    following = rows[-1].number + 1 if rows else 0
    unused = sum(1 for row in rows if not row.sku)
    return [*rows, *(Row(number) for number in range(following, following + max(blank - unused, 0)))]


def _typed(values: Mapping[str, Sequence[str]], group: str) -> list[Row]:
    submitted = Submitted(values)
    return [
        Row(number, submitted.one(f"{group}-{number}-sku"), submitted.one(f"{group}-{number}-quantity"))
        for number in row_numbers(values, group)
    ]


def _with_products(typed: Sequence[Row], view: CustomerView, whole: CustomerView, now: datetime) -> list[Row]:
    """Return rows with their products. `view` has the prices of an order; words search in `whole`."""
    wanted, problems = [], {}
    for row in typed:
        try:
            wanted += [(row.number, row.sku, min(read_count(row.quantity or "1"), MOST_UNITS) or 1)] if row.sku else []
        except UnreadableNumberError as error:
            problems[row.number] = str(error)
    offered = offered_lines(view, wanted, now)
    unknown = [each for each in wanted if each[0] not in offered][:_MOST_SEARCHED]
    found = {number: search_lines(whole, sku, quantity, _MOST_FOUND, now).lines for number, sku, quantity in unknown}
    problems |= unknown_products(view, wanted)
    return [
        replace(
            row,
            offered=offered.get(row.number),
            found=found.get(row.number, ()),
            problem=problems.get(row.number, ""),
        )
        for row in typed
    ]


def picked(submitted: Submitted) -> str:
    """Return the SKU of the product whose button was pressed; empty without such a button."""
    return submitted.one(_pressed(submitted))


def with_picked(submitted: Submitted, group: str) -> tuple[int, Filled] | None:
    """Return the row whose product's button was pressed, and the form with its SKU; None without such a button."""
    name = _pressed(submitted)
    if not name:
        return None
    number = int(name.partition("-")[2])
    return number, Filled({**submitted.values, f"{group}-{number}-sku": [submitted.one(name)]})


def _pressed(submitted: Submitted) -> str:
    return next((name for name in submitted.values if _PICK.fullmatch(name)), "")
