"""What tells this installation from others: an id of its own, and whether it is a demo."""

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_INSTALLATION_ID = Statement("select left(replace(id::text, '-', ''), 12) from installation")


async def installation_id(tx: Transaction) -> str:
    """Return 12 hexadecimal digits that no other installation has; a restored backup keeps them."""
    digits: str = await tx.fetch_value(_INSTALLATION_ID)
    return digits


_IS_DEMO = Statement("select demo from installation")


async def is_demo(tx: Transaction) -> bool:
    """Return whether the database was filled with demo data."""
    demo: bool = await tx.fetch_value(_IS_DEMO)
    return demo


_MARK_AS_DEMO = Statement("update installation set demo = true")


async def mark_as_demo(tx: Transaction) -> None:
    """Record that the database is filled with demo data."""
    await tx.execute(_MARK_AS_DEMO)
