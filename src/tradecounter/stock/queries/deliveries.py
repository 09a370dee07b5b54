"""Writing deliveries one by one; files of them are imported by `importing.py`."""

from datetime import datetime

from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_ANNOUNCE_DELIVERY = Statement("""
    insert into incoming_stock (product_id, expected_on, incoming) values (:product_id, :expected_on, :units)
    on conflict (product_id, expected_on) do update set incoming = excluded.incoming
""")


async def announce_delivery(tx: Transaction, product_id: int, units: int, expected_on: datetime) -> None:
    """Store an expected delivery of a product; it replaces one that is expected at the same moment."""
    await tx.execute(_ANNOUNCE_DELIVERY, product_id=product_id, expected_on=expected_on, units=units)
    await bump(tx, "deliveries")
