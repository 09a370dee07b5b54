"""The demo's webhooks, with what was delivered to them."""

from datetime import datetime, timedelta
from ipaddress import ip_network

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.demo.history.steps import account_of
from tradecounter.events.queries import EventQuery, EventRecord, read_events
from tradecounter.kit.actor import Actor
from tradecounter.settings import Settings
from tradecounter.webhooks.manage import WebhookPolicy, add_webhook, change_webhook
from tradecounter.webhooks.queries.deliveries import AttemptResult, fetch_delivery, insert_delivery, record_results
from tradecounter.webhooks.queries.endpoints import lock_endpoint, update_endpoint
from tradecounter.webhooks.wire import WebhookChange, WebhookRequest

_MOST_DELIVERIES = 50  # of an endpoint
_MOST_EVENTS = 100_000
_DELIVERED_SINCE = timedelta(days=29)  # shorter than deliveries are kept
_FIRST_FAILS = 9  # of each this many deliveries, the first needs a second attempt
_FAILED_ATTEMPTS = 3  # of a delivery that fails
_BETWEEN_ATTEMPTS = timedelta(minutes=5)
_RETRY_AFTER = timedelta(hours=8)


class _Endpoint(Struct, frozen=True):
    """An endpoint that is down since `fails_from` days ago.

    Active endpoints are on the loopback interface, where webhooks may not go unless the operator allows it. A paused
    endpoint has a reserved name. Deliveries and their results are stored in one transaction, so no worker attempts
    them.
    """

    url: str
    description: str
    types: tuple[str, ...]
    customer: str | None = None
    fails_from: int = 0
    paused: bool = False


_ENDPOINTS = (
    _Endpoint(
        "https://127.0.0.1:8443/erp/tradecounter",
        "Orders and invoices for the ERP system",
        ("invoice.issued", "credit_note.issued", "order.cancelled"),
    ),
    _Endpoint(
        "https://127.0.0.1:9443/hooks/orders",
        "Copperfield's stock room",
        ("order.dispatched", "order.tracking_updated"),
        customer="orders@copperfieldnetworks.example",
        fails_from=6,
    ),
    _Endpoint(
        "https://hooks.harbourline.invalid/tradecounter",
        "Harbourline's portal",
        ("invoice.issued", "payment.recorded"),
        customer="orders@harbourline.example",
        fails_from=12,
        paused=True,
    ),
)


async def add_demo_webhooks(database: Database, settings: Settings, actor: Actor, now: datetime) -> None:
    """Add the endpoints, with attempts to deliver events that are numbered."""
    policy = WebhookPolicy.from_settings(settings)
    loopback = WebhookPolicy((ip_network("127.0.0.0/8"),), policy.allow_http, policy.vault)
    for endpoint in _ENDPOINTS:
        async with transaction(database, actor) as tx:
            await _add_endpoint(tx, endpoint, loopback, now)


async def _add_endpoint(tx: Transaction, endpoint: _Endpoint, policy: WebhookPolicy, now: datetime) -> None:
    customer_id = None if endpoint.customer is None else (await account_of(tx, endpoint.customer)).id
    wanted = WebhookRequest(
        url=endpoint.url, types=list(endpoint.types), description=endpoint.description, customer_id=customer_id
    )
    since = now - _DELIVERED_SINCE
    added = await add_webhook(tx, policy, wanted, since)
    page = await read_events(tx, EventQuery(after=0, limit=_MOST_EVENTS, types=endpoint.types, customer_id=customer_id))
    events = sorted((e for e in page.events if since < e.occurred_at < now), key=lambda event: event.occurred_at)
    failing_since: datetime | None = None
    for number, event in enumerate(events[-_MOST_DELIVERIES:]):
        down = now - event.occurred_at < timedelta(days=endpoint.fails_from)
        failing_since = failing_since or (event.occurred_at if down else None)
        await _deliver(tx, added.id, event, 0 if down else 1 + (number % _FIRST_FAILS == 0), now)
    await update_endpoint(tx, replace(await lock_endpoint(tx, added.id), failing_since=failing_since))
    if endpoint.paused:
        await change_webhook(tx, policy, added.id, WebhookChange(state="paused"), now - timedelta(days=1))


async def _deliver(tx: Transaction, webhook_id: int, event: EventRecord, succeeds_at: int, now: datetime) -> None:
    """Store a delivery whose attempt with the number `succeeds_at` succeeds; 0: none does."""
    at = event.occurred_at + timedelta(seconds=1)
    delivery_id = await insert_delivery(
        tx, webhook_id, at, sequence=event.sequence, event_id=event.id, type_=event.type, subject=event.subject
    )
    delivery = await fetch_delivery(tx, webhook_id, delivery_id)
    if delivery.next_attempt_at is None:
        return  # it waits for an earlier delivery about the same subject
    for attempt in range(1, (succeeds_at or _FAILED_ATTEMPTS) + 1):
        good = attempt == succeeds_at
        retry = at + _BETWEEN_ATTEMPTS * attempt
        if not succeeds_at and attempt == _FAILED_ATTEMPTS:
            retry = now + _RETRY_AFTER
        result = AttemptResult(
            delivery_id=delivery_id,
            webhook_id=webhook_id,
            attempt=attempt,
            at=at,
            status=204 if good else None,
            milliseconds=38 + event.sequence % 60,
            error=None if good else "connection refused",
            response="",
            next_attempt_at=None if good else retry,
        )
        await record_results(tx, [result], at)
        at = retry
