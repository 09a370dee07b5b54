"""Webhooks: how many deliveries a minute does one worker make to receivers that accept everything at once?

The worker has the tested core; the database and the receiver have the other one.
"""

import time
from contextlib import ExitStack

from bench.kit.event_log import TYPES, append_events
from bench.kit.figures import Row, milliseconds, shown
from bench.kit.processes import BenchError, processor_seconds
from bench.kit.product import environment, tradecounter, working
from bench.kit.receiver import Receiver, receiving
from bench.kit.store import Store
from bench.kit.workbench import Workbench

GOAL = 10_000  # a minute
ENDPOINTS = 20

_DELIVERIES, _DELIVERIES_QUICK = 10_000, 1000  # at all endpoints
_MOST_SECONDS = 300
_SETTINGS = {"TRADECOUNTER_WEBHOOK_HTTP": "true", "TRADECOUNTER_WEBHOOK_NETWORKS": "127.0.0.0/8"}


def measure(bench: Workbench) -> list[Row]:
    """Measure one endpoint, and many."""
    return [_row(bench, 1), _row(bench, ENDPOINTS)]


def _row(bench: Workbench, endpoints: int) -> Row:
    store = bench.copy_of(bench.small, f"webhooks-{endpoints}")
    env = environment(store.url, store.folder) | _SETTINGS
    count = _DELIVERIES_QUICK if bench.quick else _DELIVERIES
    # Not all types: the worker expires the pending orders of earlier questions meanwhile.
    types = [word for each in TYPES for word in ("--type", each)]
    with ExitStack() as stack:
        receiver = stack.enter_context(receiving())
        for number in range(endpoints):
            tradecounter(env, "webhook", "add", f"http://127.0.0.1:{receiver.port}/{number}", *types)
        with store.connect() as connection:
            append_events(connection, count // endpoints, store.customer_ids)
        database_used = -processor_seconds(bench.postgres_pid)
        worker = stack.enter_context(working(env, store.folder))
        started_with = processor_seconds(worker)
        _wait_for(receiver, store, 1)
        start = time.perf_counter()
        _wait_for(receiver, store, count)
        lasted = time.perf_counter() - start
        _wait_until_recorded(store)
        worker_used = processor_seconds(worker) - started_with
        database_used += processor_seconds(bench.postgres_pid)
        failed = _failed(store)
    a_minute = 60 * count / lasted
    return Row(
        question="Webhooks",
        what=f"deliveries a minute to {endpoints} endpoint{'s' if endpoints > 1 else ''}",
        ratio=a_minute / GOAL,
        target=f"≥ {GOAL:,}",
        goal=1,
        sound=not failed,
        ours=shown(a_minute),
        limit=f"{GOAL:,}",
        figure=shown(a_minute),
        note=f"for each delivery, {milliseconds(1000 * worker_used / count)} of the worker's processor time and "
        f"{milliseconds(1000 * database_used / count)} of the database's; {failed} failed",
    )


def _wait_for(receiver: Receiver, store: Store, count: int) -> None:
    give_up = time.monotonic() + _MOST_SECONDS
    while receiver.accepted < count:
        if time.monotonic() > give_up:
            log = (store.folder / "services.log").read_text()
            raise BenchError(f"{receiver.accepted} deliveries after {_MOST_SECONDS} s: {log[-500:]}")
        time.sleep(0.01)


def _wait_until_recorded(store: Store) -> None:
    give_up = time.monotonic() + _MOST_SECONDS
    with store.connect() as connection:
        while connection.execute(
            "select exists (select from webhook_delivery where delivered_at is null)"
        ).fetchone() == (True,):
            if time.monotonic() > give_up:
                raise BenchError(f"deliveries are not recorded after {_MOST_SECONDS} s")
            time.sleep(0.1)


def _failed(store: Store) -> int:
    with store.connect() as connection:
        [(count,)] = connection.execute(
            "select count(*) from webhook_attempt where status is distinct from 200"
        ).fetchall()
    return int(count)
