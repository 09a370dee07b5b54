"""The SQL of a sandbox: which tables and columns it copies from the live database, how, and the orders that live on."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta
from typing import Any, LiteralString

import psycopg
from msgspec import Struct, field
from psycopg.sql import SQL, Composable, Composed, Identifier
from psycopg.sql import Literal as Quoted

from tradecounter.db.changes import Topic
from tradecounter.db.pool import NOTICE_A_DEAD_PEER
from tradecounter.db.statement import FORGET_PLANS, Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import OperatorError
from tradecounter.sandbox.rules import SLOWER, Wish

_DEACTIVATED: LiteralString = "update {table} t set active = false where active and {missing}"
_DELETED: LiteralString = "delete from {table} t where {missing}"


class CopiedTable(Struct, frozen=True, kw_only=True):
    """A table of which some columns are copied.

    Attributes:
        made_up: SQL expressions for columns whose values are not copied, but must be there.
        gone: what happens to rows that the live database does not have; empty: they stay.
        stamped: whether rows have the transaction that wrote them.
    """

    table: str
    key: Sequence[str]
    copied: Sequence[str]
    made_up: Mapping[str, LiteralString] = field(default_factory=dict)
    gone: LiteralString = ""
    stamped: bool = False

    @property
    def columns(self) -> list[str]:
        """All columns that are written."""
        return [*self.copied, *self.made_up]

    def selected(self) -> Composed:
        """Return what is read from the live table, in the order of `columns`."""
        made_up: list[Composable] = [SQL(expression) for expression in self.made_up.values()]
        return SQL(", ").join([*map(Identifier, self.copied), *made_up])


_COSTS = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
# Each table refers only to earlier ones. Stock comes last, as orders lock it after their customers.
COPIED: Sequence[CopiedTable] = (
    CopiedTable(table="manufacturer", key=("key",), copied=("key", "name", "active"), gone=_DEACTIVATED),
    CopiedTable(
        table="category", key=("key",), copied=("key", "name", "parent_key", "position", "active"), gone=_DEACTIVATED
    ),
    CopiedTable(
        table="attribute", key=("key",), copied=("key", "name", "type", "possible_values", "active"), gone=_DEACTIVATED
    ),
    CopiedTable(table="synonym_group", key=("key",), copied=("key", "words", "active"), gone=_DEACTIVATED),
    CopiedTable(
        table="product",
        key=("id",),
        copied=(
            "id", "sku", "sku_key", "ean", "name", "manufacturer", "weight_kg", "box_width_mm", "box_height_mm",
            "box_length_mm", "clearance_product", "configurable", "consumer_unit_cost", "description",
            "description_html", "short_description", "store_url", "images", "categories", "attributes",
            "related_products", "similar_products", "active", "components", "documents",
        ),
        gone=_DEACTIVATED,
    ),
    CopiedTable(table="price_list", key=("key",), copied=("key",)),
    CopiedTable(
        table="price",
        key=("price_list", "product_id"),
        copied=("price_list", "product_id", *_COSTS),
        gone=_DELETED,
        stamped=True,
    ),
    CopiedTable(
        table="shipping_region", key=("id",), copied=("id", "name", "countries", "postcodes", "active"),
        gone=_DEACTIVATED,
    ),
    CopiedTable(
        table="shipping_method",
        key=("id",),
        copied=(
            "id", "provider", "description", "region", "countries", "max_weight_kg", "base_cost_net",
            "cost_per_kg_net", "transit_days", "cut_off", "active", "tracking_url",
        ),
        gone=_DEACTIVATED,
    ),
    CopiedTable(
        table="customer",
        key=("id",),
        copied=(
            "id", "trade_account", "price_list", "discount", "credit_limit", "term_days", "packing",
            "shipping_method", "unique_references", "created_at", "blocked_at",
        ),
        made_up={
            "email_address": "'customer-' || id || '@sandbox.invalid'",
            "email_key": "'customer-' || id || '@sandbox.invalid'",
            "first_name": "'Customer'",
            "last_name": "id::text",
            "blocked_reason": "case when blocked_at is not null then 'blocked on the live site' end",
        },
    ),
    CopiedTable(
        table="contract_price",
        key=("id",),
        copied=("id", "customer_id", "product_id", *_COSTS, "valid_from", "valid_until"),
        gone=_DELETED,
        stamped=True,
    ),
    CopiedTable(
        table="stock_level",
        key=("product_id",),
        copied=("product_id", "available", "location"),
        gone="update {table} t set available = 0, changed_by = pg_current_xact_id() where available > 0 and {missing}",
        stamped=True,
    ),
    CopiedTable(
        table="incoming_stock",
        key=("product_id", "expected_on"),
        copied=("product_id", "expected_on", "incoming"),
        gone=_DELETED,
    ),
)  # fmt: skip
TOPICS: Sequence[Topic] = ("catalogue", "prices", "contracts", "customers", "deliveries", "shipping", "keys")


_IS_IN_USE = Statement("select exists (select from customer) or exists (select from orders)")
_REVISION = "select version_num from alembic_version"
# Of a table whose ids are counted: ids that are made here follow those that were copied.
_NEXT_ID = SQL(
    "select setval(seq, greatest((select max(id) from {table}), 1)) from pg_get_serial_sequence({name}, 'id') as seq"
    " where seq is not null"
)
_OWN_REVISION = Statement(_REVISION)
_READ_ONLY = "set transaction isolation level repeatable read, read only"


async def is_in_use(tx: Transaction) -> bool:
    """Return whether the database has customers or orders."""
    in_use: bool = await tx.fetch_value(_IS_IN_USE)
    return in_use


async def revision_of(tx: Transaction) -> str:
    """Return the revision of the sandbox's schema."""
    revision: str = await tx.fetch_value(_OWN_REVISION)
    return revision


