"""The whole catalogue of 20,000 products at once: as fast as from a file, and without delaying others?

Six forms: CSV and JSON, plain, zstd and gzip. Beside the rate: the first byte, for customers that asked before and for
others, and for others the last byte; how long pages take meanwhile; and the server's memory while eight download at
once, slowly.
"""

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.kit.customers import WITH_CONTRACTS, key_of
from bench.kit.figures import Row, megabytes, milliseconds
from bench.kit.http import Connection, Response, request_text
from bench.kit.load import Load, Target, in_turns, middle, press, press_at, write_requests
from bench.kit.nginx import serving_files
from bench.kit.processes import BenchError, forget_peak, peak_bytes, resident_bytes
from bench.kit.product import Server, serving
from bench.kit.reads import CSV, JSON, headers_of
from bench.kit.workbench import MEDIUM, Workbench

GOAL = 0.5
FIRST_BYTE_MS = 50
AT_ONCE = 8
MOST_SLOWER = 2
MOST_SLOWER_NEW = 2.5

_PATH = "/product?limit=0"
_DOWNLOADS = 4  # at once, for the rate
_NEWCOMERS = 20
_OTHERS_RATE = 100  # pages a second during downloads
_SLOWLY = 16_000_000  # bytes a second that each of the eight takes


@dataclass(frozen=True, slots=True)
class Form:
    """The media type and coding that a client accepts."""

    media: str
    coding: str

    @property
    def name(self) -> str:
        """As it is shown."""
        return f"{'CSV' if self.media == CSV else 'JSON'}, {'plain' if self.coding == 'identity' else self.coding}"

    def request(self, customer: int) -> bytes:
        """Return a customer's request."""
        headers = {"X-Api-Key": key_of(customer), "Accept": self.media, "Accept-Encoding": self.coding}
        return request_text(_PATH, headers)


FORMS = [Form(media, coding) for media in (CSV, JSON) for coding in ("identity", "zstd", "gzip")]


def measure(bench: Workbench) -> list[Row]:
    """Measure all of it, on one server."""
    folder = bench.place("whole-catalogue")
    store = bench.store(MEDIUM)
    with serving(store.env, folder) as server:
        # With contract prices: their prices are unique.
        newcomers = [
            _fetched(server, form, WITH_CONTRACTS[_NEWCOMERS * n : _NEWCOMERS * (n + 1)])
            for n, form in enumerate(FORMS)
        ]
        rows = [
            row
            for form, times in zip(FORMS, newcomers, strict=True)
            for row in _compared(bench, server, form, folder, times)
        ]
        return [*rows, *_first_byte_rows(server, newcomers), *_others(bench, server, folder), *_memory(server)]


def _fetch(connection: Connection, request: bytes) -> Response:
    response = connection.fetch(request)
    if response.status != 200:
        raise BenchError(f"the whole catalogue got status {response.status}")
    return response


@dataclass(frozen=True, slots=True)
class _Times:
    """The milliseconds of a response until its first byte and until its last."""

    first_byte: float
    whole: float


