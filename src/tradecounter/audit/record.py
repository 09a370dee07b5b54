"""Writes the audit log, in the transaction of the change."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tradecounter.audit.queries import INSERT
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import in_whole_seconds
from tradecounter.kit.json_text import to_json

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
        INSERT,
        at=now,
        actor_kind=actor.kind,
        actor_id=None if actor.id is None else str(actor.id),
        actor_name=actor.name,
        acting_user=actor.acting_user,
        address=actor.address,
        action=action,
        subject=subject,
        before=to_json(in_whole_seconds(old)).decode(),
        after=to_json(in_whole_seconds(new)).decode(),
    )


def audit_edit(
    tx: Transaction, action: str, subject: str, now: datetime, *, before: Fields, after: Fields
) -> list[str]:
    """Record a change of fields as `audit` does, unless none differs; return the names of those that differ."""
    names = _differing(before, after)
    if names:
        audit(tx, action, subject, now, before=before, after=after)
    return names


def _changed(before: Fields, after: Fields) -> tuple[Fields, Fields]:
    if not before:  # as of everything that is created
        return before, {name: value for name, value in after.items() if value is not None}
    names = _differing(before, after)
    return {n: before[n] for n in names if n in before}, {n: after[n] for n in names if n in after}


def _differing(before: Fields, after: Fields) -> list[str]:
    return [name for name in {**before, **after} if before.get(name) != after.get(name)]
