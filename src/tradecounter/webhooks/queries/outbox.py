"""The SQL of attempts: claims what is due, and records how it went."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.events.queries import RESELLER_DATA

# Longer than an attempt may take. A delivery that a killed worker has claimed is attempted again after this time.
CLAIMED_FOR = timedelta(seconds=30)


class Claimed(Struct, frozen=True):
    """A delivery to be attempted now, with its endpoint and its event; `data` is JSON text, None for a ping."""

    id: int
    webhook_id: int
    url: str
    secret: bytes
    former_secret: bytes | None
    former_secret_until: datetime | None
    attempts: int
    retries: int
    sequence: int | None
    event_id: str
    type: str
    occurred_at: datetime
    subject: str
    customer_id: int | None
    data: str | None


# An endpoint that fails gets one attempt at a time. Endpoints take turns, and so do customers: those with the fewest
# attempts that run are first, so that slow endpoints delay nobody else, however many a customer has.
# An array of ids instead of a join has rows found by id: without fresh statistics, a join reads all waiting deliveries.
_CLAIM = Statement(
    SQL("""
    with busy as (
        select key::bigint as webhook_id, value::integer as attempts from jsonb_each_text(:busy::jsonb)
    ), busy_owner as (
        select customer_id, sum(attempts) as attempts from busy join webhook on webhook.id = webhook_id
        where customer_id is not null group by customer_id
    ), due as (
        select d.id, customer_id, coalesce(busy.attempts, 0)
               + row_number() over (partition by webhook.id order by d.next_attempt_at, d.id) as place
        from webhook left join busy on busy.webhook_id = webhook.id cross join lateral (
            select id, next_attempt_at from webhook_delivery
            where webhook_delivery.webhook_id = webhook.id and next_attempt_at <= :now
            order by next_attempt_at, id
            limit greatest(
                case when failing_since is null then :each else 1 end - coalesce(busy.attempts, 0), 0)
        ) d
        where webhook.state = 'active'
    ), placed as (
        select id, case when due.customer_id is null then place else coalesce(busy_owner.attempts, 0)
               + row_number() over (partition by due.customer_id order by place, id) end as place
        from due left join busy_owner using (customer_id)
    ), chosen as (
        select id from webhook_delivery
        where id = any(array(select id from placed order by place, id limit :most)) and next_attempt_at <= :now
        for update skip locked
    ), claimed as (
        update webhook_delivery d set next_attempt_at = :until from chosen where d.id = chosen.id returning d.*
    )
    select claimed.id, webhook_id, url, secret, former_secret, former_secret_until, attempts, retries,
           claimed.sequence, event_id, claimed.type, coalesce(occurred_at, claimed.created_at) as occurred_at,
           claimed.subject, coalesce(event.customer_id, webhook.customer_id) as customer_id,
           case when webhook.customer_id is null then {} else event.data end::text as data
    from claimed join webhook on webhook.id = webhook_id left join event on event.sequence = claimed.sequence
    order by claimed.id
""").format(RESELLER_DATA),
    Claimed,
)


async def claim(tx: Transaction, now: datetime, most: int, each: int, busy: dict[int, int]) -> list[Claimed]:
    """Claim up to `most` due deliveries, and of each endpoint up to `each` less the attempts that are `busy`."""
    return await tx.fetch_all(
        _CLAIM,
        now=now,
        until=now + CLAIMED_FOR,
        most=most,
        each=each,
        busy=json_of({str(k): v for k, v in busy.items()}),
    )


class Result(Struct, frozen=True):
    """How an attempt of a delivery went; `next_attempt_at` is None after success."""

    delivery_id: int
    webhook_id: int
    attempt: int
    at: datetime
    status: int | None
    milliseconds: int
    error: str | None
    response: str
    next_attempt_at: datetime | None


class Standing(Struct, frozen=True):
    """Whether an endpoint is active, and since when it fails."""

    id: int
    state: str
    failing_since: datetime | None


_LOCK = Statement(
    "select id, state, failing_since from webhook where id = any(:ids::bigint[]) order by id for no key update",
    Standing,
)
_RECORD = Statement("""
    with result as (
        select * from jsonb_to_recordset(:results::jsonb) as r(
            delivery_id bigint, attempt integer, at timestamptz, status smallint, milliseconds integer, error text,
            response text, next_attempt_at timestamptz)
    ), changed as (
        update webhook_delivery d
        set attempts = greatest(attempts, result.attempt),
            retries = case when result.next_attempt_at is null then retries else retries + 1 end,
            delivered_at = case when result.next_attempt_at is null then :now::timestamptz end,
            next_attempt_at = result.next_attempt_at
        from result
        where d.id = result.delivery_id and d.id = any(array(select delivery_id from result)) and d.delivered_at is null
        returning d.id
    )
    insert into webhook_attempt (delivery_id, attempt, at, status, milliseconds, error, response)
    select delivery_id, attempt, at, status, milliseconds, error, response
    from result join changed on changed.id = delivery_id
    on conflict do nothing
""")
_NEXT_OF_SUBJECTS = Statement("""
    update webhook_delivery d set next_attempt_at = :now
    from (
        select distinct webhook_id, subject from webhook_delivery where id = any(:ids::bigint[])
    ) as done cross join lateral (
        select id from webhook_delivery n
        where n.webhook_id = done.webhook_id and n.subject = done.subject and n.delivered_at is null
        order by id limit 1
    ) as first
    where d.id = first.id and d.next_attempt_at is null
""")


async def lock_standings(tx: Transaction, ids: Sequence[int]) -> list[Standing]:
    """Lock endpoints and return their standing."""
    return await tx.fetch_all(_LOCK, ids=sorted(ids))


async def record_results(tx: Transaction, results: Sequence[Result], now: datetime) -> None:
    """Record attempts; the endpoints must be locked. After a success, the next delivery of the subject is due."""
    await tx.execute(_RECORD, results=json_of(results), now=now)
    delivered = [result.delivery_id for result in results if result.next_attempt_at is None]
    if delivered:
        await tx.execute(_NEXT_OF_SUBJECTS, ids=delivered, now=now)
