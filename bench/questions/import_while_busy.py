"""100,000 prices through the back office's API, and their roll-back, while customers read and order.

API, back office and database share both cores with the load, as on a small machine. The p99 of pages and orders is
compared with the same load just before.
"""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

from bench.kit.catalogue import write_prices
from bench.kit.figures import Row, seconds
from bench.kit.http import Connection, request_text
from bench.kit.processes import BenchError
from bench.kit.product import Server, backoffice, serving, tradecounter
from bench.kit.reads import headers_of
from bench.kit.steady import Stream, p99_row, steadily
from bench.kit.store import Store
from bench.kit.workbench import LARGE, MEDIUM, Workbench
from bench.questions.place_orders import orders

MOST_SLOWER = 2
IMPORT_SECONDS = 20

_CUSTOMERS = 200
_PAGE, _ORDER = "`GET /product?limit=100`", "`POST /order`"
_RATES = {_PAGE: 100, _ORDER: 30}  # a second
_BOTH_CORES = "0,1"
_SETTLING = 3  # seconds that are measured after the change, in which the API shows it
_RAISED_BY = 250  # pence


def measure(bench: Workbench) -> list[Row]:
    """Import and roll back, first while nobody uses the API, then with load."""
    store = bench.store(MEDIUM if bench.quick else LARGE)
    folder = bench.place("import-while-busy")
    prices = write_prices(folder / "prices.csv", store.products, raised_by=_RAISED_BY)
    token = tradecounter(store.env, "token", "add", "--name", "bench", "--scope", "prices:write")["token"]
    with (
        serving(store.env, folder, cores=_BOTH_CORES) as api,
        backoffice(store.env, folder, cores=_BOTH_CORES) as server,
    ):
        office = _Office(server, token, prices)
        streams = _streams(store)
        steadily(api, streams, 2 * bench.seconds)
        alone = [_timed(office.import_prices), _timed(office.roll_back)]
        time.sleep(_SETTLING)
        steadily(api, streams, bench.seconds)
        changes = {"import": office.import_prices, "roll-back": office.roll_back}
        return [
            row
            for (name, change), without in zip(changes.items(), alone, strict=True)
            for row in _rows(bench, api, streams, name, change, len(store.products), without)
        ]


@dataclass(slots=True)
class _Office:
    """A program of the reseller, which imports prices and rolls the last import back."""

    server: Server
    token: str
    prices: Path
    import_id: int = 0

    def import_prices(self) -> None:
        """Import the prices."""
        report = self._post("/api/import/price-list?force=true", "text/csv", self.prices.read_bytes())
        self.import_id = report["id"]

    def roll_back(self) -> None:
        """Roll the import back."""
        self._post(f"/api/import/{self.import_id}/roll-back", "application/json", b"{}")

    def _post(self, path: str, content_type: str, body: bytes) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content_type}
        with Connection(self.server.host, self.server.port) as connection:
            response = connection.fetch(request_text(path, headers, method="POST", body=body))
        if response.status != 200:
            raise BenchError(f"{path} got status {response.status}: {response.body[:300]!r}")
        return json.loads(response.body)


def _streams(store: Store) -> dict[str, Stream]:
    requests = {
        _PAGE: cycle([request_text("/product?limit=100", headers_of(number)) for number in range(_CUSTOMERS)]),
        _ORDER: orders(list(store.products), f"busy-{time.time_ns()}", customers=_CUSTOMERS),
    }
    return {what: Stream(requests[what], rate) for what, rate in _RATES.items()}


def _timed(change: Callable[[], None]) -> float:
    start = time.monotonic()
    change()
    return time.monotonic() - start


def _rows(
    bench: Workbench,
    api: Server,
    streams: dict[str, Stream],
    name: str,
    change: Callable[[], None],
    products: int,
    alone: float,
) -> list[Row]:
    calm = steadily(api, streams, 3 * bench.seconds)
    with ThreadPoolExecutor(1) as thread:
        changing = thread.submit(_timed_and_settled, change)
        meanwhile = steadily(api, streams, bench.seconds, until=changing.done)
        taken = changing.result()
    row = Row(
        question="Import while busy",
        what=f"{name} of {products:,} prices",
        ratio=taken / IMPORT_SECONDS,
        target=f"≤ {IMPORT_SECONDS} s",
        bound=1,
        ours=seconds(taken),
        limit=seconds(IMPORT_SECONDS),
        note=f"while nobody used the API {seconds(alone)}; the ratio is to the target",
    )
    return [
        row,
        *(
            p99_row(row.question, f"{what} during the {name}", rate, calm[what], meanwhile[what], MOST_SLOWER)
            for what, rate in _RATES.items()
        ),
    ]


def _timed_and_settled(change: Callable[[], None]) -> float:
    taken = _timed(change)
    time.sleep(_SETTLING)
    return taken
