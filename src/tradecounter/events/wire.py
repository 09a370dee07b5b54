"""An event on the wire."""

from typing import Annotated

from msgspec import Meta, Raw, Struct

from tradecounter.events.queries import EventRecord
from tradecounter.kit.wire import Moment, Timed


class Event(Timed, Struct, kw_only=True, omit_defaults=True):
    """Something that happened, such as the dispatch of an order."""

    id: Annotated[str, Meta(description="Unique; use it to recognise an event that you have handled.")]
    sequence: Annotated[int, Meta(description="The position in the log. Yours increase, with gaps.")]
    type: Annotated[str, Meta(description="What happened.", examples=["order.dispatched"])]
    occurred_at: Annotated[Moment, Meta(description="When it happened, in UTC.")]
    subject: Annotated[str, Meta(description="What it happened to; the events of a subject are in order.")]
    customer_id: Annotated[int | None, Meta(description="The customer.")] = None
    data: Annotated[
        Raw,
        Meta(
            description="Ids, references and the status; more members may come.", extra_json_schema={"type": "object"}
        ),
    ]


def event_on_the_wire(record: EventRecord) -> Event:
    """Return an event as the resource Event."""
    return Event(
        id=record.id,
        sequence=record.sequence,
        type=record.type,
        occurred_at=record.occurred_at,
        subject=record.subject,
        customer_id=record.customer_id,
        data=Raw(record.data.encode()),
    )