class SourceError(OperatorError):
    """The live database cannot be read, or has another schema."""


class Source(Struct, frozen=True):
    """The live database; all reads see one snapshot of it, and none write. They raise SourceError."""

    connection: psycopg.AsyncConnection[tuple[Any, ...]]

    async def revision(self) -> str | None:
        """Return the revision of the schema."""
        text: str | None = await self._value(_REVISION)
        return text

    async def is_sandbox(self) -> bool:
        """Return whether it is a sandbox itself."""
        return await self._value("select sandbox from installation") is True

    async def _value(self, query: LiteralString) -> Any:
        with _said_of_the_source():
            row = await (await self.connection.execute(query)).fetchone()
        return None if row is None else row[0]

    async def rows(self, wanted: CopiedTable) -> AsyncIterator[Any]:
        """Yield a table's rows as `copy` writes them."""
        read = SQL("copy (select {} from {}) to stdout").format(wanted.selected(), Identifier(wanted.table))
        with _said_of_the_source():
            async with self.connection.cursor().copy(read) as theirs:
                async for data in theirs:
                    yield data


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Source]:
    """Connect to the live database for the block. Raises SourceError."""
    with _said_of_the_source():
        connection = await psycopg.AsyncConnection.connect(url, connect_timeout=10, **NOTICE_A_DEAD_PEER)
        await connection.execute(_READ_ONLY)
    try:
        yield Source(connection)
    finally:
        await connection.close()


@contextmanager
def _said_of_the_source() -> Iterator[None]:
    try:
        yield
    except psycopg.Error as error:
        raise SourceError(f"the live database cannot be read: {str(error).strip()}") from error


async def copy_rows(tx: Transaction, source: Source, wanted: CopiedTable) -> None:
    """Copy a table's rows into a temporary one."""
    connection = await tx.connection()
    columns = SQL(", ").join(map(Identifier, wanted.columns))
    copied = Identifier(f"copied_{wanted.table}")
    await tx.execute(
        Statement(
            SQL("create temporary table {} on commit drop as select {} from {} with no data").format(
                copied, columns, Identifier(wanted.table)
            ),
        )
    )
    write = SQL("copy {} ({}) from stdin").format(copied, columns)
    async with connection.cursor() as cursor, cursor.copy(write) as own:
        async for data in source.rows(wanted):
            await own.write(data)


async def merge_rows(tx: Transaction, wanted: CopiedTable) -> int:
    """Make a table's rows those that were copied; return how many changed."""
    count = 0
    for sql in _merging(wanted):
        await tx.execute(FORGET_PLANS)
        count += await tx.execute(Statement(sql))
    if wanted.key == ("id",):
        table = Quoted(wanted.table)
        await tx.execute(Statement(_NEXT_ID.format(name=table, table=Identifier(wanted.table))))
    return count


