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


_MERGE_LEVELS = """
    insert into stock_level (product_id, available)
    select p.id, (s.row ->> 'available')::bigint
    from staged s join product p on p.sku_key = s.key
    order by p.id
    on conflict (product_id) do update
    set available = excluded.available, changed_by = pg_current_xact_id()
    where stock_level.available <> excluded.available
    returning xmax = 0
"""

STOCK = ImportKind(
    shape=StockRow,
    key=("sku",),
    prepare=by_row(_staged_stock),
    # Orders lock levels by product; a file that replaces them all, in two statements, cannot keep to that order.
    lock="lock table stock_level in share row exclusive mode",
    checks=(UNKNOWN_SKU,),
    merge=_MERGE_LEVELS,
    removal=Removal(
        statement="""
            update stock_level set available = 0, changed_by = pg_current_xact_id()
            where available > 0
              and product_id not in (select p.id from staged s join product p on p.sku_key = s.key)
        """,
        count="select count(*) from stock_level where available > 0",
    ),
    view="""
        select p.sku_key as key, jsonb_build_object('sku', p.sku, 'available', l.available) as row
        from stock_level l join product p on p.id = l.product_id
    """,
    topics=(),
)

# The file counts what is in the warehouse. Part of that may be allocated to orders, and is not for sale.
STOCK_ON_HAND = replace(
    STOCK,
    merge="""
        insert into stock_level (product_id, available)
        select p.id, greatest((s.row ->> 'available')::bigint - coalesce(l.allocated, 0), 0)
        from staged s join product p on p.sku_key = s.key left join stock_level l on l.product_id = p.id
        order by p.id
        on conflict (product_id) do update
        set available = excluded.available, changed_by = pg_current_xact_id()
        where stock_level.available <> excluded.available
        returning xmax = 0
    """,
    warnings=(
        """
        select s.line, format('available: %%s on hand, but %%s are allocated to orders', s.row ->> 'available',
                              l.allocated)
        from staged s join product p on p.sku_key = s.key join stock_level l on l.product_id = p.id
        where l.allocated > (s.row ->> 'available')::bigint
        """,
    ),
)

INCOMING = ImportKind(
    shape=IncomingRow,
    key=("sku", "expected_on"),
    prepare=by_row(_staged_incoming),
    checks=(UNKNOWN_SKU,),
    merge="""
        insert into incoming_stock (product_id, expected_on, incoming)
        select p.id, (s.row ->> 'expected_on')::timestamptz, (s.row ->> 'incoming')::integer
        from staged s join product p on p.sku_key = s.row ->> 'sku_key'
        on conflict (product_id, expected_on) do update set incoming = excluded.incoming
        where incoming_stock.incoming <> excluded.incoming
        returning xmax = 0
    """,
    removal=Removal(
        statement="""
            delete from incoming_stock i using product p
            where p.id = i.product_id
              and not exists (
                  select from staged s
                  where s.row ->> 'sku_key' = p.sku_key and (s.row ->> 'expected_on')::timestamptz = i.expected_on)
        """,
        count="select count(*) from incoming_stock",
    ),
    view="""
        select p.sku_key || chr(31)
                   || to_char(i.expected_on at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"') as key,
               jsonb_build_object(
                   'sku', p.sku, 'incoming', i.incoming,
                   'expected_on', to_char(i.expected_on at time zone 'Europe/London', 'YYYY-MM-DD"T"HH24:MI:SS')
               ) as row
        from incoming_stock i join product p on p.id = i.product_id
    """,
    topics=("deliveries",),
)
