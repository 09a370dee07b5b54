"""What receivers get, in which order, how often, and when an endpoint is given up."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec
import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from support.events import number_events
from support.mail import deliver_mail, plain, send_for
from support.orders import rows
from support.receiver import (
    Received,
    Receiver,
    Script,
    accept,
    answering,
    deliver,
    policy_of,
    receiving,
    sender,
    status,
)
from support.service import Customer, Service
from support.waiting import happened
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import DomainError
from tradecounter.webhooks import manage
from tradecounter.webhooks.deliver import MOST_AT_ONCE, Deliverer, deliver_all, delivering
from tradecounter.webhooks.queries.deliveries import BATCH, AttemptResult, forget_deliveries, record_results
from tradecounter.webhooks.queries.endpoints import replace_secrets
from tradecounter.webhooks.wire import (
    CreatedWebhook,
    Delivery,
    Replay,
    Webhook,
    WebhookChange,
    WebhookRequest,
    delivery_on_the_wire,
)

Result = TypeVar("Result")


class Endpoint:
    """An endpoint at a receiver, with the steps of its owner."""

    def __init__(self, service: Service, receiver: Receiver, added: CreatedWebhook) -> None:
        self.service, self.receiver, self.added = service, receiver, added

    def _run(self, use: Callable[..., Awaitable[Result]], *words: Any) -> Result:
        return self.service.in_transaction(lambda tx: use(tx, *words, self.service.clock.now()))

    def change(self, **values: Any) -> Webhook:
        return self._run(manage.change_webhook, policy_of(self.service), self.added.id, WebhookChange(**values))

    def rotate(self, now: datetime) -> CreatedWebhook:
        policy = policy_of(self.service)
        return self.service.in_transaction(lambda tx: manage.rotate_webhook_secret(tx, policy, self.added.id, now))

    def ping(self) -> Delivery:
        return self._run(manage.ping_webhook, self.added.id)

    def redeliver(self, delivery_id: int) -> Delivery:
        return self._run(manage.redeliver, self.added.id, delivery_id)

    def replay(self, first: int, last: int) -> int:
        return self._run(manage.replay, self.added.id, Replay(first, last)).deliveries

    def retry(self) -> None:
        self._run(manage.retry_now, self.added.id)

    def remove(self) -> None:
        self._run(manage.remove_webhook, self.added.id)

    def shown(self) -> Webhook:
        return self.service.in_transaction(lambda tx: manage.show_webhook(tx, self.added.id))

    def deliveries(self) -> list[Delivery]:
        found = self.service.in_transaction(lambda tx: manage.list_deliveries(tx, self.added.id, None, 1000))
        return [delivery_on_the_wire(record) for record in found]

    def deliver(self, after: timedelta = timedelta()) -> list[str]:
        """Let time pass, deliver what is due, and return the subjects that arrived."""
        self.service.clock.advance(after)
        before = len(self.receiver.received)
        number_events(self.service)
        self.service.call(lambda: deliver(self.service))
        return [event["subject"] for event in self.receiver.events[before:]]

    def deliver_now(self) -> None:
        """Deliver at the time of the machine's clock, with which receivers compare the timestamp."""
        number_events(self.service)
        self.service.call(lambda: deliver(self.service, clock=SystemClock()))


def happen(service: Service, *subjects: str, customer_id: int | None = None, type_: Any = "order.created") -> None:
    async def work(tx: Transaction) -> None:
        for subject in subjects:
            record_event(tx, type_, subject, service.clock.now(), customer_id, {"status": "new"})

    service.in_transaction(work)


@pytest.fixture
def endpoint(service: Service) -> Any:
    """Make endpoints, each at a receiver of its own, which are removed at the test's end."""
    made: list[Endpoint] = []
    stop = asyncio.Event()
    tasks: list[Any] = []

    def make(script: Script = accept, **values: Any) -> Endpoint:
        receiver = service.call(lambda: _serve(script))
        wanted = WebhookRequest(url=receiver.url, **values)
        added = service.in_transaction(
            lambda tx: manage.add_webhook(tx, policy_of(service), wanted, service.clock.now())
        )
        made.append(Endpoint(service, receiver, added))
        return made[-1]

    async def _serve(script: Script) -> Receiver:
        ready: asyncio.Future[Receiver] = asyncio.get_running_loop().create_future()

        async def run() -> None:
            async with receiving(script) as receiver:
                ready.set_result(receiver)
                await stop.wait()

        tasks.append(asyncio.create_task(run()))
        return await ready

    yield make
    for one in made:
        one.remove()

    async def end() -> None:
        stop.set()
        await asyncio.gather(*tasks)

    service.call(end)


