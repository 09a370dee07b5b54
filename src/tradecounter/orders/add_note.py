"""Notes about orders and quotes: those of the reseller, which customers do not see, and those of the customer."""

from collections.abc import Iterable
from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import require_text
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order
from tradecounter.orders.queries.orders import insert_note
from tradecounter.orders.states import AnyOrder

LONGEST_NOTE = 2000


async def add_note(tx: Transaction, reference: str, text: str, now: datetime) -> None:
    """Add a note of the reseller about an order or a quote in any state. Raises DomainError: not found, invalid."""
    text = text.strip()
    require_text("text", text, LONGEST_NOTE)
    order = await fetch_order(tx, reference)
    await insert_note(tx, order.id, tx.actor.acting_user or tx.actor.name, text, now)
    audit_order(tx, "order.note", order, now, after={"text": text})


async def add_own_note(tx: Transaction, order: AnyOrder, lines: Iterable[str], now: datetime) -> None:
    """Add what a user of the customer notes about an order, which the customer sees too.

    Lines that are too long for one note become several. A line has at most `LONGEST_NOTE` characters.
    """
    notes: list[str] = []
    for line in lines:
        if notes and len(notes[-1]) + len(line) < LONGEST_NOTE:
            notes[-1] += f"\n{line}"
        else:
            notes.append(line)
    for text in notes:
        await insert_note(tx, order.id, tx.actor.acting_user or tx.actor.name, text, now, by_customer=True)
        audit_order(tx, "order.note", order, now, after={"text": text})
