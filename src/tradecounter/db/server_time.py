"""The clock of the database's machine."""

from datetime import datetime

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_SERVER_TIME = Statement("select clock_timestamp()")


async def server_time(tx: Transaction) -> datetime:
    """Return the moment that the database's clock shows, which goes on during a transaction."""
    moment: datetime = await tx.fetch_value(_SERVER_TIME)
    return moment