def _compared(bench: Workbench, server: Server, form: Form, folder: Path, newcomers: Sequence[_Times]) -> list[Row]:
    """Compare with nginx: the rate of cached responses and, without a coding, the time of one that is made."""
    with Connection(server.host, server.port) as connection:
        whole = _fetch(connection, form.request(0))
    coding = whole.headers.get("content-encoding", "identity")
    if coding != form.coding:
        raise BenchError(f"requested {form.coding}, the response is {coding}")
    encoding = {} if coding == "identity" else {"Content-Encoding": coding}
    with ExitStack() as stack:
        nginx = stack.enter_context(serving_files(folder, [whole.body], form.media, encoding))
        # A few customers of different profiles, over and over: all their responses are cached by then.
        requests = [form.request(customer) for customer in range(_DOWNLOADS)]
        ours = Target(server.host, server.port, server.pid, write_requests(folder / "ours", requests))
        files = [request_text(path, headers_of(0)) for path in nginx.paths]
        limit = Target(nginx.host, nginx.port, nginx.pid, write_requests(folder / "limit", files))
        with Connection(nginx.host, nginx.port) as connection:
            of_file = [_fetch(connection, files[0]).seconds * 1000 for _ in newcomers]
        seconds = max(1, bench.seconds // 2)
        press(ours, 1, connections=_DOWNLOADS)
        loads, limits = in_turns(
            bench.rounds,
            lambda: press(ours, seconds, connections=_DOWNLOADS),
            lambda: press(limit, seconds, connections=_DOWNLOADS),
        )
    rate = _rate(form, middle(loads), middle(limits), len(whole.body))
    return [rate] if encoding else [rate, _made(form, newcomers, of_file)]


def _made(form: Form, newcomers: Sequence[_Times], of_file: Sequence[float]) -> Row:
    first = median(times.first_byte for times in newcomers)
    ours, limit = median(times.whole for times in newcomers), median(of_file)
    return Row(
        question="Whole catalogue",
        what=f"20,000 products, {form.name}, until the last byte, for customers not seen before",
        ratio=ours / limit,
        target=f"≤ {MOST_SLOWER_NEW} × nginx",
        bound=MOST_SLOWER_NEW,
        ours=milliseconds(ours),
        limit=milliseconds(limit),
        p50=milliseconds(ours),
        p99=milliseconds(max(times.whole for times in newcomers)),
        note=f"median and worst of {len(newcomers)}; first byte {milliseconds(first)}; "
        "nginx sends a file with the same bytes",
    )


def _rate(form: Form, best: Load, most: Load, size: int) -> Row:
    return Row(
        question="Whole catalogue",
        what=f"20,000 products, {form.name}",
        ratio=best.bytes_rate / most.bytes_rate,
        target=f"≥ {GOAL} × nginx",
        goal=GOAL,
        sound=best.failed == 0,
        ours=f"{megabytes(best.bytes_rate)}/s",
        limit=f"{megabytes(most.bytes_rate)}/s",
        p50=milliseconds(best.p50),
        p99=milliseconds(best.p99),
        note=f"{megabytes(size)}; {best.failed} failed; by processor time "
        f"{best.core_rate / most.core_rate:.2f} × (core used: {best.busy:.0%}, nginx {most.busy:.0%})",
    )


def _fetched(server: Server, form: Form, customers: Sequence[int]) -> list[_Times]:
    """Return how long the responses took, each customer asking once."""
    with Connection(server.host, server.port) as connection:
        responses = (_fetch(connection, form.request(customer)) for customer in customers)
        return [_Times(response.first_byte * 1000, response.seconds * 1000) for response in responses]


def _first_byte_rows(server: Server, newcomers: Sequence[Sequence[_Times]]) -> list[Row]:
    regulars = [_fetched(server, form, [0] * _NEWCOMERS) for form in FORMS]
    return [
        Row(
            question="Whole catalogue",
            what=f"first byte, for {who}",
            ratio=max(map(_median, taken)) / FIRST_BYTE_MS,
            target=f"≤ {FIRST_BYTE_MS} ms",
            bound=1,
            p50=milliseconds(max(map(_median, taken))),
            p99=milliseconds(max(response.first_byte for times in taken for response in times)),
            note="median and worst of the slowest form; the ratio is to the target",
        )
        for who, taken in (("customers seen before", regulars), ("customers not seen before", newcomers))
    ]


def _median(times: Sequence[_Times]) -> float:
    return median(response.first_byte for response in times)


def _others(bench: Workbench, server: Server, folder: Path) -> list[Row]:
    """Measure pages while one customer downloads again and again."""
    pages = [request_text("/product?limit=100", headers_of(number)) for number in range(200)]
    target = Target(server.host, server.port, server.pid, write_requests(folder / "pages", pages))
    press(target, 1)
    before = press_at(target, _OTHERS_RATE, 2 * bench.seconds)
    rows = []
    for form in (FORMS[1], FORMS[3]):
        with _downloading(server, form):
            meanwhile = press_at(target, _OTHERS_RATE, 2 * bench.seconds)
        ratio = meanwhile.p99 / before.p99
        rows.append(
            Row(
                question="Whole catalogue",
                what=f"p99 of pages while one downloads {form.name} without pause",
                ratio=ratio,
                target=f"≤ {MOST_SLOWER} × before",
                bound=MOST_SLOWER,
                sound=meanwhile.failed == 0,
                ours=milliseconds(meanwhile.p99),
                limit=milliseconds(before.p99),
                p50=milliseconds(meanwhile.p50),
                p99=milliseconds(meanwhile.p99),
                note=f"{_OTHERS_RATE} pages a second; median before {milliseconds(before.p50)}",
            )
        )
    return rows


class _downloading:  # noqa: N801 used like a function
    """One customer downloads the catalogue again and again while the block runs."""

    def __init__(self, server: Server, form: Form) -> None:
        self._server, self._form = server, form
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        with Connection(self._server.host, self._server.port) as connection:
            while not self._stop.is_set():
                _fetch(connection, self._form.request(0))

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def _memory(server: Server) -> list[Row]:
    """Measure the memory that eight slow downloads at once add, once all eight have been here before."""
    form = FORMS[3]
    pid = server.pid
    with Connection(server.host, server.port) as connection:
        size = max(len(_fetch(connection, form.request(customer)).body) for customer in range(AT_ONCE))
    peaks = []
    for count in (1, AT_ONCE):
        before = resident_bytes(pid)
        forget_peak(pid)
        threads = [threading.Thread(target=_read_slowly, args=(server, form, n)) for n in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        peaks.append(peak_bytes(pid) - before)
    return [
        Row(
            question="Whole catalogue",
            what=f"memory that {AT_ONCE} slow downloads at once add ({form.name})",
            ratio=peaks[1] / size,
            target="≤ 1 × the response",
            bound=1,
            ours=megabytes(peaks[1]),
            limit=megabytes(size),
            note=f"one download adds {megabytes(peaks[0])}; the process then holds {megabytes(resident_bytes(pid))}",
        )
    ]


def _read_slowly(server: Server, form: Form, customer: int) -> None:
    with Connection(server.host, server.port, bytes_per_second=_SLOWLY) as connection:
        _fetch(connection, form.request(customer))
