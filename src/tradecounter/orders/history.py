"""Records what happens to orders and quotes, notes about them, and the reseller's own ids of them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import EventType, record_event
from tradecounter.kit.errors import require_text
from tradecounter.kit.keys import clean_external_id
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.queries.all_orders import change_external_id
from tradecounter.orders.queries.notes import insert_note
from tradecounter.orders.states import AnyOrder, NumberedOrder


def record_order_event(tx: Transaction, type_: EventType, order: AnyOrder, now: datetime, **data: Any) -> None:
    """Record an event of an order or a quote that the caller has locked; `data` is added to what names the order.

    The subject has the order's id, which never changes, so all events of an order have the same subject.
    """
    numbered = isinstance(order, NumberedOrder)
    name = {"order_reference": order.name} if numbered else {"confirmation_code": order.confirmation_code}
    about = {"order_id": order.id, **name, "customer_reference": order.customer_reference, "status": order.label}
    record_event(tx, type_, f"order/{order.id}", now, order.customer_id, {**about, **data})


def audit_order(
    tx: Transaction,
    action: str,
    order: AnyOrder,
    now: datetime,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Record a change of an order or a quote by the transaction's actor."""
    audit(tx, action, audited_as(order), now, before=before, after=after)


def audited_as(order: AnyOrder) -> str:
    """Return the subject of an order or a quote in the audit log."""
    kind = "order" if isinstance(order, NumberedOrder) else order.kind
    return f"{kind}/{order.name}"


LONGEST_NOTE = 2000


async def add_note(tx: Transaction, reference: str, text: str, now: datetime) -> None:
    """Add a note of the reseller about an order or a quote in any state. Raises DomainError: not found, invalid."""
    text = require_text("text", text, LONGEST_NOTE)
    order = await fetch_order(tx, reference)
    await insert_note(tx, order.id, tx.actor.acting_user or tx.actor.name, text, now)
    audit_order(tx, "order.note", order, now, after={"text": text})


async def add_own_note(tx: Transaction, order: AnyOrder, lines: Iterable[str], now: datetime) -> None:
    """Add a note of one of the customer's users about an order; customers see it.

    A text that is too long for one note becomes several notes. A line has at most `LONGEST_NOTE` characters.
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


async def set_external_id(tx: Transaction, reference: str, external_id: str | None, now: datetime) -> AnyOrder:
    """Give an order or a quote in any state an external id, or take it away; return the order.

    Raises DomainError: not found, invalid, conflict (another order has the id).
    """
    order = await fetch_order(tx, reference)
    new = clean_external_id(external_id)
    old = await change_external_id(tx, order.id, new)
    if new != old:
        audit_order(tx, "order.external_id", order, now, before={"external_id": old}, after={"external_id": new})
    return order
