"""Confirming orders, and listing a hundred of a customer's ten thousand: alone, and among a million of others."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from bench.kit.customers import COUNT
from bench.kit.figures import Row, milliseconds, per_second, shown
from bench.kit.http import Connection, request_text
from bench.kit.load import Load, Target, press, press_at, write_requests
from bench.kit.million_orders import copy_orders, place_original
from bench.kit.processes import BenchError
from bench.kit.product import Server, serving
from bench.kit.reads import headers_of
from bench.kit.store import Store
from bench.kit.workbench import Workbench
from bench.questions.place_orders import orders

OWN = 10_000
ALL = 1_000_000
TAIL = 5
MOST_SLOWER = 1.5

_CUSTOMER = 7
_CONFIRMATIONS_RATE = 50
_SPARE = 60


def measure(bench: Workbench) -> list[Row]:
    """Measure twice: before and after the others ordered."""
    store = bench.copy_of(bench.small, "orders")
    own = store.customer_ids[_CUSTOMER]
    others = [customer for customer in store.customer_ids if customer != own]
    everybody = ALL // 10 if bench.quick else ALL
    with serving(store.env, store.folder) as server, store.connect() as connection:
        place_original(server, store, _CUSTOMER)
        copy_orders(connection, OWN, [own], whole=True)
        before = [_listing(bench, server, store.folder), _confirming(bench, server, store, "before")]
        bench.say(f"copying {everybody:,} orders")
        copy_orders(connection, everybody - OWN, others, whole=False)
        after = [_listing(bench, server, store.folder), _confirming(bench, server, store, "after")]
    names = ("`GET /order?limit=100`, 10,000 own orders", f"`PUT` confirmation, {_CONFIRMATIONS_RATE} a second")
    return [
        row
        for name, alone, among in zip(names, before, after, strict=True)
        for row in _rows(f"{name}, among {everybody:,}", alone, among)
    ]


def _listing(bench: Workbench, server: Server, folder: Path) -> Load:
    requests = [request_text("/order?limit=100", headers_of(_CUSTOMER))]
    target = Target(server.host, server.port, server.pid, write_requests(folder / "listing", requests))
    press(target, 1, connections=1)
    return press(target, 2 * bench.seconds, connections=1)


def _confirming(bench: Workbench, server: Server, store: Store, run: str) -> Load:
    seconds = 2 * bench.seconds
    codes = _codes(server, store, run, _CONFIRMATIONS_RATE * seconds * 2 + _SPARE)
    requests = [
        request_text(f"/order/{code}", headers_of(number % COUNT, {"Content-Type": "application/json"}), method="PUT")
        for number, code in enumerate(codes)
    ]
    target = Target(server.host, server.port, server.pid, write_requests(store.folder / "confirming", requests))
    return press_at(target, _CONFIRMATIONS_RATE, seconds)


def _codes(server: Server, store: Store, run: str, count: int) -> Iterator[str]:
    with Connection(server.host, server.port) as connection:
        for request in islice(orders(list(store.products), f"confirm-{run}"), count):
            placed = connection.fetch(request)
            if placed.status != 201:
                raise BenchError(f"an order got status {placed.status}: {placed.body[:300]!r}")
            yield json.loads(placed.body)["confirmation_code"]


def _rows(what: str, alone: Load, among: Load) -> list[Row]:
    tail, slower = among.p99 / among.p50, among.p50 / alone.p50
    return [
        Row(
            question="Orders",
            what=what,
            ratio=tail,
            target=f"p99 ≤ {TAIL} × median",
            bound=TAIL,
            sound=among.failed == 0,
            ours=per_second(among.rate),
            p50=milliseconds(among.p50),
            p99=milliseconds(among.p99),
            note=f"{milliseconds(1000 / among.core_rate)} of the server's processor time each; {among.failed} failed",
        ),
        Row(
            question="Orders",
            what="the median of the same, to the median without the others' orders",
            ratio=slower,
            target=f"≤ {MOST_SLOWER} ×",
            bound=MOST_SLOWER,
            ours=milliseconds(among.p50),
            limit=milliseconds(alone.p50),
            note=f"p99 {shown(among.p99)} and {shown(alone.p99)} ms",
        ),
    ]
