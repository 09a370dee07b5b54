"""Reads many rows of numbers as one array, which the database packs into one binary value."""

from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray
from psycopg import AsyncRawCursor

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_TYPES = {"int4": (">i4", "int4send"), "int8": (">i8", "int8send")}


class ArrayStatement:
    """A statement whose result is one array with a field per column.

    `columns` maps column names to `int4` or `int8`; null is not allowed. `order_by` may name any columns of the
    statement, whose own `order by` has no effect.
    """

    def __init__(
        self, sql: LiteralString, columns: dict[LiteralString, LiteralString], *, order_by: LiteralString | None = None
    ) -> None:
        packed = " || ".join(f"{_TYPES[kind][1]}({name})" for name, kind in columns.items())
        order = f" order by {order_by}" if order_by else ""
        self.packed = Statement(f"select string_agg({packed}, ''{order}) from ({sql}) as packed")  # noqa: S608 literals
        self.fields = [(name, _TYPES[kind][0]) for name, kind in columns.items()]


async def fetch_array(tx: Transaction, statement: ArrayStatement, /, **values: Any) -> NDArray[Any]:
    """Execute a statement and return its rows as an array."""
    return np.frombuffer(await find_binary(tx, statement.packed, **values) or b"", dtype=statement.fields)


async def find_binary(tx: Transaction, statement: Statement[Any], /, **values: Any) -> bytes | None:
    """Return the `bytea` that a statement selects, or None; as text, the database would send twice as much."""
    cursor = AsyncRawCursor(await tx.connection())
    await cursor.execute(statement.sql, statement.bind(values), binary=True)
    row = await cursor.fetchone()
    return row[0] if row else None
