"""The SQL of the backlog; it only reads, across slices."""

from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_WAITING = Statement(
    """
    select d.number as webhook_deliveries_waiting, d.seconds as webhook_deliveries_waiting_seconds,
           e.number as unnumbered_events, e.seconds as unnumbered_events_seconds
    from (
        select count(*) as number, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds
        from webhook_delivery
        where delivered_at is null and webhook_id in (select id from webhook where state = 'active')
    ) as d, (
        select count(*) as number, coalesce(extract(epoch from now() - min(occurred_at)), 0)::float8 as seconds
        from unnumbered_event
    ) as e
    """,
    dict[str, float],
)
_LAST_EVENT = Statement("select last from event_sequence")
_EVENTS_BY_TYPE = Statement(
    "select type, count(*) as count from event where sequence > :after and sequence <= :last group by type"
)


async def waiting_figures(tx: Transaction) -> dict[str, float]:
    """Return how many events and deliveries to active webhooks wait, and the age of the oldest, by their metrics."""
    return await tx.fetch_row(_WAITING)


async def last_event(tx: Transaction) -> int:
    """Return the last sequence in the event log."""
    return int(await tx.fetch_value(_LAST_EVENT))


async def events_by_type(tx: Transaction, after: int, last: int) -> list[tuple[str, int]]:
    """Return how many events of each type are in a part of the log."""
    return [(kind, count) for kind, count in await tx.fetch_all(_EVENTS_BY_TYPE, after=after, last=last)]
