"""What one size of the catalogue costs a server."""

from dataclasses import dataclass
from itertools import product as combinations
from statistics import median
from time import perf_counter
from urllib.parse import quote_plus

from bench.kit.customers import COUNT
from bench.kit.http import Connection, request_text
from bench.kit.load import Target, press, write_requests
from bench.kit.processes import BenchError, family_bytes
from bench.kit.product import Server, serving
from bench.kit.reads import headers_of
from bench.kit.store import Store
from bench.kit.workbench import Workbench
from bench.questions.filtered_page import filters
from bench.questions.search import queries

_SORTS = ("sku", "name", "price", "availability")
_PAGES = range(1, 11)
_LIMITS = range(80, 100)
_NEW = 800  # requests never made before


@dataclass(frozen=True, slots=True)
class Grown:
    """Processor milliseconds of a page, memory in bytes, and the seconds until the first page."""

    usual_ms: float
    new_ms: float
    filtered_ms: float
    search_ms: float
    bytes_at_start: int
    bytes_after: int
    start_seconds: float


def grown(bench: Workbench, store: Store) -> Grown:
    """Measure one size."""
    folder = bench.place(f"growth-{len(store.products)}")
    usual = write_requests(
        folder / "usual", [request_text("/product?limit=100", headers_of(number)) for number in range(COUNT)]
    )
    start = perf_counter()
    with serving(store.env, folder) as server:
        _fetched(server, [request_text("/product?limit=100", headers_of(0))])
        taken = perf_counter() - start
        at_start = family_bytes(server.pid)
        _fetched(server, [request_text("/product?limit=100", headers_of(number)) for number in range(COUNT)])
        after = family_bytes(server.pid)
        target = Target(server.host, server.port, server.pid, usual)
        rates = [press(target, bench.seconds).core_rate for _ in range(bench.rounds)]
        new, filtered, searches = _new_ms(server), _filtered_ms(server, store), _search_ms(server, store)
        return Grown(1000 / median(rates), new, filtered, searches, at_start, after, taken)


def _new_ms(server: Server) -> float:
    """Return the processor time of requests that differ in sort, page and limit from all before."""
    wanted = list(combinations(_LIMITS, _PAGES, _SORTS))[:_NEW]
    requests = [
        request_text(f"/product?limit={limit}&page={page}&sort={sort}", headers_of(number * 7 % COUNT))
        for number, (limit, page, sort) in enumerate(wanted)
    ]
    return _ms(server, requests)


def _filtered_ms(server: Server, store: Store) -> float:
    """Return the processor time of requests that differ in filter, sort and limit from all before."""
    wanted = list(combinations(_LIMITS, filters(list(store.products)), ("price", "name")))[:_NEW]
    requests = [
        request_text(
            f"/product?limit={limit}&manufacturer={manufacturer}&category={category}&inStock=true&sort={sort}",
            headers_of(number * 7 % COUNT),
        )
        for number, (limit, (manufacturer, category), sort) in enumerate(wanted)
    ]
    return _ms(server, requests)


def _search_ms(server: Server, store: Store) -> float:
    """Return the processor time of searches by relevance that differ in query and limit from all before."""
    wanted = list(combinations(_LIMITS, queries(list(store.products))))[:_NEW]
    requests = [
        request_text(f"/product?limit={limit}&query={quote_plus(query)}", headers_of(number * 7 % COUNT))
        for number, (limit, query) in enumerate(wanted)
    ]
    return _ms(server, requests)


def _ms(server: Server, requests: list[bytes]) -> float:
    before = server.processor_seconds()
    _fetched(server, requests)
    return (server.processor_seconds() - before) / len(requests) * 1000


def _fetched(server: Server, requests: list[bytes]) -> None:
    with Connection(server.host, server.port) as connection:
        for request in requests:
            if (response := connection.fetch(request)).status != 200:
                raise BenchError(f"a page got status {response.status}")
