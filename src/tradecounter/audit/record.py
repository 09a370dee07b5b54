"""Writes the audit log, in the transaction of the change."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_INSERT = Statement("""
    insert into audit_entry (at, actor_kind, actor_id, actor_name, acting_user, address, action, subject, before, after)
    values (:at, :actor_kind, :actor_id, :actor_name, :acting_user, :address, :action, :subject, :before, :after)
""")

Fields = Mapping[str, Any]


def audit(
    tx: Transaction,
    action: str,
    subject: str,
    now: datetime,
    *,
    before: Fields | None = None,
    after: Fields | None = None,
) -> None:
    """Record a change by the transaction's actor, without a round trip of its own.

    `action` is a noun and a verb, such as `order.cancel`; `subject` names the changed object, such as
    `order/ORD-100001`. Of `before` and `after`, only the fields that differ are stored. Secrets must not be in them.
    """
    old, new = _changed(before or {}, after or {})
    actor = tx.actor
    tx.queue(
        _INSERT,
        at=now,
        actor_kind=actor.kind,
        actor_id=None if actor.id is None else str(actor.id),
        actor_name=actor.name,
        acting_user=actor.acting_user,
        address=actor.address,
        action=action,
        subject=subject,
        before=json_of(old),
        after=json_of(new),
    )


def _changed(before: Fields, after: Fields) -> tuple[Fields, Fields]:
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return {n: before[n] for n in names if n in before}, {n: after[n] for n in names if n in after}
