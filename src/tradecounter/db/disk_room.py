"""Looks whether the disk of the database has room."""

from psycopg.errors import DiskFull

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

# Fills a temporary file, which needs space on the disk but changes nothing.
_LESS_MEMORY = Statement("set local work_mem = '64kB'")
_SPILL = Statement("select count(*) from (select n from generate_series(1, 10000) n order by n desc offset 0) spilt")


async def has_room(tx: Transaction) -> bool:
    """Return whether the disk has room for a small temporary file; the transaction has little memory afterwards."""
    try:
        async with tx.savepoint():
            await tx.execute(_LESS_MEMORY)
            await tx.fetch_value(_SPILL)
    except DiskFull:
        return False
    return True