Make = Callable[..., Endpoint]


def test_an_event_arrives_signed_and_once(service: Service, endpoint: Make) -> None:
    hook = endpoint()
    happen(service, "order/1")
    hook.deliver_now()
    assert hook.deliver() == []
    [request] = hook.receiver.received
    assert request.path == "/hook?a=b"
    assert request.headers["content-type"] == "application/json"
    assert request.headers["webhook-id"] == request.event["id"]
    assert verifies(hook.added.secret, request)
    assert not verifies("whsec_" + "A" * 43 + "=", request)
    [(sequence,)] = rows(service, "select sequence from event where id = %s", request.event["id"])
    assert (request.event["sequence"], request.event["data"]) == (sequence, {"status": "new"})
    [delivery] = hook.deliveries()
    assert (delivery.status, delivery.attempt, delivery.response, delivery.next_attempt_at) == (200, 1, "ok", None)


def verifies(secret: Any, request: Received) -> bool:
    """Whether the reference implementation accepts the signature."""
    try:
        Verifier(secret).verify(request.body.decode(), request.headers)
    except WebhookVerificationError:
        return False
    return True


def test_a_rotation_signs_with_both_secrets_for_a_day(service: Service, endpoint: Make) -> None:
    hook = endpoint()
    new = hook.rotate(SystemClock().now() - timedelta(hours=23))
    newest = hook.rotate(SystemClock().now() - timedelta(hours=23))
    happen(service, "order/1")
    hook.deliver_now()
    hook.rotate(SystemClock().now() - timedelta(hours=24))
    happen(service, "order/2")
    hook.deliver_now()
    during, after = hook.receiver.received
    assert [verifies(one.secret, during) for one in (hook.added, new, newest)] == [False, True, True]
    assert len(after.headers["webhook-signature"].split()) == 1
    assert "secret" not in msgspec.to_builtins(hook.shown())


def test_a_customer_gets_its_own_events_of_the_chosen_types(service: Service, endpoint: Make) -> None:
    one, other = service.customer(), service.customer()
    own = endpoint(customer_id=one.id)
    chosen = endpoint(customer_id=one.id, types=["order.dispatched"])
    reseller = endpoint(types=["order.dispatched", "order.created"])
    happen(service, "order/1", customer_id=one.id)
    happen(service, "order/1", "order/2", customer_id=one.id, type_="order.confirmed")
    happen(service, "order/3", customer_id=one.id, type_="order.dispatched")
    happen(service, "order/9", customer_id=other.id, type_="order.dispatched")
    assert own.deliver() == ["order/1", "order/2", "order/3"]
    assert chosen.receiver.events[0]["type"] == "order.dispatched"
    assert [event["subject"] for event in chosen.receiver.events] == ["order/3"]
    assert sorted(event["subject"] for event in reseller.receiver.events) == ["order/1", "order/3", "order/9"]


def test_only_the_subject_that_fails_waits_and_keeps_its_order(service: Service, endpoint: Make) -> None:
    async def reject_the_first(request: Any, writer: asyncio.StreamWriter) -> None:
        seen = [one.event["sequence"] for one in hook.receiver.received]
        failing = request.event["subject"] == "order/1" and len(seen) < 5
        writer.write(status(500, body="no") if failing else status(204))

    hook = endpoint(reject_the_first)
    happen(service, "order/1", "order/2", "order/1", "order/3", "order/1")
    assert sorted(hook.deliver()) == ["order/1", "order/2", "order/3"]
    waits = [timedelta(seconds=6.1), timedelta(minutes=6.1)]
    assert hook.deliver(waits[0]) == ["order/1"]
    assert hook.deliver(timedelta(minutes=3)) == []
    assert hook.deliver(waits[1]) == ["order/1"] * 3
    sequences = [event["sequence"] for event in hook.receiver.events if event["subject"] == "order/1"]
    assert sequences == sorted(sequences)
    assert len(set(sequences)) == 3
    first = hook.deliveries()[-1]
    assert [(one.attempt, one.status, one.response) for one in first.attempts] == [
        (1, 500, "no"), (2, 500, "no"), (3, 204, ""),
    ]  # fmt: skip


