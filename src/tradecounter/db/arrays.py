"""Reading many numbers at once: the database packs them into one binary value, so that no row becomes an object."""

from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray

from tradecounter.db.rows import Parameters
from tradecounter.db.transaction import Transaction

_TYPES = {"int4": (">i4", "int4send"), "int8": (">i8", "int8send")}


async def fetch_array(
    tx: Transaction,
    columns: dict[LiteralString, LiteralString],
    sql: LiteralString,
    values: Parameters = (),
    *,
    order_by: LiteralString | None = None,
) -> NDArray[Any]:
    """Run a statement and return its rows as an array with a field for each column.

    `columns` are names with `int4` or `int8`; none may be null. `order_by` names columns of the statement, also such as
    are not returned; what order it has itself does not count.
    """
    packed = " || ".join(f"{_TYPES[kind][1]}({name})" for name, kind in columns.items())
    order = f" order by {order_by}" if order_by else ""
    statement = f"select string_agg({packed}, ''{order}) from ({sql}) as packed"  # noqa: S608 the caller's literals
    async with (await tx.connection()).cursor(binary=True) as cursor:
        await cursor.execute(statement, values)
        found = await cursor.fetchone()
    data = found[0] if found and found[0] else b""
    return np.frombuffer(data, dtype=[(name, _TYPES[kind][0]) for name, kind in columns.items()])
