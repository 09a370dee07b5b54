"""Comparing reads with nginx: the same load on both, in turns, and the product alone at half of what it can do."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import mean

from bench.kit.customers import COUNT, key_of
from bench.kit.figures import Row, milliseconds, per_second, shown
from bench.kit.http import Connection, Response, request_text
from bench.kit.load import Load, Target, in_turns, middle, press, press_at, write_requests
from bench.kit.nginx import serving_files
from bench.kit.processes import BenchError
from bench.kit.product import Server, serving
from bench.kit.workbench import Workbench

JSON = "application/json"
CSV = "text/csv"
FILES = 50  # that represent all responses
TAIL = 3  # p99 at most this many times the median, at half load

_OK = 200
_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """A request to measure: `path_of` takes a customer number; `goal` is the required ratio to nginx."""

    question: str
    what: str
    path_of: Callable[[int], str]
    goal: float
    unchanged: bool = False  # send the entity tag of the previous response
    tail: bool = False  # whether there is a target for p99 at half load


@dataclass(frozen=True, slots=True)
class Comparison:
    """Medians of both sides; the product at half load, and nginx at that same rate, which shows what is not ours."""

    ours: Load
    limit: Load
    half: Load
    limit_half: Load

    @property
    def ratio(self) -> float:
        """Our rate as a share of nginx's."""
        return self.ours.rate / self.limit.rate


def compare(bench: Workbench, question: ReadQuestion) -> list[Row]:
    """Compare the product with nginx on the unchanged catalogue."""
    folder = bench.place(question.question.replace(" ", "-").lower())
    with ExitStack() as stack:
        server = stack.enter_context(serving(bench.small.env, folder))
        requests, responses = warmed(server, question)
        bodies = representative([response.body for response in responses])
        encoding = responses[0].headers.get("content-encoding")
        nginx = stack.enter_context(
            serving_files(
                folder, bodies, responses[0].headers.get("content-type", JSON),
                {} if encoding is None else {"Content-Encoding": encoding},
            )
        )  # fmt: skip
        ours = Target(server.host, server.port, server.pid, write_requests(folder / "ours", requests))
        files = [_file_request(nginx.host, nginx.port, path, question) for path in nginx.paths]
        limit = Target(nginx.host, nginx.port, nginx.pid, write_requests(folder / "limit", files))
        press(ours, 1)
        return rows(question, measured(bench, ours, limit), [response.body for response in responses])


def measured(bench: Workbench, ours: Target, limit: Target) -> Comparison:
    """Load both sides in turns, then both at half of our rate, in turns again."""
    loads, limits = in_turns(bench.rounds, lambda: press(ours, bench.seconds), lambda: press(limit, bench.seconds))
    best = middle(loads)
    halves, limit_halves = in_turns(
        bench.rounds,
        lambda: press_at(ours, best.rate / 2, bench.seconds),
        lambda: press_at(limit, best.rate / 2, bench.seconds / 2),
    )
    return Comparison(best, middle(limits), middle(halves), middle(limit_halves))


def headers_of(number: int, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the headers of a customer's program."""
    return {"X-Api-Key": key_of(number), "Accept": JSON, **(more or {})}


def warmed(server: Server, question: ReadQuestion) -> tuple[list[bytes], list[Response]]:
    """Send every request once; return the requests to load with, and the first responses."""
    requests, responses = [], []
    with Connection(server.host, server.port) as connection:
        for number in range(COUNT):
            request = request_text(question.path_of(number), headers_of(number))
            response = connection.fetch(request)
            if response.status != _OK:
                raise BenchError(f"{question.path_of(number)} got status {response.status}: {response.body[:200]!r}")
            if question.unchanged:
                tag = {"If-None-Match": response.headers["etag"]}
                request = request_text(question.path_of(number), headers_of(number, tag))
                if (again := connection.fetch(request)).status != _NOT_MODIFIED:
                    raise BenchError(f"{question.path_of(number)} with its entity tag got status {again.status}")
            requests.append(request)
            responses.append(response)
    return requests, responses


def representative(bodies: Sequence[bytes]) -> list[bytes]:
    """Return some bodies with about the mean size of all: from every stretch of sizes, the one nearest its mean."""
    ordered = sorted(bodies, key=len)
    count = min(FILES, len(ordered))
    stretches = [ordered[len(ordered) * n // count : len(ordered) * (n + 1) // count] for n in range(count)]
    return [min(stretch, key=lambda body: abs(len(body) - mean(map(len, stretch)))) for stretch in stretches]


def _file_request(host: str, port: int, path: str, question: ReadQuestion) -> bytes:
    request = request_text(path, headers_of(0))
    with Connection(host, port) as connection:
        response = connection.fetch(request)
        if response.status != _OK:
            raise BenchError(f"nginx responded with {response.status}")
    return (
        request_text(path, headers_of(0, {"If-None-Match": response.headers["etag"]}))
        if question.unchanged
        else request
    )


def rows(question: ReadQuestion, found: Comparison, bodies: Sequence[bytes]) -> list[Row]:
    """Return the row of the rate and, at half load, that of the tail."""
    ours, limit, half, control = found.ours, found.limit, found.half, found.limit_half
    size = 0.0 if question.unchanged else mean(map(len, bodies)) / 1000
    main = Row(
        question=question.question,
        what=question.what,
        ratio=found.ratio,
        target=f"≥ {question.goal} × nginx",
        goal=question.goal,
        sound=ours.failed == 0,
        ours=per_second(ours.rate),
        limit=per_second(limit.rate),
        p50=milliseconds(ours.p50),
        p99=milliseconds(ours.p99),
        note=f"{size:.1f} kB on average; {ours.failed} failed; by processor time "
        f"{ours.core_rate / limit.core_rate:.2f} × (core used: {ours.busy:.0%}, nginx {limit.busy:.0%})",
    )
    tail = Row(
        question=question.question,
        what=f"p99 to median at half load ({per_second(half.rate)})",
        ratio=half.p99 / half.p50,
        target=f"≤ {TAIL} × median" if question.tail else "reported",
        bound=TAIL if question.tail else None,
        sound=half.failed == 0,
        p50=milliseconds(half.p50),
        p99=milliseconds(half.p99),
        note=f"{shown(half.rate / ours.rate)} of the full rate; {half.failed} failed; nginx at the same rate: "
        f"median {milliseconds(control.p50)}, p99 {milliseconds(control.p99)}, {shown(control.p99 / control.p50)} ×",
    )
    return [main, tail]
