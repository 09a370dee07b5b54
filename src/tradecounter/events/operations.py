"""`GET /event`: a customer's events; `/api/event`: the event log."""

from collections.abc import Collection
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.edge.operations.desk import NEXT
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import NEXT_LINK
from tradecounter.edge.rest.operation import Sample
from tradecounter.edge.rest.paging import next_link
from tradecounter.edge.rest.responses import json_response
from tradecounter.events.feed import EventFeed
from tradecounter.events.queries import EventQuery
from tradecounter.events.record import ALL_TYPES, CUSTOMER_TYPES
from tradecounter.events.wire import EVENT, Event, event_on_the_wire
from tradecounter.kit.errors import invalid

EventTypeText = Annotated[str, Meta(extra_json_schema={"enum": sorted(CUSTOMER_TYPES)})]


class EventParameters(Struct, frozen=True):
    """The query parameters of `GET /event`."""

    after: Annotated[
        int, Meta(ge=0, description="Only events with a higher `sequence`; 0, the default, is all.", examples=[0])
    ] = 0
    type: Annotated[
        tuple[EventTypeText, ...] | None,
        Meta(description="Only events of these types.", examples=["order.dispatched,order.cancelled"]),
    ] = None
    limit: Annotated[
        int, Meta(ge=1, le=1000, description="Events per response: 100 by default, at most 1,000.", examples=[20])
    ] = 100
    wait: Annotated[
        int,
        Meta(
            ge=0, le=20, description="Seconds to wait while there is no event; 0 by default, at most 20.", examples=[0]
        ),
    ] = 0


def read_types(given: tuple[str, ...] | None, known: Collection[str]) -> tuple[str, ...] | None:
    """Return the types in a list, whose commas may be encoded; None without any. Raises DomainError (invalid)."""
    types = tuple(part.strip() for value in given or () for part in value.split(",") if part.strip())
    for type_ in types:
        if type_ not in known:
            raise invalid("type", f"{type_[:100]!r} is not one of {', '.join(sorted(known))}")
    return types or None


async def respond_with_events(call: Call, feed: EventFeed, wanted: EventQuery, wait_seconds: int) -> Response:
    """Return a page of the log; wait for an event while the page is empty."""
    page = await feed.page(wanted, wait_seconds)
    headers = next_link(call, page.events[-1].sequence) if page.more else {}
    return json_response([event_on_the_wire(record) for record in page.events], headers=headers)


_CUSTOMER_EVENTS = Subject(tag="Events", keys=("read",), described={Event: Described("", EVENT)})


class EventEndpoints(Struct, frozen=True):
    """The endpoint of a customer's events."""

    feed: EventFeed

    @_CUSTOMER_EVENTS.shows("/event", "The events.", headers=(NEXT_LINK,), sample=Sample({"after": "0", "limit": "20"}))
    async def list_events(self, call: Call, query: EventParameters) -> list[Event] | Response:
        """What happened to your orders, quotes, invoices, prices and stock.

        Your events after a position in the log, oldest first. Store the `sequence` of the last event that you have
        handled, and send it as `after` with the next request. With `wait`, a request without an event gets its response
        as soon as there is one, so a program hears of events within a second.
        """
        types = read_types(query.type, CUSTOMER_TYPES)
        wanted = EventQuery(after=query.after, limit=query.limit, customer_id=call.customer_id, types=types)
        return await respond_with_events(call, self.feed, wanted, query.wait)


EventTypeName = Annotated[str, Meta(extra_json_schema={"enum": sorted(ALL_TYPES)})]


class EventListParameters(EventParameters, frozen=True):
    """The query parameters of `GET /api/event`."""

    type: Annotated[
        tuple[EventTypeName, ...] | None,
        Meta(description="Only events of these types.", examples=["order.created,order.dispatched"]),
    ] = None


_EVENT_LOG = Subject(tag="Operations", read="events:read", described={Event: Described("", EVENT)})


class EventOperations(Struct, frozen=True):
    """The endpoint of all customers' events."""

    feed: EventFeed

    @_EVENT_LOG.shows("/api/event", "The events.", headers=(NEXT,))
    async def list_events(self, call: Call, query: EventListParameters) -> list[Event] | Response:
        """What happened to orders, quotes, invoices, customers, prices and stock.

        The log after a position, oldest first; sequences are contiguous. Store the `sequence` of the last event that
        you have handled, and send it as `after` with the next request. With `wait`, a request without an event gets its
        response as soon as there is one.
        """
        wanted = EventQuery(after=query.after, limit=query.limit, types=read_types(query.type, ALL_TYPES))
        return await respond_with_events(call, self.feed, wanted, query.wait)
