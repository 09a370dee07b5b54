"""Running one typed statement: the shape of a row is a class whose fields are the selected columns."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, LiteralString, TypeVar

from psycopg.rows import class_row, scalar_row
from psycopg.sql import SQL, Composed

from tradecounter.db.raw_rows import RawRows
from tradecounter.db.statement import Statement as Named
from tradecounter.db.transaction import Transaction

Row = TypeVar("Row")
Parameters = Mapping[str, Any] | Sequence[Any]
Statement = LiteralString | SQL | Composed


async def fetch_all(tx: Transaction, shape: type[Row], sql: Statement, values: Parameters = ()) -> list[Row]:
    """Run a statement and return its rows."""
    async with (await tx.connection()).cursor(row_factory=class_row(shape)) as cursor:
        await cursor.execute(sql, values)
        return await cursor.fetchall()


async def fetch_raw(tx: Transaction, shape: type[Row], sql: Statement, values: Parameters = ()) -> RawRows[Row]:
    """Run a statement and return its rows for later: they need no connection any more."""
    connection = await tx.connection()
    cursor = await connection.execute(sql, values)
    if cursor.pgresult is None:
        raise TypeError("the statement returns no rows")
    return RawRows(cursor.pgresult, connection, Named("", shape))


async def fetch_one(tx: Transaction, shape: type[Row], sql: Statement, values: Parameters = ()) -> Row | None:
    """Run a statement and return its first row, or None when it has none."""
    async with (await tx.connection()).cursor(row_factory=class_row(shape)) as cursor:
        await cursor.execute(sql, values)
        return await cursor.fetchone()


async def fetch_value(tx: Transaction, sql: Statement, values: Parameters = ()) -> Any:
    """Run a statement and return the first column of its first row, or None when it has none."""
    async with (await tx.connection()).cursor(row_factory=scalar_row) as cursor:
        await cursor.execute(sql, values)
        return await cursor.fetchone()


async def fetch_tuples(tx: Transaction, sql: Statement, values: Parameters = ()) -> list[tuple[Any, ...]]:
    """Run a statement and return its rows as plain tuples, for bulk reads."""
    async with (await tx.connection()).cursor() as cursor:
        await cursor.execute(sql, values)
        return await cursor.fetchall()


async def execute(tx: Transaction, sql: Statement, values: Parameters = ()) -> int:
    """Run a statement and return the number of rows that it touched."""
    cursor = await (await tx.connection()).execute(sql, values)
    return cursor.rowcount


async def stream_tuples(tx: Transaction, sql: Statement) -> AsyncIterator[tuple[Any, ...]]:
    """Run a statement and yield its rows as plain tuples, a few thousand of which are in memory at a time."""
    async with (await tx.connection()).cursor(name="stream") as cursor:
        cursor.itersize = 5000
        await cursor.execute(sql)
        async for row in cursor:
            yield row