def test_a_later_event_waits_for_the_failing_one_of_its_subject(service: Service, endpoint: Make) -> None:
    hook = endpoint(answering(status(500)))
    happen(service, "order/1")
    assert hook.deliver() == ["order/1"]
    happen(service, "order/1", "order/2")
    assert hook.deliver() == ["order/2"]
    assert hook.deliver(timedelta(seconds=7)) == ["order/1", "order/1"]
    first, _, again, later = (event["sequence"] for event in hook.receiver.events)
    assert first == again < later


def test_a_failing_endpoint_gets_one_request_at_a_time(service: Service, endpoint: Make) -> None:
    running, most = 0, 0

    async def reject(_request: Any, writer: asyncio.StreamWriter) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.2)
        running -= 1
        writer.write(status(500))

    hook = endpoint(reject)
    happen(service, *(f"order/{number}" for number in range(3)))
    assert len(hook.deliver()) == most == 3
    most = 0
    assert len(hook.deliver(timedelta(seconds=7))) == 3
    assert most == 1


def test_the_receiver_may_ask_for_a_longer_wait(service: Service, endpoint: Make) -> None:
    hook = endpoint(answering(status(429, "Retry-After: 1000"), status(503, "Retry-After: 1")))
    happen(service, "order/1")
    assert hook.deliver() == ["order/1"]
    assert hook.deliver(timedelta(seconds=999)) == []
    assert hook.deliver(timedelta(seconds=1)) == ["order/1"]
    assert hook.deliver(timedelta(seconds=200)) == []
    assert hook.deliver(timedelta(seconds=161)) == ["order/1"]
    assert hook.shown().failing_since is None


def test_an_attempt_that_fails_within_the_service_waits_like_others_and_stops_no_other(
    service: Service, endpoint: Make
) -> None:
    broken, other = endpoint(), endpoint()

    def store_secret(secret: str) -> None:
        async def store(tx: Transaction) -> None:
            sealed = await policy_of(service).vault.seal(tx, secret.encode())
            await replace_secrets(tx, broken.added.id, sealed, None, None)

        service.in_transaction(store)

    store_secret("whsec_A")  # cannot sign
    happen(service, "order/29")
    assert broken.deliver() == []
    assert [event["subject"] for event in other.receiver.events] == ["order/29"]
    [delivery] = broken.deliveries()
    assert (delivery.status, delivery.attempt, delivery.error) == (None, 1, "internal error")
    assert delivery.next_attempt_at is not None
    assert broken.shown().failing_since is not None
    store_secret(broken.added.secret or "")
    assert broken.deliver(timedelta(seconds=10)) == ["order/29"]


def test_gone_disables_until_the_owner_sets_it_active(service: Service, endpoint: Make) -> None:
    hook = endpoint(answering(status(410)))
    happen(service, "order/1")
    hook.deliver()
    happen(service, "order/1", "order/2")
    assert hook.deliver(timedelta(days=1)) == []
    assert (hook.shown().state, hook.shown().reason) == ("disabled", "the receiver responded 410 Gone")
    with pytest.raises(DomainError, match="the webhook is disabled"):
        hook.ping()
    hook.change(state="active")
    assert sorted(hook.deliver()) == ["order/1", "order/1", "order/2"]
    assert hook.shown().reason is None


def test_support_learns_that_the_resellers_own_webhook_stopped(service: Service, endpoint: Make) -> None:
    hook = endpoint(answering(status(410)))
    happen(service, "order/1")
    hook.deliver()
    [mail] = [mail for mail in deliver_mail(service) if hook.added.url in plain(mail)]
    assert mail["To"] == service.settings.support_email
    assert "Replies to this e-mail go to the customer." not in plain(mail)


