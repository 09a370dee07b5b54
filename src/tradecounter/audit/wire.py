"""An entry of the audit log on the wire (reseller's side, sections 4 and 6)."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.audit.queries import AuditRecord

Changed = Annotated[Raw, Meta(extra_json_schema={"type": "object"})]


class AuditActor(Struct, kw_only=True, omit_defaults=True):
    """Who made a change."""

    kind: str
    id: str | None = None
    name: str
    acting_user: str | None = None


class AuditEntry(Struct, kw_only=True, omit_defaults=True):
    """A change: who made it, when, and the fields that differ before and after it."""

    id: int
    at: datetime
    actor: AuditActor
    address: str | None = None
    action: str
    subject: str
    before: Changed
    after: Changed


def entry_on_the_wire(record: AuditRecord) -> AuditEntry:
    """Return an entry as the resource AuditEntry."""
    return AuditEntry(
        id=record.id,
        at=record.at.replace(microsecond=0),
        actor=AuditActor(
            kind=record.actor_kind, id=record.actor_id, name=record.actor_name, acting_user=record.acting_user
        ),
        address=record.address,
        action=record.action,
        subject=record.subject,
        before=Raw(record.before.encode()),
        after=Raw(record.after.encode()),
    )
