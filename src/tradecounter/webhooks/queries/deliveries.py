"""Makes deliveries, shows them, claims attempts that are due, and records how they went."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from psycopg.sql import SQL

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.events.queries import RESELLER_DATA
from tradecounter.kit.errors import or_not_found

BATCH = 500  # events of an endpoint, and endpoints, in one transaction

_UNREAD = SQL("""
    (select sequence, id as event_id, type, subject from event
     where webhook.customer_id is null and sequence > read_up_to
       and (types = '{}' or type = any(types))
     order by sequence limit :most)
    union all
    (select sequence, id as event_id, type, subject from event
     where event.customer_id = webhook.customer_id and for_customer and sequence > read_up_to
       and (types = '{}' or type = any(types))
     order by sequence limit :most)
""")
# Endpoints without an event for them are moved on only now and then, to spare writes.
_LOCK_UNREAD = Statement(
    SQL("""
    select webhook.id from webhook cross join event_sequence
    where state = 'active' and read_up_to < last and (last - read_up_to >= :most or exists ({}))
    order by webhook.id limit :most for no key update of webhook skip locked
""").format(_UNREAD)
)
# The events of a subject are delivered in their order: only the first one that is not delivered yet has a moment.
_INSERT_FOUND = SQL("""
    insert into webhook_delivery (webhook_id, sequence, event_id, type, subject, created_at, next_attempt_at)
    select webhook_id, sequence, event_id, type, subject, :now,
           case when row_number() over (partition by webhook_id, subject order by sequence) = 1
                 and not exists (
                     select from webhook_delivery d
                     where d.webhook_id = found.webhook_id and d.subject = found.subject and delivered_at is null
                 )
                then :now::timestamptz end
    from found order by webhook_id, sequence
    returning id
""")
# The endpoints' rows must be locked before this statement begins, because its snapshot must show the deliveries that
# others have made.
_MAKE_DELIVERIES = Statement(
    SQL("""
    with log as (
        select last from event_sequence
    ), found as (
        select webhook.id as webhook_id, e.* from webhook cross join log cross join lateral ({}) e
        where webhook.id = any(:ids::bigint[]) and sequence <= last
    ), made as (
        {}
    ), progress as (
        select webhook_id, count(*) as events, max(sequence) as newest from found group by webhook_id
    ), moved as (
        update webhook set read_up_to = case when events = :most then newest else last end
        from webhook w cross join log left join progress on progress.webhook_id = w.id
        where webhook.id = w.id and w.id = any(:ids::bigint[])
    )
    select count(*) from made
""").format(_UNREAD, _INSERT_FOUND)
)


async def make_deliveries(tx: Transaction, now: datetime) -> bool:
    """Make deliveries of events that active endpoints have not got yet; return whether there may be more to make."""
    ids = [id_ for (id_,) in await tx.fetch_all(_LOCK_UNREAD, most=BATCH)]
    if not ids:
        return False
    count: int = await tx.fetch_value(_MAKE_DELIVERIES, ids=ids, most=BATCH, now=now)
    return max(count, len(ids)) >= BATCH


_INSERT_REPLAY = Statement(
    SQL("""
    with found as (
        select webhook.id as webhook_id, sequence, event.id as event_id, type, subject
        from webhook join event on webhook.customer_id is null
                                or event.customer_id = webhook.customer_id and for_customer
        where webhook.id = :id and sequence between :first and :last and sequence <= read_up_to
          and (types = '{{}}' or type = any(types))
          and not exists (
              select from webhook_delivery d
              where d.webhook_id = webhook.id and d.subject = event.subject and d.sequence = event.sequence
                and delivered_at is null
          )
        order by sequence limit :most
    ), made as (
        {}
    )
    select count(*), max(sequence) from found
""").format(_INSERT_FOUND)
)


async def insert_replay(
    tx: Transaction, webhook_id: int, first: int, last: int, most: int, now: datetime
) -> tuple[int, int | None]:
    """Make deliveries of the endpoint's events in a range that it has got before; the endpoint must be locked.

    Return how many, which are at most so many, and the last sequence of them. Later events get their deliveries anyway,
    and so do those that still wait for theirs.
    """
    made: tuple[int, int | None] = await tx.fetch_row(
        _INSERT_REPLAY, id=webhook_id, first=first, last=last, most=most, now=now
    )
    return made


_INSERT_DELIVERY = Statement(
    SQL("""
    with found (webhook_id, sequence, event_id, type, subject) as (
        values (:webhook_id::bigint, :sequence::bigint, :event_id, :type, :subject)
    )
    {}
