"""`/api/event`: the event log."""

from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.operations.desk import NEXT
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.events.feed import EventFeed
from tradecounter.events.operations.public import After, EventLimit, Wait, read_types, respond_with_events
from tradecounter.events.queries import EventQuery
from tradecounter.events.types import CUSTOMER_TYPES, RESELLER_TYPES
from tradecounter.events.wire import EVENT, Event

_TYPES = CUSTOMER_TYPES | RESELLER_TYPES
EventTypeName = Annotated[str, Meta(extra_json_schema={"enum": sorted(_TYPES)})]


class EventListParameters(Struct, frozen=True):
    """The query parameters of `GET /api/event`."""

    after: After = 0
    type: Annotated[
        tuple[EventTypeName, ...] | None,
        Meta(description="Only events of these types.", examples=["order.created,order.dispatched"]),
    ] = None
    limit: EventLimit = 100
    wait: Wait = 0


_EVENTS = Subject(tag="Operations", read="events:read", described={Event: Described("", EVENT)})


class EventOperations(Struct, frozen=True):
    """The endpoint of all customers' events."""

    feed: EventFeed

    @_EVENTS.shows("/api/event", "The events.", headers=(NEXT,))
    async def list_events(self, call: Call, query: EventListParameters) -> list[Event] | Response:
        """What happened to orders, quotes, invoices, customers, prices and stock.

        The log after a position, oldest first; sequences are contiguous. Store the `sequence` of the last event that
        you have handled, and send it as `after` with the next request. With `wait`, a request without an event gets its
        response as soon as there is one.
        """
        wanted = EventQuery(after=query.after, limit=query.limit, types=read_types(query.type, _TYPES))
        return await respond_with_events(call, self.feed, wanted, query.wait)
