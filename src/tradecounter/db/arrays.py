"""Reading many numbers at once: the database packs them into one binary value, so that no row becomes an object."""

from typing import Any, LiteralString

import numpy as np
from numpy.typing import NDArray

from tradecounter.db.rows import Parameters
from tradecounter.db.transaction import Transaction

_TYPES = {"int4": (">i4", "int4send"), "int8": (">i8", "int8send")}


async def fetch_array(
    tx: Transaction, columns: dict[LiteralString, LiteralString], sql: LiteralString, values: Parameters = ()
) -> NDArray[Any]:
    """Run a statement and return its rows as an array with a field for each column.

    `columns` are names with `int4` or `int8`; none may be null.
    """
    packed = " || ".join(f"{_TYPES[kind][1]}({name})" for name, kind in columns.items())
    async with (await tx.connection()).cursor(binary=True) as cursor:
        await cursor.execute(f"select string_agg({packed}, '') from ({sql}) as packed", values)  # noqa: S608 the caller's literals
        found = await cursor.fetchone()
    data = found[0] if found and found[0] else b""
    return np.frombuffer(data, dtype=[(name, _TYPES[kind][0]) for name, kind in columns.items()])
