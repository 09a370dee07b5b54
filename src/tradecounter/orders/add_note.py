"""Notes about orders and quotes, for the reseller only."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import require_text
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order
from tradecounter.orders.queries.orders import insert_note

LONGEST_NOTE = 2000


async def add_note(tx: Transaction, reference: str, text: str, now: datetime) -> None:
    """Add a note about an order or a quote in any state. Raises DomainError: not found, invalid."""
    text = text.strip()
    require_text("text", text, LONGEST_NOTE)
    order = await fetch_order(tx, reference)
    await insert_note(tx, order.id, tx.actor.acting_user or tx.actor.name, text, now)
    audit_order(tx, "order.note", order, now, after={"text": text})
