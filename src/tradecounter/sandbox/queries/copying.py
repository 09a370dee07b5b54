"""Reads a sandbox's data from the live database, and writes them into its own."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, LiteralString

import psycopg
from msgspec import Struct
from psycopg.sql import SQL, Composed, Identifier
from psycopg.sql import Literal as Quoted

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import OperatorError
from tradecounter.sandbox.queries.copied import Copied

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
        found: str | None = await self._value(_REVISION)
        return found

    async def is_sandbox(self) -> bool:
        """Return whether it is a sandbox itself."""
        return await self._value("select sandbox from installation") is True

    async def _value(self, query: LiteralString) -> Any:
        with _said_of_the_source():
            row = await (await self.connection.execute(query)).fetchone()
        return None if row is None else row[0]

    async def rows(self, wanted: Copied) -> AsyncIterator[Any]:
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
        connection = await psycopg.AsyncConnection.connect(url, connect_timeout=10)
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
    write = SQL("copy {} ({}) from stdin").format(copied, columns)
    async with connection.cursor() as cursor, cursor.copy(write) as own:
        async for data in source.rows(wanted):
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
