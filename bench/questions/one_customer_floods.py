"""While one customer floods, how long do the others wait? Two floods, and three requests of others at a low rate.

One flood is 150 orders in parallel, without pause. In the other, twelve confirmations wait in parallel for a row that
is locked all the time. The others are 200 customers at a low rate; their p99 is compared with the same load just
before.
"""

import json
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.kit.customers import ADDRESS, COUNT
from bench.kit.figures import Row
from bench.kit.http import Connection, request_text
from bench.kit.load import Target, write_requests, wrk_command
from bench.kit.processes import BenchError, end
from bench.kit.product import Server, serving
from bench.kit.reads import headers_of
from bench.kit.steady import Stream, Times, p99_row, steadily
from bench.kit.store import Store
from bench.kit.workbench import Workbench
from bench.questions.place_orders import orders

PARALLEL_ORDERS = 150
CONFIRMATIONS = 12
MOST_SLOWER = 10

_FLOODING = COUNT - 1
_OTHERS = 200
_PAGE, _ACCOUNT, _ORDER = "`GET /product?limit=100`", "`GET /customer`", "`POST /order`"
_RATES = {_PAGE: 40, _ACCOUNT: 40, _ORDER: 20}  # a second
_FLOOD_SECONDS = 600  # at most: it ends with the measurement
_CREATED = 201


def measure(bench: Workbench) -> list[Row]:
    """Measure both floods on one server; a customer may have as many pending orders there as it likes."""
    folder = bench.place("one-customer-floods")
    env = bench.small.env | {"TRADECOUNTER_MAX_PENDING_ORDERS": "1000000000"}
    with serving(env, folder) as server:
        others = _Others.of(server, bench.small, folder)
        others.measured(2)
        return [
            *_rows(bench, others, f"one places {PARALLEL_ORDERS} orders in parallel", _placing(others)),
            *_rows(bench, others, f"{CONFIRMATIONS} confirmations of one wait for a locked row", _confirming(others)),
        ]


@dataclass
class _Others:
    """The customers that do not flood."""

    server: Server
    store: Store
    folder: Path
    streams: dict[str, Stream]

    @classmethod
    def of(cls, server: Server, store: Store, folder: Path) -> "_Others":
        """Return them with what they ask; an order is never sent twice, since that would create none."""
        requests = {
            _PAGE: cycle([request_text("/product?limit=100", headers_of(number)) for number in range(_OTHERS)]),
            _ACCOUNT: cycle([request_text("/customer", headers_of(number)) for number in range(_OTHERS)]),
            _ORDER: orders(list(store.products), "others", customers=_OTHERS),
        }
        return cls(server, store, folder, {what: Stream(requests[what], rate) for what, rate in _RATES.items()})

    def measured(self, seconds: float) -> dict[str, Times]:
        """Send requests for this many seconds."""
        return steadily(self.server, self.streams, seconds)

    def target(self, name: str, requests: list[bytes]) -> Target:
        """Return the server with the requests to flood it with."""
        return Target(self.server.host, self.server.port, self.server.pid, write_requests(self.folder / name, requests))


@contextmanager
def _placing(others: _Others) -> Iterator[None]:
    """Have the flooding customer place orders while the block runs."""
    request = _request("POST", "/order", _order(others.store))
    with _sent_without_pause(others.target("flood", [request]), PARALLEL_ORDERS):
        yield


@contextmanager
def _confirming(others: _Others) -> Iterator[None]:
    """Have the flooding customer confirm orders while the block runs, and wait for its credit, which is locked."""
    store = others.store
    with Connection(others.server.host, others.server.port) as connection:
        _created(connection, _order(store, auto_confirm=True))  # from now on there is a row to lock
        codes = [_created(connection, _order(store))["confirmation_code"] for _ in range(CONFIRMATIONS)]
    requests = [_request("PUT", f"/order/{code}", {}) for code in codes]
    with store.connect() as database, database.transaction():
        customer_id = store.customer_ids[_FLOODING]
        database.execute("select from credit_exposure where customer_id = %s for update", [customer_id])
        with _sent_without_pause(others.target("flood", requests), CONFIRMATIONS):
            yield


@contextmanager
def _sent_without_pause(target: Target, connections: int) -> Iterator[None]:
    command = wrk_command(target, _FLOOD_SECONDS, connections=connections)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            end(process)


def _order(store: Store, **values: Any) -> dict[str, Any]:
    items = [{"sku": product["sku"], "quantity": 1} for product in store.products[:3]]
    return {
        "customer_reference": "flood",
        "items": items,
        "billing_address": ADDRESS,
        "shipping_address": ADDRESS,
        **values,
    }


def _request(method: str, path: str, body: dict[str, Any]) -> bytes:
    headers = headers_of(_FLOODING, {"Content-Type": "application/json"})
    return request_text(path, headers, method=method, body=json.dumps(body).encode())


def _created(connection: Connection, body: dict[str, Any]) -> Any:
    response = connection.fetch(_request("POST", "/order", body))
    if response.status != _CREATED:
        raise BenchError(f"an order got status {response.status}: {response.body[:200]!r}")
    return json.loads(response.body)


def _rows(bench: Workbench, others: _Others, name: str, flood: AbstractContextManager[None]) -> list[Row]:
    calm = others.measured(2 * bench.seconds)
    with flood:
        others.measured(1)  # by then the flood is there
        meanwhile = others.measured(3 * bench.seconds)
    return [
        p99_row("One customer floods", f"others' {what} while {name}", rate, calm[what], meanwhile[what], MOST_SLOWER)
        for what, rate in _RATES.items()
    ]
