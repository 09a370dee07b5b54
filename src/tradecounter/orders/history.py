"""Records what happens to orders and quotes, in the event log and in the audit log."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tradecounter.audit.record import audit
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.events.types import EventType
from tradecounter.orders.states import AnyOrder, NumberedOrder


def record_order_event(tx: Transaction, type_: EventType, order: AnyOrder, now: datetime, **data: Any) -> None:
    """Record an event of an order or a quote, which the caller has locked; `data` comes on top of what names it.

    The order is named by its id, which it has from creation on, so all its events have one subject.
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
    """Return the subject that an order or a quote has in the audit log from now on."""
    kind = "order" if isinstance(order, NumberedOrder) else order.kind
    return f"{kind}/{order.name}"
