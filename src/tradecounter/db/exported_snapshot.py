"""Lets several connections to one server read exactly the same data."""

from psycopg.sql import SQL, Literal

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_EXPORT = Statement("select pg_export_snapshot()", prepared=False)


async def export_snapshot(tx: Transaction) -> str:
    """Return a name for what the transaction sees, which is valid until it ends."""
    return str(await tx.fetch_value(_EXPORT))


async def import_snapshot(tx: Transaction, name: str) -> None:
    """See what the exporting transaction sees. Must be the transaction's first call."""
    await tx.execute(Statement(SQL("set transaction snapshot {}").format(Literal(name)), prepared=False))