""").format(_INSERT_FOUND)
)


async def insert_delivery(
    tx: Transaction, webhook_id: int, now: datetime, *, sequence: int | None, event_id: str, type_: str, subject: str
) -> int:
    """Make one delivery, and return its id; the endpoint must be locked."""
    values = {"sequence": sequence, "event_id": event_id, "type": type_, "subject": subject, "now": now}
    delivery_id: int = await tx.fetch_value(_INSERT_DELIVERY, webhook_id=webhook_id, **values)
    return delivery_id


class DeliveryRecord(Struct, frozen=True):
    """A delivery; `attempts` are those of the last 30 days as JSON objects, the oldest first, of `made` in all."""

    id: int
    sequence: int | None
    event_id: str
    type: str
    subject: str
    created_at: datetime
    next_attempt_at: datetime | None
    delivered_at: datetime | None
    made: int
    attempts: list[dict[str, Any]]


_SELECTED = SQL("""
    select id, sequence, event_id, type, subject, created_at, next_attempt_at, delivered_at, attempts as made, coalesce(
        (select jsonb_agg(jsonb_build_object(
                    'attempt', attempt, 'at', at, 'status', status, 'milliseconds', milliseconds, 'error', error,
                    'response', response) order by attempt)
         from webhook_attempt where delivery_id = webhook_delivery.id), '[]') as attempts
    from webhook_delivery where webhook_id = :webhook_id and {}
""")
_DELIVERIES_BEFORE = Statement(
    _SELECTED.format(
        SQL("""
            (:before::bigint is null or id < :before)
            and (:changed_since::timestamptz is null
                 or created_at >= :changed_since or delivered_at >= :changed_since
                 or id in (select delivery_id from webhook_attempt where at >= :changed_since))
            order by id desc limit :most
        """)
    ),
    DeliveryRecord,
)
_DELIVERY_BY_ID = Statement(_SELECTED.format(SQL("id = :id")), DeliveryRecord)


async def latest_deliveries(
    tx: Transaction, webhook_id: int, before: int | None, most: int, changed_since: datetime | None = None
) -> list[DeliveryRecord]:
    """Return the latest deliveries of an endpoint that have a lower id than `before`.

    With `changed_since`, those that were made, attempted or delivered then or later.
    """
    return await tx.fetch_all(
        _DELIVERIES_BEFORE, webhook_id=webhook_id, before=before, most=most, changed_since=changed_since
    )


async def fetch_delivery(tx: Transaction, webhook_id: int, delivery_id: int) -> DeliveryRecord:
    """Return an endpoint's delivery. Raises DomainError (not found)."""
    found = await tx.find_row(_DELIVERY_BY_ID, webhook_id=webhook_id, id=delivery_id)
    return or_not_found(found, "delivery", delivery_id)


# Longer than an attempt may take. A delivery that a killed worker has claimed is attempted again after this time.
CLAIMED_FOR = timedelta(seconds=30)
_LOCK_WAIT = timedelta(seconds=5)  # a claim may be later than the moment of the caller, who waited for the endpoint


_RESUME_DELIVERIES = Statement(
    "update webhook_delivery set retries = 0,"
    " next_attempt_at = case when next_attempt_at > :claimed_until then :now else next_attempt_at end"
    " where webhook_id = :id and delivered_at is null"
)


async def resume_deliveries(tx: Transaction, webhook_id: int, now: datetime) -> None:
    """Have an endpoint's waiting deliveries attempted at once, those that wait for others after them.

    What is due soon keeps its moment, since it may be claimed: its attempt may be under way. The endpoint must be
    locked.
    """
    await tx.execute(_RESUME_DELIVERIES, id=webhook_id, now=now, claimed_until=now + CLAIMED_FOR + _LOCK_WAIT)


_FORGET_ATTEMPTS = Statement("""
    with old as (select delivery_id, attempt from webhook_attempt where at < :before limit :most)
    delete from webhook_attempt using old
    where webhook_attempt.delivery_id = old.delivery_id and webhook_attempt.attempt = old.attempt
""")
_FORGET_DELIVERIES = Statement("""
    with old as (select id from webhook_delivery where delivered_at < :before limit :most)
    delete from webhook_delivery using old where webhook_delivery.id = old.id
""")


async def forget_deliveries(tx: Transaction, before: datetime, most: int) -> int:
    """Delete attempts, and deliveries that have succeeded, before a moment; return how many."""
    return await tx.execute(_FORGET_DELIVERIES, before=before, most=most) + await tx.execute(
        _FORGET_ATTEMPTS, before=before, most=most
    )


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
_CLAIM_DUE = Statement(
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
        _CLAIM_DUE,
        now=now,
        until=now + CLAIMED_FOR,
        most=most,
        each=each,
        busy=json_of({str(k): v for k, v in busy.items()}),
    )


class AttemptResult(Struct, frozen=True, kw_only=True):
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


# A failure counts once: it may be recorded again after a commit in doubt, and two workers may have attempted.
_RECORD_RESULTS = Statement("""
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
          and (result.next_attempt_at is null or result.attempt > d.attempts)
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


async def record_results(tx: Transaction, results: Sequence[AttemptResult], now: datetime) -> None:
    """Record attempts; the endpoints must be locked. After a success, the next delivery of the subject is due."""
    await tx.execute(_RECORD_RESULTS, results=json_of(results), now=now)
    delivered = [result.delivery_id for result in results if result.next_attempt_at is None]
    if delivered:
        await tx.execute(_NEXT_OF_SUBJECTS, ids=delivered, now=now)
