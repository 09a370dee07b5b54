"""Import kinds of stock: levels and incoming deliveries."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct

from tradecounter.catalogue.importing import Sku
from tradecounter.db.import_values import check_date
from tradecounter.db.importing import ImportKind, Staged
from tradecounter.kit.errors import invalid
from tradecounter.kit.local_time import at_uk_time
from tradecounter.kit.text import fold

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
    expected_on: str


def _staged_stock(row: StockRow) -> Iterator[Staged]:
    yield fold(row.sku), {"sku": row.sku, "available": row.available}


def _staged_incoming(row: IncomingRow) -> Iterator[Staged]:
    expected = _moment(row.expected_on).isoformat()
    values = {"sku": row.sku, "sku_key": fold(row.sku), "incoming": row.incoming, "expected_on": expected}
    yield f"{fold(row.sku)}\x1f{expected}", values


def _moment(text: str) -> datetime:
    if _MOMENT.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            pass
        else:
            check_date("expected_on", moment.date())
            return at_uk_time(moment.date(), moment.time())
    raise invalid("expected_on", f"{text!r} is neither a date (YYYY-MM-DD) nor a time (YYYY-MM-DDTHH:MM:SS)")


STOCK = ImportKind(
    shape=StockRow,
    staged=_staged_stock,
    # Orders lock levels by product; a file that replaces them all, in two statements, cannot keep to that order.
    lock="lock table stock_level in share row exclusive mode",
    checks=(
        """
        select s.line, format('sku: there is no product %%s', to_json(s.row ->> 'sku'))
        from staged s left join product p on p.sku_key = s.key
        where p.id is null
        """,
    ),
    merge="""
        insert into stock_level (product_id, available)
        select p.id, (s.row ->> 'available')::bigint
        from staged s join product p on p.sku_key = s.key
        order by p.id
        on conflict (product_id) do update
        set available = excluded.available, changed_by = pg_current_xact_id()
        where stock_level.available <> excluded.available
        returning xmax = 0
    """,
    remove="""
        update stock_level set available = 0, changed_by = pg_current_xact_id()
        where available > 0
          and product_id not in (select p.id from staged s join product p on p.sku_key = s.key)
    """,
    topics=(),
)

INCOMING = ImportKind(
    shape=IncomingRow,
    staged=_staged_incoming,
    checks=(
        """
        select s.line, format('sku: there is no product %%s', to_json(s.row ->> 'sku'))
        from staged s left join product p on p.sku_key = s.row ->> 'sku_key'
        where p.id is null
        """,
    ),
    merge="""
        insert into incoming_stock (product_id, expected_on, incoming)
        select p.id, (s.row ->> 'expected_on')::timestamptz, (s.row ->> 'incoming')::integer
        from staged s join product p on p.sku_key = s.row ->> 'sku_key'
        on conflict (product_id, expected_on) do update set incoming = excluded.incoming
        where incoming_stock.incoming <> excluded.incoming
        returning xmax = 0
    """,
    remove="""
        delete from incoming_stock i using product p
        where p.id = i.product_id
          and not exists (
              select from staged s
              where s.row ->> 'sku_key' = p.sku_key and (s.row ->> 'expected_on')::timestamptz = i.expected_on)
    """,
    topics=("deliveries",),
)
