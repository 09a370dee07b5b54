"""The responses of jobs and of the audit log."""

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from tradecounter.db.job_queue import JobState


class Job(Struct):
    """A background job; `at` is when its state last changed."""

    id: int
    name: Annotated[str, Meta(description="What it does.", examples=["mail_order_confirmed"])]
    state: JobState
    arguments: Annotated[dict[str, Any], Meta(description="The ids that it works on.")]
    attempts: int
    scheduled_at: Annotated[datetime | None, Meta(description="When it runs next; null: as soon as possible.")]
    at: datetime | None


class AuditActor(Struct):
    """Who made a change."""

    kind: Annotated[str, Meta(description="`staff`, `token`, `user`, `key`, `command_line` or `system`.")]
    id: Annotated[int | None, Meta(description="The id of the member, token, user or key.")]
    name: str
    acting_user: Annotated[str | None, Meta(description="The person whom a program named in `X-Acting-User`.")]


class AuditEntry(Struct):
    """A change; `before` and `after` have the changed fields only."""

    id: int
    at: datetime
    actor: AuditActor
    address: Annotated[str | None, Meta(description="The network address of the request.")]
    action: Annotated[str, Meta(description="Noun and verb.", examples=["order.cancel"])]
    subject: Annotated[str, Meta(description="What was changed.", examples=["order/ORD-100001"])]
    before: dict[str, Any]
    after: dict[str, Any]