def test_five_days_of_failures_pause_it_and_nothing_is_lost(service: Service, endpoint: Make) -> None:
    customer = service.customer(email_address="owner@hooks.example")
    hook = endpoint(answering(*[status(500)] * 60), customer_id=customer.id)
    for day in range(5):
        happen(service, f"order/{day}", customer_id=customer.id, type_="order.confirmed")
        hook.deliver(timedelta(days=1))
        assert hook.shown().state == "active"
    hook.deliver(timedelta(days=1.3))
    assert hook.shown().state == "paused"
    [mail] = [mail for mail in deliver_mail(service) if "paused" in str(mail["Subject"])]
    assert mail["To"] == "owner@hooks.example"
    assert hook.added.url in plain(mail)
    service.clock.advance(timedelta(minutes=5))
    [again] = send_for(service, "mail_webhook_stopped", webhook_id=hook.added.id)
    assert again["Message-ID"] == mail["Message-ID"], "mail programs detect that it is the same"
    happen(service, "order/5", customer_id=customer.id, type_="order.confirmed")
    tried = len(hook.receiver.received)
    assert hook.deliver(timedelta(days=20)) == []
    hook.receiver.script = accept
    hook.change(state="active")
    assert sorted(hook.deliver()) == [f"order/{day}" for day in range(6)]
    assert len(hook.receiver.received) == tried + 6


def test_attempts_that_are_forgotten_still_count(service: Service, endpoint: Make) -> None:
    hook = endpoint(answering(*[status(500)] * 9))
    happen(service, "order/1")
    hook.deliver()
    hook.deliver(timedelta(hours=1))
    [before] = hook.deliveries()
    assert before.attempt == len(before.attempts) == 2
    later = service.clock.now() + timedelta(days=30)
    service.in_transaction(lambda tx: forget_deliveries(tx, later, 100))
    [after] = hook.deliveries()
    assert (after.attempt, after.attempts, after.at) == (2, [], None)


def test_deliveries_can_be_repeated_and_the_endpoint_pinged(service: Service, endpoint: Make) -> None:
    hook = endpoint(types=["order.created"])
    happen(service, "order/1", "order/2", "order/3")
    hook.deliver()
    first, last = (hook.receiver.events[place]["sequence"] for place in (0, 2))
    oldest = hook.deliveries()[-1]
    again = hook.redeliver(oldest.id)
    assert (again.event, again.attempt) == (oldest.event, 0)
    assert hook.deliver() == ["order/1"]
    assert hook.replay(first + 1, last + 1000) == 2
    assert sorted(hook.deliver()) == ["order/2", "order/3"]
    ping = hook.ping()
    assert hook.deliver() == [f"webhook/{hook.added.id}"]
    assert hook.receiver.events[-1]["type"] == "webhook.ping"
    assert hook.receiver.events[-1]["id"] == ping.event
    assert hook.receiver.events[0] == hook.receiver.events[3]


def test_a_customers_replay_has_only_what_the_customer_may_see(service: Service, endpoint: Make) -> None:
    customer = service.customer()
    hook = endpoint(customer_id=customer.id)
    happen(service, "order/1", customer_id=customer.id)
    happen(service, "order/1", "order/2", customer_id=customer.id, type_="order.confirmed")
    assert sorted(hook.deliver()) == ["order/1", "order/2"]
    assert hook.replay(1, hook.receiver.events[-1]["sequence"]) == 2


def test_a_replay_that_is_asked_for_again_makes_no_second_deliveries(service: Service, endpoint: Make) -> None:
    hook = endpoint()
    happen(service, "order/1", "order/2", "order/1")
    hook.deliver()
    first, *_, last = (event["sequence"] for event in hook.receiver.events)
    assert [hook.replay(first, last) for _ in range(3)] == [3, 0, 0]
    assert len(hook.deliver()) == 3
    assert hook.replay(first, last) == 3


