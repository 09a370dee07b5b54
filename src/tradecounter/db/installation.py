"""What tells this installation from others: an id of its own, and whether it is a demo."""

from tradecounter.db.rows import execute, fetch_value
from tradecounter.db.transaction import Transaction


async def installation_id(tx: Transaction) -> str:
    """Return 12 hexadecimal digits that no other installation has; a restored backup keeps them."""
    digits: str = await fetch_value(tx, "select left(replace(id::text, '-', ''), 12) from installation")
    return digits


async def is_demo(tx: Transaction) -> bool:
    """Return whether the database was filled with demo data."""
    demo: bool = await fetch_value(tx, "select demo from installation")
    return demo


async def mark_as_demo(tx: Transaction) -> None:
    """Record that the database is filled with demo data."""
    await execute(tx, "update installation set demo = true")
