"""The SQL of the backlog; it only reads, across slices."""

from msgspec import Struct

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class Backlog(Struct, frozen=True):
    """How many wait, and for how many seconds the oldest has waited."""

    count: int
    seconds: float


_UNNUMBERED_EVENTS = Statement(
    "select count(*) as count, coalesce(extract(epoch from now() - min(occurred_at)), 0)::double precision as seconds"
    " from unnumbered_event",
    Backlog,
)
_DELIVERIES = Statement(
    """
    select count(*) as count, coalesce(extract(epoch from now() - min(d.created_at)), 0)::double precision as seconds
    from webhook_delivery d join webhook on webhook.id = d.webhook_id
    where d.delivered_at is null and webhook.state = 'active'
    """,
    Backlog,
)
_LAST_EVENT = Statement("select last from event_sequence")
_EVENTS_BY_TYPE = Statement(
    "select type, count(*) as count from event where sequence > :after and sequence <= :last group by type"
)


async def unnumbered_events(tx: Transaction) -> Backlog:
    """Return the events that the sequencer has not numbered."""
    return await tx.fetch_row(_UNNUMBERED_EVENTS)


async def waiting_deliveries(tx: Transaction) -> Backlog:
    """Return the deliveries to active webhooks that no receiver has accepted."""
    return await tx.fetch_row(_DELIVERIES)


async def last_event(tx: Transaction) -> int:
    """Return the last sequence in the event log."""
    return int(await tx.fetch_value(_LAST_EVENT))


async def events_by_type(tx: Transaction, after: int, last: int) -> list[tuple[str, int]]:
    """Return how many events of each type are in a part of the log."""
    return [(kind, count) for kind, count in await tx.fetch_all(_EVENTS_BY_TYPE, after=after, last=last)]