def _merging(wanted: CopiedTable) -> list[Composed]:
    """Return the statements that write the copied rows, and take away those that are not among them."""
    table = Identifier(wanted.table)
    key = SQL(", ").join(map(Identifier, wanted.key))
    others = [column for column in wanted.columns if column not in wanted.key]
    names = SQL(", ").join(map(Identifier, wanted.columns))
    stamp = SQL(", changed_by = pg_current_xact_id()" if wanted.stamped else "")
    copied = Identifier(f"copied_{wanted.table}")
    missing = SQL("not exists (select from {copied} c where ({}) = ({}))").format(
        SQL(", ").join(Identifier("c", column) for column in wanted.key),
        SQL(", ").join(Identifier("t", column) for column in wanted.key),
        copied=copied,
    )
    statements = [SQL(wanted.gone).format(table=table, missing=missing)] if wanted.gone else []
    if others:
        write = SQL("update set {sets}{stamp} where ({old}) is distinct from ({new})").format(
            sets=SQL(", ").join(SQL("{0} = excluded.{0}").format(Identifier(column)) for column in others),
            stamp=stamp,
            old=SQL(", ").join(Identifier(wanted.table, column) for column in others),
            new=SQL(", ").join(Identifier("excluded", column) for column in others),
        )
    else:
        write = SQL("nothing").format()
    merge = SQL(
        "insert into {table} ({names}) overriding system value select {names} from {copied} on conflict ({key})"
    )
    return [*statements, SQL("{} do {}").format(merge.format(table=table, names=names, key=key, copied=copied), write)]


class LivingOrder(Struct, frozen=True):
    """An order that is not at its end, or a quote that waits for a price, whose last step is over."""

    id: int
    kind: str
    confirmation_code: str
    customer_reference: str
    confirmed_at: datetime | None


def _asks_for(wish: Wish) -> str:
    """Return the regular expression of a wish, as `wishes_of` reads it."""
    return rf"\ysandbox-{wish}\y"


_LIVING = Statement(
    SQL("""
    select o.id, o.kind, o.confirmation_code, o.customer_reference, o.confirmed_at
    from orders o, lateral (
        select greatest(
            coalesce(o.confirmed_at, o.created_at),
            (select max(dispatched_at) from shipment where order_id = o.id),
            (select max(t.date)::timestamp at time zone 'Europe/London'
             from tracking_event t join shipment s on s.id = t.shipment_id where s.order_id = o.id),
            (select max(issued_at) from invoice where order_id = o.id)
        ) as at
    ) as last
    where o.id > :after
      and ((o.state = 'confirmed' and o.status <> 'Completed'
            and not (o.status = 'Invoiced' and o.customer_reference ~* {unpaid}))
           or (o.state = 'pending' and o.kind = 'quote' and o.priced_at is null))
      and last.at <= :now - :pace * case when o.customer_reference ~* {slow} then {slower} else 1 end
    order by o.id limit :most
    """).format(unpaid=_asks_for("unpaid"), slow=_asks_for("slow"), slower=SLOWER),
    LivingOrder,
)


async def living_orders(tx: Transaction, now: datetime, pace: timedelta, after: int, most: int) -> list[LivingOrder]:
    """Return orders with a next step, by id from the one after `after` on, at most `most`."""
    return await tx.fetch_all(_LIVING, now=now, pace=pace, after=after, most=most)


class Sighted(Struct, frozen=True):
    """A shipment and the type of the courier's last report, if there is one."""

    tracking_number: str | None
    latest: str | None


_SHIPMENTS = Statement(
    """
    select s.tracking_number,
           (select e.type from tracking_event e where e.shipment_id = s.id order by e.id desc limit 1) as latest
    from shipment s where s.order_id = :order_id order by s.id
    """,
    Sighted,
)


async def shipments_of(tx: Transaction, order_id: int) -> list[Sighted]:
    """Return an order's shipments."""
    return await tx.fetch_all(_SHIPMENTS, order_id=order_id)