def test_a_replay_leaves_out_events_that_come_anyway(service: Service, endpoint: Make) -> None:
    hook = endpoint()
    happen(service, "order/1")
    hook.deliver()
    happen(service, "order/2")
    number_events(service)
    sequence = hook.receiver.events[0]["sequence"]
    assert hook.replay(sequence, sequence + 1000) == 1
    assert sorted(hook.deliver()) == ["order/1", "order/2"]


def test_the_waits_begin_anew_when_an_endpoint_is_active_again(service: Service, endpoint: Make) -> None:
    hook = endpoint(answering(*[status(500)] * 4))
    happen(service, "order/1")
    for wait in (timedelta(), timedelta(seconds=7), timedelta(minutes=7)):
        assert hook.deliver(wait) == ["order/1"]
    hook.change(state="paused")
    hook.change(state="active")
    assert hook.deliver() == ["order/1"]
    assert hook.deliver(timedelta(seconds=7)) == ["order/1"]
    assert hook.shown().failing_since is None


def test_a_failure_that_is_recorded_twice_counts_once(service: Service, endpoint: Make) -> None:
    hook = endpoint(status(500))
    happen(service, "order/1")
    hook.deliver()
    [failed] = hook.deliveries()
    now = service.clock.now()
    made: dict[str, Any] = {"attempt": 1, "at": now, "status": 500, "milliseconds": 1, "error": None, "response": ""}
    again = AttemptResult(delivery_id=failed.id, webhook_id=hook.added.id, next_attempt_at=now, **made)
    service.in_transaction(lambda tx: record_results(tx, [again], now))
    assert hook.deliveries() == [failed]


