"""The installation's id, demo and sandbox flags and database clock."""

from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_INSTALLATION_ID = Statement("select left(replace(id::text, '-', ''), 12) from installation")


async def installation_id(tx: Transaction) -> str:
    """Return the installation's unique id, 12 hexadecimal digits; a restored backup has the same id."""
    digits: str = await tx.fetch_value(_INSTALLATION_ID)
    return digits


_IS_DEMO = Statement("select demo from installation")


async def is_demo(tx: Transaction) -> bool:
    """Return whether the database contains demo data."""
    demo: bool = await tx.fetch_value(_IS_DEMO)
    return demo


_MARK_AS_DEMO = Statement("update installation set demo = true")


async def mark_as_demo(tx: Transaction) -> None:
    """Record that the database contains demo data."""
    await tx.execute(_MARK_AS_DEMO)


_IS_SANDBOX = Statement("select sandbox from installation")


async def is_sandbox(tx: Transaction) -> bool:
    """Return whether the database is that of a sandbox."""
    sandbox: bool = await tx.fetch_value(_IS_SANDBOX)
    return sandbox


_MARK_AS_SANDBOX = Statement("update installation set sandbox = true")


async def mark_as_sandbox(tx: Transaction) -> None:
    """Record that the database is that of a sandbox, for ever."""
    await tx.execute(_MARK_AS_SANDBOX)


_SERVER_TIME = Statement("select clock_timestamp()")


async def server_time(tx: Transaction) -> datetime:
    """Return the time of the database's clock; unlike `now()`, it advances during a transaction."""
    moment: datetime = await tx.fetch_value(_SERVER_TIME)
    return moment
