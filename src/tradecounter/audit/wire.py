"""An entry of the audit log on the wire."""

from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.audit.queries import AuditRecord
from tradecounter.kit.wire import Moment, Timed, made_from

Changed = Annotated[Raw, Meta(extra_json_schema={"type": "object"})]


class AuditActor(Struct, kw_only=True):
    """Who made a change."""

    kind: Annotated[str, Meta(description="`staff`, `token`, `user`, `key`, `agent`, `command_line` or `system`.")]
    id: Annotated[int | str | None, Meta(description="The id of the member, token, user or key; or a client id.")]
    name: str
    acting_user: Annotated[str | None, Meta(description="The person whom a program named in `X-Acting-User`.")]


class AuditEntry(Timed, Struct, kw_only=True):
    """A change: who made it, when, and the fields that differ before and after it."""

    id: int
    at: Moment
    actor: AuditActor
    address: Annotated[str | None, Meta(description="The IP address of the request.")]
    action: Annotated[str, Meta(description="Noun and verb.", examples=["order.cancel"])]
    subject: Annotated[str, Meta(description="What was changed.", examples=["order/ORD-100001"])]
    before: Changed
    after: Changed


def entry_on_the_wire(record: AuditRecord) -> AuditEntry:
    """Return an entry as the resource AuditEntry."""
    actor_id = record.actor_id
    actor = AuditActor(
        kind=record.actor_kind,
        id=int(actor_id) if actor_id is not None and actor_id.isdecimal() else actor_id,
        name=record.actor_name,
        acting_user=record.acting_user,
    )
    before, after = Raw(record.before.encode()), Raw(record.after.encode())
    return made_from(record, AuditEntry, actor=actor, before=before, after=after)