def test_what_is_being_attempted_is_not_attempted_beside_that_when_all_is_to_be_retried(
    service: Service, endpoint: Make
) -> None:
    release = asyncio.Event()

    async def hang(_request: Received, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(20):
            await release.wait()
        writer.write(status(200))

    hook = endpoint(hang)
    happen(service, "order/1", "order/1")
    number_events(service)

    async def retry_while_one_is_under_way() -> None:
        deliverer = Deliverer(service.commands, service.clock, policy_of(service).vault, sender())
        await deliverer.tick()
        await happened(lambda: len(hook.receiver.received) == 1)
        await asyncio.to_thread(hook.retry)
        await deliverer.tick()
        release.set()
        await deliver_all(deliverer)

    service.call(retry_while_one_is_under_way)
    first, second = (event["sequence"] for event in hook.receiver.events)
    assert first < second


def test_an_endpoint_that_was_away_catches_up_in_order(service: Service, endpoint: Make) -> None:
    hook = endpoint()
    hook.change(state="paused")
    for number in range(30):
        happen(service, f"order/{number % 3}")
    assert hook.deliver(timedelta(days=2)) == []
    hook.change(state="active")
    assert len(hook.deliver()) == 30
    for number in range(3):
        found = [event["sequence"] for event in hook.receiver.events if event["subject"] == f"order/{number}"]
        assert len(found) == 10
        assert found == sorted(found)


def test_one_slow_receiver_delays_no_other(service: Service, endpoint: Make) -> None:
    release = asyncio.Event()

    async def hang(_request: Any, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(20):
            await release.wait()
        writer.write(status(200))

    slow, quick = endpoint(hang), endpoint()
    happen(service, *(f"order/{number}" for number in range(40)))
    number_events(service)

    async def deliver_both() -> int:
        running = asyncio.create_task(deliver(service))
        await happened(lambda: len(quick.receiver.received) == 40)
        waiting = len(slow.receiver.received)
        release.set()
        await running
        return waiting

    assert service.call(deliver_both) == 10
    assert len(slow.receiver.received) == 40


def test_a_customer_with_many_slow_receivers_delays_no_other(service: Service, endpoint: Make) -> None:
    held: list[asyncio.Event] = []
    others_first = True

    async def hang(_request: Any, writer: asyncio.StreamWriter) -> None:
        if others_first:
            held.append(asyncio.Event())
            await held[-1].wait()
        writer.write(status(200))

    slow, other = service.customer(), service.customer()
    for _ in range(20):
        endpoint(hang, customer_id=slow.id)
    waiting = endpoint(customer_id=other.id)
    subjects = [f"order/{number}" for number in range(11)]
    happen(service, *subjects, customer_id=slow.id, type_="order.confirmed")
    number_events(service)

    async def end_one_attempt() -> None:
        nonlocal others_first
        deliverer = Deliverer(service.commands, service.clock, policy_of(service).vault, sender(post_seconds=60))
        await deliverer.tick()
        await happened(lambda: len(held) == MOST_AT_ONCE)
        await asyncio.to_thread(happen, service, "order/99", customer_id=other.id, type_="order.confirmed")
        await asyncio.to_thread(number_events, service)
        held[0].set()
        await deliverer.wait()
        await deliverer.tick()
        try:
            await happened(lambda: len(waiting.receiver.received) == 1, 10)
        finally:
            others_first = False
            for one in held:
                one.set()
            await deliver_all(deliverer)

    service.call(end_one_attempt)


def test_an_endpoint_behind_a_full_batch_of_others_gets_its_event_and_they_are_not_written(
    service: Service, endpoint: Make
) -> None:
    others = rows(
        service,
        "insert into webhook (url, types, description, state, secret, read_up_to, created_at)"
        " select 'https://other.example/', '{order.cancelled}', '', 'active', '', last, now()"
        " from event_sequence, generate_series(1, %s) returning id, read_up_to",
        BATCH,
    )
    customer = service.customer()
    hook = endpoint(customer_id=customer.id)
    happen(service, "order/1", customer_id=customer.id, type_="order.confirmed")
    assert hook.deliver() == ["order/1"]
    ids = [id_ for id_, _ in others]
    assert sorted(rows(service, "delete from webhook where id = any(%s) returning id, read_up_to", ids)) == others


def test_an_endpoint_that_keeps_up_need_not_wait_for_the_next_tick(service: Service, endpoint: Make) -> None:
    hook = endpoint()
    happen(service, *(f"order/{number}" for number in range(45)))
    number_events(service)

    async def deliver_with_one_tick_an_hour() -> None:
        deliverer = Deliverer(service.commands, service.clock, policy_of(service).vault, sender(), tick_seconds=3600)
        async with delivering(deliverer):
            await happened(lambda: len(hook.receiver.received) == 45)

    service.call(deliver_with_one_tick_an_hour)
    assert len({request.event["id"] for request in hook.receiver.received}) == 45


def test_a_killed_worker_repeats_and_loses_nothing(service: Service, endpoint: Make) -> None:
    async def hang(_request: Any, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)

    hook = endpoint(hang)
    happen(service, "order/1", "order/1", "order/2")
    number_events(service)

    async def die() -> None:
        running = asyncio.create_task(deliver(service))
        await happened(lambda: len(hook.receiver.received) == 2)
        running.cancel()

    service.call(die)
    hook.receiver.script = accept
    assert hook.deliver(timedelta(seconds=5)) == []
    assert sorted(hook.deliver(timedelta(seconds=30))) == ["order/1", "order/1", "order/2"]
    assert len({event["id"] for event in hook.receiver.events}) == 3


def test_a_customer_does_not_see_others_endpoints_and_types(service: Service, endpoint: Make) -> None:
    owner, other = service.customer(), service.customer()
    hook = endpoint(customer_id=owner.id)

    def attempt(work: Callable[[Transaction], Awaitable[Any]], problem: str) -> None:
        with pytest.raises(DomainError, match=problem):
            service.in_transaction(work)

    attempt(lambda tx: manage.show_webhook(tx, hook.added.id, other.id), f"webhook {hook.added.id} not found")
    attempt(lambda tx: manage.show_webhook(tx, 10**9), "webhook 1000000000 not found")
    attempt(lambda tx: _add(service, tx, owner, types=["order.created"]), "types: 'order.created' is not one of")
    attempt(lambda tx: _add(service, tx, None, url="https://10.0.0.1/"), "10.0.0.1 is not a public address")


def _add(service: Service, tx: Transaction, customer: Customer | None, **values: Any) -> Awaitable[CreatedWebhook]:
    wanted = WebhookRequest(**{"url": "https://example.org", "customer_id": customer and customer.id, **values})
    return manage.add_webhook(tx, policy_of(service), wanted, service.clock.now())
