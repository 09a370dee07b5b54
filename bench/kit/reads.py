"""Comparing reads with nginx: the same load on both, in turns, and the product alone at half of what it can do."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import mean

from bench.kit.customers import COUNT, key_of
from bench.kit.figures import Row, milliseconds, per_second, shown
from bench.kit.http import Answer, Connection, request_text
from bench.kit.load import Load, Target, in_turns, middle, press, press_at, write_requests
from bench.kit.nginx import serving_files
from bench.kit.processes import BenchError
from bench.kit.product import Server, serving
from bench.kit.workbench import Workbench

JSON = "application/json"
CSV = "text/csv"
FILES = 50  # that stand for all answers
TAIL = 3  # p99 within so many times the median, at half load

_OK = 200
_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """What is asked of the product: `path_of` a customer by number. `goal` is the ratio to nginx aimed at."""

    question: str
    what: str
    path_of: Callable[[int], str]
    goal: float
    unchanged: bool = False  # ask with the entity tag of the answer that one has
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


def compare(bench: Workbench, asked: ReadQuestion) -> list[Row]:
    """Answer a question about reads on the catalogue as it is."""
    folder = bench.place(asked.question.replace(" ", "-").lower())
    with ExitStack() as stack:
        server = stack.enter_context(serving(bench.small.env, folder))
        requests, answers = warmed(server, asked)
        bodies = representative([answer.body for answer in answers])
        encoding = answers[0].headers.get("content-encoding")
        nginx = stack.enter_context(
            serving_files(
                folder, bodies, answers[0].headers.get("content-type", JSON),
                {} if encoding is None else {"Content-Encoding": encoding},
            )
        )  # fmt: skip
        ours = Target(server.host, server.port, server.pid, write_requests(folder / "ours", requests))
        files = [_file_request(nginx.host, nginx.port, path, asked) for path in nginx.paths]
        limit = Target(nginx.host, nginx.port, nginx.pid, write_requests(folder / "limit", files))
        press(ours, 1)
        return rows(asked, measured(bench, ours, limit), [answer.body for answer in answers])


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


def warmed(server: Server, asked: ReadQuestion) -> tuple[list[bytes], list[Answer]]:
    """Ask for everything once; return the requests to load with, and the first answers."""
    requests, answers = [], []
    with Connection(server.host, server.port) as connection:
        for number in range(COUNT):
            request = request_text(asked.path_of(number), headers_of(number))
            answer = connection.ask(request)
            if answer.status != _OK:
                raise BenchError(f"{asked.path_of(number)} was answered {answer.status}: {answer.body[:200]!r}")
            if asked.unchanged:
                tag = {"If-None-Match": answer.headers["etag"]}
                request = request_text(asked.path_of(number), headers_of(number, tag))
                if (again := connection.ask(request)).status != _NOT_MODIFIED:
                    raise BenchError(f"{asked.path_of(number)} with its entity tag was answered {again.status}")
            requests.append(request)
            answers.append(answer)
    return requests, answers


def representative(bodies: Sequence[bytes]) -> list[bytes]:
    """Return some bodies with about the mean size of all: from every stretch of sizes, the one nearest its mean."""
    ordered = sorted(bodies, key=len)
    count = min(FILES, len(ordered))
    stretches = [ordered[len(ordered) * n // count : len(ordered) * (n + 1) // count] for n in range(count)]
    return [min(stretch, key=lambda body: abs(len(body) - mean(map(len, stretch)))) for stretch in stretches]


def _file_request(host: str, port: int, path: str, asked: ReadQuestion) -> bytes:
    request = request_text(path, headers_of(0))
    with Connection(host, port) as connection:
        answer = connection.ask(request)
        if answer.status != _OK:
            raise BenchError(f"nginx answered {answer.status}")
    return request_text(path, headers_of(0, {"If-None-Match": answer.headers["etag"]})) if asked.unchanged else request


def rows(asked: ReadQuestion, found: Comparison, bodies: Sequence[bytes]) -> list[Row]:
    """Return the row of the rate and, at half load, that of the tail."""
    ours, limit, half, control = found.ours, found.limit, found.half, found.limit_half
    size = 0.0 if asked.unchanged else mean(map(len, bodies)) / 1000
    main = Row(
        question=asked.question,
        what=asked.what,
        ratio=found.ratio,
        target=f"≥ {asked.goal} × nginx",
        goal=asked.goal,
        sound=ours.failed == 0,
        ours=per_second(ours.rate),
        limit=per_second(limit.rate),
        p50=milliseconds(ours.p50),
        p99=milliseconds(ours.p99),
        note=f"{size:.1f} kB on average; {ours.failed} failed; by processor time "
        f"{ours.core_rate / limit.core_rate:.2f} × (core used: {ours.busy:.0%}, nginx {limit.busy:.0%})",
    )
    tail = Row(
        question=asked.question,
        what=f"p99 to median at half load ({per_second(half.rate)})",
        ratio=half.p99 / half.p50,
        target=f"≤ {TAIL} × median" if asked.tail else "reported",
        bound=TAIL if asked.tail else None,
        sound=half.failed == 0,
        p50=milliseconds(half.p50),
        p99=milliseconds(half.p99),
        note=f"{shown(half.rate / ours.rate)} of the full rate; {half.failed} failed; nginx at the same rate: "
        f"median {milliseconds(control.p50)}, p99 {milliseconds(control.p99)}, {shown(control.p99 / control.p50)} ×",
    )
    return [main, tail]
