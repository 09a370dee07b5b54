"""Workers that deliver webhooks and are killed: nothing is lost, and the order of subjects stays."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from support.command_line import SECRET, started
from support.events import number_events
from support.orders import rows
from support.receiver import OK, Received, accept, deliver, policy_of, receiving, sender, subjects
from support.service import Service
from support.waiting import happened
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.events.record import record_event
from tradecounter.kit.clock import FrozenClock, SystemClock
from tradecounter.webhooks.deliver import MOST_OF_ENDPOINT, Deliverer, deliver_all
from tradecounter.webhooks.manage import add_webhook
from tradecounter.webhooks.queries.endpoints import lock_endpoint
from tradecounter.webhooks.wire import WebhookRequest

pytestmark = pytest.mark.sweep

SUBJECTS = [f"subject/{number % 5}" for number in range(40)]


async def happen(tx: Transaction) -> None:
    for subject in SUBJECTS:
        record_event(tx, "order.created", subject, SystemClock().now(), None, {})


def test_a_killed_worker_loses_nothing_beside_another(service: Service, tmp_path: Path) -> None:
    environment = {
        "TRADECOUNTER_DATABASE_URL": service.database_url,
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TRADECOUNTER_WEBHOOK_HTTP": "true",
        "TRADECOUNTER_WEBHOOK_NETWORKS": "127.0.0.1",
    }

    async def hang(_request: Received, _writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async def kill_and_go_on() -> list[tuple[str, int]]:
        async with receiving(hang) as receiver:
            await asyncio.to_thread(
                service.in_transaction,
                lambda tx: add_webhook(tx, policy_of(service), WebhookRequest(url=receiver.url), SystemClock().now()),
            )
            await asyncio.to_thread(service.in_transaction, happen)
            await happened(lambda: len(receiver.received) == len(set(SUBJECTS)))
            await asyncio.to_thread(first.process.kill)
            receiver.script, before = accept, len(receiver.received)
            later = FrozenClock(SystemClock().now() + timedelta(minutes=1))
            await asyncio.gather(deliver(service, clock=later), deliver(service, clock=later))
            return [(one.event["subject"], one.event["sequence"]) for one in receiver.received[before:]]

    with started("worker", "--json", folder=tmp_path, environment=environment) as first:
        arrived = service.call(kill_and_go_on)
    number_events(service)
    assert sorted(arrived) == sorted(rows(service, "select subject, sequence from event"))
    for subject in set(SUBJECTS):
        found = [sequence for one, sequence in arrived if one == subject]
        assert found == sorted(found)


def test_results_that_a_stop_cannot_record_are_counted_in_the_log(own_service: Service) -> None:
    service, clock = own_service, FrozenClock(SystemClock().now())

    async def stop_without_the_table() -> int:
        async with receiving() as receiver:
            await asyncio.to_thread(
                service.in_transaction,
                lambda tx: add_webhook(tx, policy_of(service), WebhookRequest(url=receiver.url), clock.now()),
            )
            await asyncio.to_thread(service.in_transaction, happen)
            await asyncio.to_thread(number_events, service)
            deliverer = Deliverer(service.commands, clock, policy_of(service).vault, sender())
            await deliverer.tick()
            await happened(lambda: len(receiver.received) == len(set(SUBJECTS)))
            async with transaction(service.commands) as tx:
                await tx.execute(Statement("drop table webhook_attempt"))
            await deliverer.stop()
            return len(receiver.received)

    with capture_logs() as logs:
        attempts = service.call(stop_without_the_table)
    lost = [line for line in logs if line["event"].startswith("results of webhooks were not recorded")]
    assert [(line["log_level"], line["count"]) for line in lost] == [("warning", attempts)]


def test_what_is_claimed_after_a_long_wait_for_a_lock_is_attempted_once(own_service: Service) -> None:
    service, clock = own_service, FrozenClock(SystemClock().now())

    async def accept_late(_request: Received, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(1)
        writer.write(OK)

    async def happen_and_number(subject: str) -> None:
        async with transaction(service.commands) as tx:
            record_event(tx, "order.created", subject, clock.now(), None, {})
        await asyncio.to_thread(number_events, service)

    async def wait_and_claim() -> list[str]:
        async with receiving() as receiver:
            added = await asyncio.to_thread(
                service.in_transaction,
                lambda tx: add_webhook(tx, policy_of(service), WebhookRequest(url=receiver.url), clock.now()),
            )
            deliverer = Deliverer(service.commands, clock, policy_of(service).vault, sender())
            await happen_and_number("subject/1")
            await deliverer.tick()
            await deliverer.wait()
            await happen_and_number("subject/2")
            receiver.script = accept_late
            async with transaction(service.commands) as tx:
                await lock_endpoint(tx, added.id)
                ticking = asyncio.create_task(deliverer.tick())
                await asyncio.sleep(0.5)
                assert not ticking.done()
                clock.advance(timedelta(seconds=40))
            await ticking
            await deliverer.tick()
            await deliver_all(deliverer)
            return subjects(receiver.received)

    assert service.call(wait_and_claim) == ["subject/1", "subject/2"]


def test_attempts_that_end_during_a_tick_begin_the_next_one_at_once(own_service: Service) -> None:
    service, clock = own_service, FrozenClock(SystemClock().now())
    ending = asyncio.Event()

    async def accept_at_the_end(_request: Received, writer: asyncio.StreamWriter) -> None:
        await ending.wait()
        writer.write(OK)

    def happen_and_number() -> None:
        service.in_transaction(happen_to_both)
        number_events(service)

    async def happen_to_both(tx: Transaction) -> None:
        for number in range(MOST_OF_ENDPOINT + 1):
            record_event(tx, "order.created", f"order/{number}", clock.now(), None, {})
        record_event(tx, "order.confirmed", "order/0", clock.now(), None, {})

    async def end_all_while_a_tick_waits_for_a_lock() -> int:
        async with receiving(accept_at_the_end) as full, receiving() as quick:
            for receiver, type_ in ((full, "order.created"), (quick, "order.confirmed")):
                wanted = WebhookRequest(url=receiver.url, types=[type_])
                async with transaction(service.commands) as tx:
                    added = await add_webhook(tx, policy_of(service), wanted, clock.now())
            await asyncio.to_thread(happen_and_number)
            deliverer = Deliverer(service.commands, clock, policy_of(service).vault, sender(), tick_seconds=3600)
            await deliverer.tick()
            await deliverer.wait()
            async with transaction(service.commands) as tx:
                await lock_endpoint(tx, added.id)
                ticking = asyncio.create_task(deliverer.tick())
                await asyncio.sleep(0.3)
                assert not ticking.done()
                ending.set()
                await asyncio.sleep(0.3)
            await ticking
            async with asyncio.timeout(10):
                await deliverer.pause()
            await deliver_all(deliverer)
            return len(full.received)

    assert service.call(end_all_while_a_tick_waits_for_a_lock) == MOST_OF_ENDPOINT + 1
