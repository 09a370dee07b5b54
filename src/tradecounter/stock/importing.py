"""Import kinds of stock: levels and deliveries."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from tradecounter.bulk.cells import MOMENT
from tradecounter.bulk.kinds import ImportKind, Removal, Staged, by_row
from tradecounter.bulk.rows import RowNotes, check_date, checked_key, folded, joined_key
from tradecounter.bulk.statements import UNKNOWN_SKU
from tradecounter.kit.clock import at_uk_time, no_such_day
from tradecounter.kit.keys import Key
from tradecounter.stock.queries import importing as sql

Units = Annotated[int, Meta(ge=0, le=1_000_000_000)]

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2})?")


class StockRow(Struct, forbid_unknown_fields=True):
    """A product's units for sale, and its place in the warehouse; a file without places leaves them as they are."""

    sku: Key
    available: Units
    location: Annotated[str, Meta(max_length=50, examples=["A-03-2"])] | UnsetType = UNSET


class IncomingRow(Struct, forbid_unknown_fields=True):
    """Units on an expected delivery; the date may have a UK time: `YYYY-MM-DDTHH:MM:SS`."""

    sku: Key
    incoming: Annotated[int, Meta(ge=1, le=1_000_000_000)]
    expected_on: Annotated[str, MOMENT]


def _staged_stock(row: StockRow, notes: RowNotes) -> Iterator[Staged]:
    sku = checked_key(notes, "sku", row.sku)
    sku_key = folded(sku)
    values: dict[str, str | int | None] = {"sku": sku, "sku_key": sku_key, "available": row.available}
    if row.location is not UNSET:
        values["location"] = row.location
    yield sku_key, values


def _staged_incoming(row: IncomingRow, notes: RowNotes) -> Iterator[Staged]:
    moment = _moment(row.expected_on, notes)
    expected = None if moment is None else moment.isoformat()
    sku = checked_key(notes, "sku", row.sku)
    sku_key = folded(sku)
    values = {"sku": sku, "sku_key": sku_key, "incoming": row.incoming, "expected_on": expected}
    yield joined_key(sku_key, expected), values


def _moment(text: object, notes: RowNotes) -> datetime | None:
    if not isinstance(text, str):
        return None
    if _MOMENT.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            check_date(notes, "expected_on", moment.date())
            return at_uk_time(moment.date(), moment.time())
    why = no_such_day(text) or f"{text!r} is neither a date (YYYY-MM-DD) nor a time (YYYY-MM-DDTHH:MM:SS)"
    notes.error("expected_on", why)
    return None


STOCK = ImportKind(
    shape=StockRow,
    area="stock",
    hint="Each row has the units of a product: those that can be sold, unless you say that allocated ones are "
    "included.",
    table="stock_level",
    key=("sku",),
    prepare=by_row(_staged_stock),
    checks=(UNKNOWN_SKU,),
    merge=sql.MERGE_LEVELS,
    removal=Removal(statement=sql.CLEAR_LEVELS, count=sql.COUNT_LEVELS),
    view=sql.LEVEL_VIEW,
    moves=True,
    undo=sql.CLEAR_ADDED_LEVELS,
    topics=(),
)

# The file counts all units in the warehouse, including units that are allocated to orders and not for sale.
STOCK_ON_HAND = replace(STOCK, merge=sql.MERGE_ON_HAND, warnings=(sql.WARN_OF_ALLOCATED,))

INCOMING = ImportKind(
    shape=IncomingRow,
    area="stock",
    hint="Each row is a delivery that a supplier has announced: product, day and units.",
    table="incoming_stock",
    key=("sku", "expected_on"),
    prepare=by_row(_staged_incoming),
    checks=(UNKNOWN_SKU,),
    merge=sql.MERGE_DELIVERIES,
    removal=Removal(statement=sql.DELETE_DELIVERIES, count=sql.COUNT_DELIVERIES),
    view=sql.DELIVERY_VIEW,
    restored=sql.RESTORED_DELIVERY,
    undo=sql.DELETE_ADDED_DELIVERIES,
    topics=("deliveries",),
)
