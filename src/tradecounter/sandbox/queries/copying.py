"""Reads a sandbox's data from the live database, and writes them into its own."""

from typing import Any

import psycopg
from psycopg.sql import SQL, Composed, Identifier
from psycopg.sql import Literal as Quoted

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.sandbox.queries.copied import Copied

Source = psycopg.AsyncConnection[tuple[Any, ...]]

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
    found: bool = await tx.fetch_value(_IS_IN_USE)
    return found


async def begin_reading(source: Source) -> None:
    """Let all reads of the live database see one snapshot of it, and none write."""
    await source.execute(_READ_ONLY)


async def revision_of(tx: Transaction) -> str:
    """Return the revision of the sandbox's schema."""
    revision: str = await tx.fetch_value(_OWN_REVISION)
    return revision


async def source_revision(source: Source) -> str | None:
    """Return the revision of the live database's schema."""
    row = await (await source.execute(_REVISION)).fetchone()
    return None if row is None else row[0]


async def source_is_sandbox(source: Source) -> bool:
    """Return whether the source is a sandbox itself."""
    row = await (await source.execute("select sandbox from installation")).fetchone()
    return row is not None and row[0] is True


async def copy_rows(tx: Transaction, source: Source, wanted: Copied) -> None:
    """Copy a table's rows into a temporary one."""
    connection = await tx.connection()
    columns = SQL(", ").join(map(Identifier, wanted.columns))
    copied = Identifier(f"copied_{wanted.table}")
    await tx.execute(
        Statement(
            SQL("create temporary table {} on commit drop as select {} from {} with no data").format(
                copied, columns, Identifier(wanted.table)
            ),
            prepared=False,
        )
    )
    read = SQL("copy (select {} from {}) to stdout").format(wanted.selected(), Identifier(wanted.table))
    write = SQL("copy {} ({}) from stdin").format(copied, columns)
    async with (
        source.cursor().copy(read) as theirs,
        connection.cursor() as cursor,
        cursor.copy(write) as own,
    ):
        async for data in theirs:
            await own.write(data)


async def merge_rows(tx: Transaction, wanted: Copied) -> int:
    """Make a table's rows those that were copied; return how many changed."""
    count = sum([await tx.execute(Statement(sql, prepared=False)) for sql in _merging(wanted)])
    if wanted.key == ("id",):
        table = Quoted(wanted.table)
        await tx.execute(Statement(_NEXT_ID.format(name=table, table=Identifier(wanted.table)), prepared=False))
    return count


def _merging(wanted: Copied) -> list[Composed]:
    """Return the statements that write the copied rows, and take away those that are not among them."""
    table, key = Identifier(wanted.table), SQL(", ").join(map(Identifier, wanted.key))
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
