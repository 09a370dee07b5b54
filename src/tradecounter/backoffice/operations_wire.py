"""The responses of jobs."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from tradecounter.db.job_queue import JobState
from tradecounter.rest.wire import Moment, Timed


class Job(Timed, Struct):
    """A background job; `at` is when its state last changed."""

    id: int
    name: Annotated[str, Meta(description="What it does.", examples=["mail_order_confirmed"])]
    state: JobState
    arguments: Annotated[dict[str, Any], Meta(description="The ids that it works on.")]
    attempts: int
    scheduled_at: Annotated[Moment | None, Meta(description="When it runs next; null: as soon as possible.")]
    at: Moment | None
