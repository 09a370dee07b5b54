"""Orders of three lines, each with an idempotency key, 16 in parallel: how near to pgbench with the same statements?

Server and pgbench have the tested core in turn; the database is on the other core both times, and so is the load.
"""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from time import sleep

from bench.kit.catalogue import Product, number_of
from bench.kit.customers import ADDRESS, COUNT
from bench.kit.figures import Row, milliseconds, per_second
from bench.kit.http import Connection, request_text
from bench.kit.load import Load, Target, in_turns, middle, press, press_at, write_requests
from bench.kit.pgbench import transactions_per_second
from bench.kit.processes import BenchError
from bench.kit.product import environment, serving
from bench.kit.reads import headers_of
from bench.kit.round_trips import relayed
from bench.kit.workbench import Workbench

GOAL = 0.6
PARALLEL = 16
MOST_ROUND_TRIPS = 3

_SCRIPT = Path(__file__).parents[1] / "orders.sql"
_MOST_PER_SECOND = 4000  # requests to prepare: each has a key of its own and is sent once
_ALONE = 100
_WARM_UP = 300
_CREATED = 201


def orders(products: list[Product], run: str, customers: int = COUNT) -> Iterator[bytes]:
    """Yield endless requests of this many customers in rotation, for different products, each with its own key."""
    number = 0
    while True:
        first = number_of(f"{run}:{number}", "items") % (len(products) - 3)
        body = {
            "customer_reference": f"PO-{run}-{number}",
            "items": [{"sku": product["sku"], "quantity": 2} for product in products[first : first + 3]],
            "billing_address": ADDRESS,
            "shipping_address": ADDRESS,
        }
        headers = headers_of(
            number % customers, {"Content-Type": "application/json", "Idempotency-Key": f"{run}-{number}"}
        )
        yield request_text("/order", headers, method="POST", body=json.dumps(body).encode())
        number += 1


def measure(bench: Workbench) -> list[Row]:
    """Measure the rate, the tail at half load, and the round trips of one order."""
    folder = bench.place("place-orders")
    store = bench.small
    products = list(store.products)
    runs = iter(range(1000))

    with serving(store.env, folder) as server:

        def prepared(count: int) -> Target:
            requests = list(islice(orders(products, f"run{next(runs)}"), count))
            return Target(server.host, server.port, server.pid, write_requests(folder / "orders", requests))

        def ours() -> Load:
            return press(prepared(_MOST_PER_SECOND * bench.seconds), bench.seconds, connections=PARALLEL)

        def limit() -> float:
            return transactions_per_second(store, _SCRIPT, bench.seconds, clients=PARALLEL)

        with Connection(server.host, server.port) as connection:
            for request in islice(orders(products, "warm"), _WARM_UP):
                _created(connection, request)
        loads, rates = in_turns(bench.rounds, ours, limit)
        best, most = middle(loads), median(rates)
        half = press_at(prepared(_MOST_PER_SECOND * bench.seconds), best.rate / 2, 2 * bench.seconds)
    return [
        Row(
            question="Placing orders",
            what="`POST /order`, three lines, `Idempotency-Key`, 16 in parallel",
            ratio=best.rate / most,
            target=f"≥ {GOAL} × pgbench",
            goal=GOAL,
            sound=best.failed == 0,
            ours=per_second(best.rate),
            limit=per_second(most),
            p50=milliseconds(best.p50),
            p99=milliseconds(best.p99),
            note=f"{best.failed} failed; {best.busy:.0%} of the core used",
        ),
        Row(
            question="Placing orders",
            what=f"p99 to median at half load ({per_second(half.rate)})",
            ratio=half.p99 / half.p50,
            p50=milliseconds(half.p50),
            p99=milliseconds(half.p99),
            note=f"{half.failed} failed",
        ),
        _round_trips(bench, products),
    ]


def _round_trips(bench: Workbench, products: list[Product]) -> Row:
    folder = bench.place("round-trips")
    counts = []
    with (
        relayed(bench.small.url, folder) as (relay, url),
        serving(environment(url, folder), folder) as server,
        Connection(server.host, server.port) as connection,
    ):
        # By one customer, whose key the server knows by then: looking up a new one is no part of placing orders.
        requests = orders(products, "alone", customers=1)
        _created(connection, next(requests))
        for request in islice(requests, _ALONE):
            before = relay.round_trips
            _created(connection, request)
            sleep(0.005)  # what is done after the response counts too
            counts.append(relay.round_trips - before)
    found = median(counts)
    return Row(
        question="Placing orders",
        what="round trips to the database for one order",
        ratio=found / MOST_ROUND_TRIPS,
        target=f"≤ {MOST_ROUND_TRIPS}",
        bound=1,
        ours=f"{found:g}",
        limit=str(MOST_ROUND_TRIPS),
        note="the ratio is to the target; counted once the customer's key is known",
    )


def _created(connection: Connection, request: bytes) -> None:
    response = connection.fetch(request)
    if response.status != _CREATED:
        raise BenchError(f"an order got status {response.status}: {response.body[:200]!r}")
