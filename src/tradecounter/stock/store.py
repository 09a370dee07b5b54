"""Writing deliveries one by one; files of them are imported by `importing.py`."""

from datetime import datetime

from tradecounter.db.changes import bump
from tradecounter.db.rows import execute
from tradecounter.db.transaction import Transaction


async def announce_delivery(tx: Transaction, product_id: int, units: int, expected_on: datetime) -> None:
    """Store an expected delivery of a product; it replaces one that is expected at the same moment."""
    await execute(
        tx,
        """
        insert into incoming_stock (product_id, expected_on, incoming) values (%s, %s, %s)
        on conflict (product_id, expected_on) do update set incoming = excluded.incoming
        """,
        [product_id, expected_on, units],
    )
    await bump(tx, "deliveries")
