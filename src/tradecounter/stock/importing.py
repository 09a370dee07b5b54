"""Import kinds of stock: levels and incoming deliveries."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.bulk.cells import MOMENT
from tradecounter.bulk.kinds import ImportKind, Removal, Staged, by_row
from tradecounter.bulk.statements import UNKNOWN_SKU
from tradecounter.bulk.values import RowNotes, check_date, folded, joined_key
from tradecounter.catalogue.import_rows import Sku
from tradecounter.kit.local_time import at_uk_time
from tradecounter.stock.queries.importing import (
    CLEAR_LEVELS,
    COUNT_DELIVERIES,
    COUNT_LEVELS,
    DELETE_DELIVERIES,
    DELIVERY_VIEW,
    LEVEL_VIEW,
    LOCK_LEVELS,
    MERGE_DELIVERIES,
    MERGE_LEVELS,
    MERGE_ON_HAND,
    WARN_OF_ALLOCATED,
)

Units = Annotated[int, Meta(ge=0, le=1_000_000_000)]

_MOMENT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}:[0-9]{2})?")


class StockRow(Struct, forbid_unknown_fields=True):
    """How many units of a product can be sold."""

    sku: Sku
    available: Units


class IncomingRow(Struct, forbid_unknown_fields=True):
    """Units on an expected delivery; the date is `YYYY-MM-DD`, or with a UK time `YYYY-MM-DDTHH:MM:SS`."""

    sku: Sku
    incoming: Annotated[int, Meta(ge=1, le=1_000_000_000)]
    expected_on: Annotated[str, MOMENT]


def _staged_stock(row: StockRow, _notes: RowNotes) -> Iterator[Staged]:
    sku_key = folded(row.sku)
    yield sku_key, {"sku": row.sku, "sku_key": sku_key, "available": row.available}


def _staged_incoming(row: IncomingRow, notes: RowNotes) -> Iterator[Staged]:
    moment = _moment(row.expected_on, notes)
    expected = None if moment is None else moment.isoformat()
    sku_key = folded(row.sku)
    values = {"sku": row.sku, "sku_key": sku_key, "incoming": row.incoming, "expected_on": expected}
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
    notes.fault("expected_on", f"{text!r} is neither a date (YYYY-MM-DD) nor a time (YYYY-MM-DDTHH:MM:SS)")
    return None


_MERGE_LEVELS = MERGE_LEVELS

STOCK = ImportKind(
    shape=StockRow,
    key=("sku",),
    prepare=by_row(_staged_stock),
    # Orders lock levels by product; a file that replaces them all, in two statements, cannot keep to that order.
    lock=LOCK_LEVELS,
    checks=(UNKNOWN_SKU,),
    merge=_MERGE_LEVELS,
    removal=Removal(
        statement=CLEAR_LEVELS,
        count=COUNT_LEVELS,
    ),
    view=LEVEL_VIEW,
    topics=(),
)

# The file counts what is in the warehouse. Part of that may be allocated to orders, and is not for sale.
STOCK_ON_HAND = replace(
    STOCK,
    merge=MERGE_ON_HAND,
    warnings=(WARN_OF_ALLOCATED,),
)

INCOMING = ImportKind(
    shape=IncomingRow,
    key=("sku", "expected_on"),
    prepare=by_row(_staged_incoming),
    checks=(UNKNOWN_SKU,),
    merge=MERGE_DELIVERIES,
    removal=Removal(
        statement=DELETE_DELIVERIES,
        count=COUNT_DELIVERIES,
    ),
    view=DELIVERY_VIEW,
    topics=("deliveries",),
)
