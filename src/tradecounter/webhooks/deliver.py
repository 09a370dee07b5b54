"""Delivers events to webhook endpoints, many at once, in every worker (docs/adr/0022)."""

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import datetime

import psycopg
import structlog
from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.audit.record import audit
from tradecounter.db.jobs import queue
from tradecounter.db.pool import Database, repeated
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.outbound_http import HttpSender, PostResponse
from tradecounter.events.queries import EventRecord
from tradecounter.events.wire import event_on_the_wire
from tradecounter.identity.vault import Vault
from tradecounter.kit.clock import Clock, day_in_words, uk_date, uk_time_of_day, whole_second
from tradecounter.kit.json_text import to_json
from tradecounter.kit.tasks import drop_tasks, in_background
from tradecounter.kit.telemetry import SPANS, WorkSpan
from tradecounter.kit.wire import made_from
from tradecounter.webhooks.queries.deliveries import (
    AttemptResult,
    Claimed,
    claim,
    make_deliveries,
    record_results,
)
from tradecounter.webhooks.queries.endpoints import Endpoint, lock_endpoints, update_endpoint
from tradecounter.webhooks.rules import (
    PAUSE_AFTER_FAILING,
    disables,
    retry_after,
    signed_headers,
    succeeded,
    wait_before_retry,
)

log = structlog.get_logger()

MOST_AT_ONCE = 200  # attempts of one worker
MOST_OF_ENDPOINT = 10  # of these; one for an endpoint that fails
TICK_SECONDS = 0.1
_PAUSE_SECONDS = 2.0  # after a failure of the database
_STOP_SECONDS = 5.0  # for running attempts to finish


