"""Workers that deliver webhooks and are killed: nothing is lost, and the order of subjects stays."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from support.command_line import SECRET, started
from support.events import number_events
from support.orders import rows
from support.receiver import Received, accept, deliver, policy_of, receiving
from support.service import Service
from support.waiting import happened
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.kit.clock import FrozenClock, SystemClock
from tradecounter.webhooks.manage import add_webhook
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
