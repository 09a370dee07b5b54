"""The clock of the database's machine."""

from datetime import datetime

from tradecounter.db.rows import fetch_value
from tradecounter.db.transaction import Transaction


async def server_time(tx: Transaction) -> datetime:
    """Return the moment that the database's clock shows, which goes on during a transaction."""
    moment: datetime = await fetch_value(tx, "select clock_timestamp()")
    return moment