class Deliverer(Struct):
    """Makes deliveries, attempts them and records the results.

    Attempts do not use the database. A tick is one transaction: it records the results of all attempts that have ended
    since the last tick, makes deliveries and claims those that are due. If it fails, the next one records them. Ticks
    are `tick_seconds` apart, or follow at once when all attempts of an endpoint that had its full share have ended.
    """

    database: Database
    clock: Clock
    vault: Vault
    sender: HttpSender
    tick_seconds: float = TICK_SECONDS
    _attempts: dict[asyncio.Task[None], int] = field(default_factory=dict)  # running, with their endpoints
    _saturated: set[int] = field(default_factory=set)  # endpoints that may have more due than their share
    _capacity_freed: asyncio.Event = field(
        default_factory=asyncio.Event
    )  # set when an endpoint in `_saturated` has no running attempt left
    _results: list[AttemptResult] = field(default_factory=list)

    async def tick(self) -> bool:
        """Record, make, claim and begin; return whether there may be more to do at once."""
        self._capacity_freed.clear()  # first: attempts that end during the transaction are still busy for it
        for task in [task for task in self._attempts if task.done()]:
            del self._attempts[task]
            task.result()
        results = self._results[:]
        async with transaction(self.database) as tx:
            if results:
                await _record(tx, results, self.clock.now())
            now = self.clock.now()  # recording may have waited for another worker
            more = await make_deliveries(tx, now)
            free = MOST_AT_ONCE - len(self._attempts)
            claimed = await claim(tx, now, free, MOST_OF_ENDPOINT, Counter(self._attempts.values()))
        del self._results[: len(results)]
        for delivery in claimed:
            task = asyncio.create_task(self._attempt(delivery))
            self._attempts[task] = delivery.webhook_id
            task.add_done_callback(self._free_capacity)
        running = Counter(self._attempts.values())
        self._saturated = {endpoint for endpoint, count in running.items() if count >= MOST_OF_ENDPOINT}
        return more

    def _free_capacity(self, ended: asyncio.Task[None]) -> None:
        endpoint = self._attempts.get(ended)
        if endpoint in self._saturated and all(task.done() for task, of in self._attempts.items() if of == endpoint):
            self._capacity_freed.set()

    async def pause(self) -> None:
        """Wait until the next tick."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self.tick_seconds):
                await self._capacity_freed.wait()

    async def wait(self) -> None:
        """Wait until an attempt ends, unless none runs."""
        if self._attempts:
            await asyncio.wait(self._attempts, return_when=asyncio.FIRST_COMPLETED)

    @property
    def busy(self) -> bool:
        """Whether attempts run, or have results to be recorded."""
        return bool(self._attempts or self._results)

    async def stop(self) -> None:
        """Let running attempts finish, for a few seconds; others are repeated when their claims end."""
        if self._attempts:
            await asyncio.wait(self._attempts, timeout=_STOP_SECONDS)
            await drop_tasks(self._attempts, "attempts of webhooks")
        if self._results:
            results, self._results = self._results, []
            try:
                async with transaction(self.database) as tx:
                    await _record(tx, results, self.clock.now())
            except psycopg.Error as error:
                lost = "results of webhooks were not recorded at the stop: the attempts are repeated"
                log.warning(lost, count=len(results), reason=str(error).strip())

    async def _attempt(self, delivery: Claimed) -> None:
        values: dict[str, int | str] = {"webhook": delivery.webhook_id, "event": delivery.event_id}
        span = WorkSpan("delivery", delivery.type, values)
        with SPANS.work(span):
            outcome = await self._deliver(delivery)
            span.failed = not succeeded(outcome.status)
            if outcome.status is not None:
                values["status"] = outcome.status

    async def _deliver(self, delivery: Claimed) -> PostResponse:
        began = self.clock.now()
        try:
            outcome = await self._post(delivery, began)
        except Exception:  # recorded too: otherwise it would be attempted again at every end of its claim, for ever
            log.exception("a webhook was not attempted", webhook_id=delivery.webhook_id, event_id=delivery.event_id)
            outcome = _not_sent("internal error")
        self._results.append(_result(delivery, outcome, began, self.clock.now()))
        return outcome

    async def _post(self, delivery: Claimed, began: datetime) -> PostResponse:
        keys = [self.vault.unseal(delivery.secret)]
        if delivery.former_secret is not None and began < (delivery.former_secret_until or began):
            keys.append(self.vault.unseal(delivery.former_secret))
        if keys[0] is None:
            return _not_sent("the secret cannot be decrypted: rotate it")
        body = _body(delivery)
        known = [key.decode() for key in keys if key is not None]
        headers = signed_headers(delivery.event_id, int(began.timestamp()), body, known)
        return await self.sender.post(delivery.url, headers, body)


def _not_sent(error: str) -> PostResponse:
    return PostResponse(status=None, milliseconds=0, error=error)


def _body(delivery: Claimed) -> bytes:
    if delivery.data is None or delivery.sequence is None:  # a ping, which is an event outside the log
        at = whole_second(delivery.occurred_at)
        ping = {"id": delivery.event_id, "type": delivery.type, "occurred_at": at, "subject": delivery.subject}
        return to_json({**ping, "data": {}})
    record = made_from(delivery, EventRecord, id=delivery.event_id)
    return to_json(event_on_the_wire(record))


def _result(delivery: Claimed, outcome: PostResponse, began: datetime, now: datetime) -> AttemptResult:
    next_attempt_at = None
    if not succeeded(outcome.status):
        drawn = random.uniform(-1, 1)  # noqa: S311 not a secret
        next_attempt_at = now + wait_before_retry(delivery.retries, drawn, retry_after(outcome.retry_after, now))
    return made_from(
        outcome,
        AttemptResult,
        delivery_id=delivery.id,
        webhook_id=delivery.webhook_id,
        attempt=delivery.attempts + 1,
        at=began,
        next_attempt_at=next_attempt_at,
    )


async def _record(tx: Transaction, results: list[AttemptResult], now: datetime) -> None:
    endpoints = await lock_endpoints(tx, {result.webhook_id for result in results})
    await record_results(tx, results, now)
    for endpoint in endpoints:
        own = [result for result in results if result.webhook_id == endpoint.id]
        failing_since = endpoint.failing_since
        for result in own:
            failing_since = None if succeeded(result.status) else failing_since or result.at
        changed = _stopped(replace(endpoint, failing_since=failing_since), own, now)
        if changed != endpoint:
            await update_endpoint(tx, changed)
        if changed.state != endpoint.state:
            _tell_of_stop(tx, changed, now)


def _stopped(endpoint: Endpoint, results: Iterable[AttemptResult], now: datetime) -> Endpoint:
    """Return an active endpoint disabled or paused if the results of its attempts say so, else as it is."""
    if endpoint.state != "active":
        return endpoint
    if any(disables(result.status) for result in results):
        return replace(endpoint, state="disabled", reason="the receiver responded 410 Gone")
    failing_since = endpoint.failing_since
    if failing_since is None or now - failing_since < PAUSE_AFTER_FAILING:
        return endpoint
    since = f"{day_in_words(uk_date(failing_since))}, {uk_time_of_day(failing_since):%H:%M} UK time"
    return replace(endpoint, state="paused", reason=f"every attempt has failed since {since}")


def _tell_of_stop(tx: Transaction, stopped: Endpoint, now: datetime) -> None:
    change = {"state": stopped.state, "reason": stopped.reason}
    audit(tx, "webhook.stop", f"webhook/{stopped.id}", now, before={"state": "active"}, after=change)
    queue(tx, "mail_webhook_stopped", webhook_id=stopped.id)
    log.warning("webhook stopped", webhook_id=stopped.id, **change)


@asynccontextmanager
async def delivering(deliverer: Deliverer) -> AsyncIterator[None]:
    """Deliver in the background while the block runs; a failure is logged, and delivering goes on."""

    async def deliver() -> float:
        if not await deliverer.tick():
            await deliverer.pause()
        return 0.0

    try:
        async with in_background(lambda: repeated(deliver, "webhooks were not delivered", _PAUSE_SECONDS)):
            yield
    finally:
        await deliverer.stop()


async def deliver_all(deliverer: Deliverer) -> None:
    """Deliver until nothing is due and no attempt runs."""
    while await deliverer.tick() or deliverer.busy:
        await deliverer.wait()
