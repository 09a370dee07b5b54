"""The SQL of the event log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL, Literal

from tradecounter.db.advisory_locks import TRY_TO_NUMBER_EVENTS
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

INSERT = Statement("""
    insert into unnumbered_event (id, type, occurred_at, subject, customer_id, for_customer, data)
    values (:id, :type, :occurred_at, :subject, :customer_id, :for_customer, :data)
""")

INSERT_MANY = Statement("""
    insert into unnumbered_event (id, type, occurred_at, subject, customer_id, for_customer, data)
    select id, :type, :occurred_at, subject, customer_id, customer_id is not null and :for_customers, data
    from json_to_recordset(:events::json) as e (id text, subject text, customer_id bigint, data jsonb)
""")

BATCH = 1000  # events that one transaction numbers, in some ten milliseconds

# The lock must be held before this statement begins, because its snapshot must show what the last holder did. Without
# parameters, PostgreSQL plans it once per connection, not in most ticks.
_NUMBER = Statement(
    SQL("""
    with batch as (
        delete from unnumbered_event
        where position <= (
            select max(position) from (select position from unnumbered_event order by position limit {}) as first
        )
        returning *
    ), counted as (
        update event_sequence set last = last + (select count(*) from batch)
        returning last - (select count(*) from batch) as before
    ), logged as (
        insert into event (sequence, id, type, occurred_at, subject, customer_id, for_customer, data)
        select counted.before + row_number() over (order by position),
               id, type, occurred_at, subject, customer_id, for_customer, data
        from batch cross join counted
    )
    select count(*) from batch
""").format(Literal(BATCH))
)
_ANY_UNNUMBERED = Statement("select exists (select from unnumbered_event)")


async def number_events(tx: Transaction) -> int:
    """Move up to `BATCH` events to the log, with the next sequences; return how many.

    Does nothing while another process does it.
    """
    async with tx.pipeline() as p:
        locked = p.fetch(TRY_TO_NUMBER_EVENTS)
        waiting = p.fetch(_ANY_UNNUMBERED)
    if not (locked.row[0] and waiting.row[0]):
        return 0
    async with tx.pipeline() as p:
        numbered = p.fetch(_NUMBER)
    return int(numbered.row[0])


class EventQuery(Struct, frozen=True, kw_only=True):
    """A page of the log: up to `limit` events after a sequence, of one customer and of some types; None is all."""

    after: int = 0
    limit: int
    customer_id: int | None = None
    types: tuple[str, ...] | None = None


class EventRecord(Struct, frozen=True):
    """An event in the log; `data` is JSON text."""

    sequence: int
    id: str
    type: str
    occurred_at: datetime
    subject: str
    customer_id: int | None
    data: str


class EventPage(Struct, frozen=True):
    """A page of the log; `last` is the last sequence in the log when the page was read."""

    events: list[EventRecord]
    more: bool
    last: int


_LAST = Statement("select last from event_sequence")
# The data as the reseller reads them, with the present ids of its other programs, which customers never see.
RESELLER_DATA = SQL("""
    (event.data || jsonb_strip_nulls(jsonb_build_object(
        'external_id',
        case when event.subject ~ '^order/[0-9]{1,18}$' then
                  (select o.external_id from orders o where o.id = substr(event.subject, 7)::bigint)
             when event.subject ~ '^customer/' then
                  (select c.external_id from customer c where c.id = event.customer_id) end,
        'customer_external_id', (select c.external_id from customer c where c.id = event.customer_id)
    )))
""")
_SELECT = SQL("select sequence, id, type, occurred_at, subject, customer_id, {}::text as data from event")
_COLUMNS = _SELECT.format(SQL("data"))
_RESELLER_COLUMNS = _SELECT.format(RESELLER_DATA)
_ALL = Statement(SQL("{} where sequence > :after order by sequence limit :most").format(_RESELLER_COLUMNS), EventRecord)
# A scan of the log would be long for a rare type. In the order of the index of types, no other index will do: the
# planner takes all types for equally frequent.
_OF_TYPES = Statement(
    SQL(
        "select e.* from unnest(:types::text[]) as wanted (type) cross join lateral"
        " ({} where (type, sequence) > (wanted.type, :after) and type <= wanted.type"
        "  order by type, sequence limit :most) as e"
        " order by sequence limit :most"
    ).format(_RESELLER_COLUMNS),
    EventRecord,
)
_OF_CUSTOMER = Statement(
    SQL(
        "{} where sequence > :after and customer_id = :customer_id and for_customer"
        " and (:types::text[] is null or type = any(:types::text[])) order by sequence limit :most"
    ).format(_COLUMNS),
    EventRecord,
)


async def read_events(tx: Transaction, wanted: EventQuery) -> EventPage:
    """Return a page of the log. A customer's page has only the events that this customer may read."""
    types = None if wanted.types is None else f"{{{','.join(sorted(set(wanted.types)))}}}"
    values = {"after": wanted.after, "most": wanted.limit + 1}
    async with tx.pipeline() as p:
        last = p.fetch(_LAST)
        if wanted.customer_id is not None:
            result = p.fetch(_OF_CUSTOMER, **values, types=types, customer_id=wanted.customer_id)
        elif types is None:
            result = p.fetch(_ALL, **values)
        else:
            result = p.fetch(_OF_TYPES, **values, types=types)
    events = result.rows
    return EventPage(events[: wanted.limit], len(events) > wanted.limit, last.row[0])


_LATEST_ABOUT = Statement(
    """
    select sequence, id, type, occurred_at, subject, customer_id, data::text as data from event
    where customer_id = :customer_id and sequence < :before order by sequence desc limit :most
    """,
    EventRecord,
)


async def latest_events(tx: Transaction, customer_id: int, most: int, before: int | None) -> list[EventRecord]:
    """Return the events about a customer, also those that it does not read, latest first, before a sequence."""
    return await tx.fetch_all(_LATEST_ABOUT, customer_id=customer_id, before=before or 2**63 - 1, most=most)


class Arrival(Struct, frozen=True):
    """What decides whom a new event concerns."""

    sequence: int
    type: str
    customer_id: int | None
    for_customer: bool


_ARRIVALS = Statement(
    "select sequence, type, customer_id, for_customer from event where sequence > :after order by sequence limit :most",
    Arrival,
)


async def read_arrivals(tx: Transaction, after: int, most: int) -> list[Arrival]:
    """Return the first events after a sequence."""
    async with tx.pipeline() as p:
        result = p.fetch(_ARRIVALS, after=after, most=most)
    return result.rows


_LATEST_OF = Statement("""
    select distinct on (subject) subject, data from (
        select subject, data, sequence as place, 0 as unnumbered from event
        where subject = any(:subjects::text[]) and type = :type
        union all
        select subject, data, position, 1 from unnumbered_event where subject = any(:subjects::text[]) and type = :type
    ) as found order by subject, unnumbered desc, place desc
""")


async def latest_data_of(tx: Transaction, type_: str, subjects: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the data of the last event of a type about each subject; subjects without one are missing."""
    return dict(await tx.fetch_all(_LATEST_OF, type=type_, subjects=list(subjects)))
