"""Raw HTTP fuzzing: conversations with a service in a process of its own, directly or through a proxy.

Wrong is a 5xx that is not listed here, a response that is not HTTP, that has the id of another request or of none that
was sent, or that is missing; and afterwards an honest request that gets a wrong response, an error in the
service's log, memory beyond the bound, or descriptors that stay open.
"""

import asyncio
import itertools
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rigs.fuzz.raw_client import Held, RawResponse, hold
from rigs.fuzz.raw_conversations import Conversation, conversation
from rigs.fuzz.raw_mutations import MUTATIONS, Mutation, with_key_in_trailers
from rigs.fuzz.raw_requests import TRAILER, Buyer, RawRequest, checked_id, is_checked
from support.command_line import Running
from support.front_proxies import unused_address

AT_ONCE = 24
MOST_GROWTH_BYTES = 64 * 1024 * 1024
LONGEST_SHOWN = 2000
MOST_DESCRIPTORS = 20  # more than at the start: connections to the database, which are opened when they are needed

# The allowed statuses apart from everything below 500: the service knows no transfer coding but `chunked` (501), and
# proxies know neither other codings (501) nor other versions (505).
BY_THE_SERVICE = frozenset({501})
BY_PROXIES = frozenset({501, 505})


@dataclass(frozen=True)
class Way:
    """How conversations reach the service: its name, where to connect, and what the proxy logs."""

    name: str
    host: str
    port: int
    log: Path | None = None

    def told_of(self, address: str) -> str:
        """Return what the proxy logged of a client."""
        lines = self.log.read_text(errors="replace").splitlines() if self.log else []
        return "".join(f"\n  {line}" for line in lines if f"{address}:" in line)


@dataclass
class Report:
    """What came of a run: how many requests, which responses, and what was wrong, by what shows it again."""

    requests: int = 0
    conversations: int = 0
    responses: Counter[str] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)

    def add(self, way: Way, told: Conversation, held: Held) -> None:
        """Take in a conversation."""
        self.requests += len(told.requests)
        self.conversations += 1
        for response in held.responses:
            self.responses[f"{way.name} {response.status}{'' if response.id else ' by the proxy'}"] += 1
        found = faults_in(told, held, behind_a_proxy=way.name != "direct")
        if found:
            stream = b"".join(told.pieces)
            self.faults[told.name] = (
                f"{'; '.join(found)}\n  {told.what}, then {told.ending}, {len(told.pieces)} pieces: "
                f"{stream[:LONGEST_SHOWN]!r}{'…' if len(stream) > LONGEST_SHOWN else ''}"
            )

    def summary(self) -> str:
        """The responses by way and status, and the faults."""
        responses = [f"{count:>7}  {label}" for label, count in sorted(self.responses.items())]
        faults = [f"FAILED {name}: {what}" for name, what in self.faults.items()]
        counts = f"{self.requests:>7}  raw requests in {self.conversations} conversations, {len(faults)} failures"
        return "\n".join([*responses, counts, *faults])


def faults_in(told: Conversation, held: Held, *, behind_a_proxy: bool) -> list[str]:
    """Return what is wrong with the responses of a conversation."""
    # Proxies speak other versions, too: HAProxy responds in HTTP/2, and nginx in HTTP/0.9, which has no head.
    other_version = behind_a_proxy and told.mutated is not None
    is_broken = held.broken and told.ending == "wait" and not other_version
    faults = [f"the response to {told.what} is {held.broken}"] if is_broken else []
    for response in held.responses:
        allowed = BY_PROXIES if behind_a_proxy and not response.id else BY_THE_SERVICE
        if response.status >= 500 and response.status not in allowed:
            faults.append(f"{response.status}: {response.body[:200]!r}")
    return [*faults, *_misattributed(told, held.responses), *_missing(told, held)]


def _misattributed(told: Conversation, responses: Sequence[RawResponse]) -> Iterator[str]:
    """Yield what is wrong with the ids: each must be one of the requests', in their order."""
    places = {request_id: place for place, request_id in enumerate(told.ids)}
    last = -1
    for response in responses:
        if not is_checked(response.id):  # the service's own id for what it could not read, or a mutated one
            continue
        place = places.get(response.id)
        if f".{TRAILER}" in response.id:
            yield "a trailer counts as a header: X-Request-Id"
        elif place is None and (told.mutated is None or not response.id.startswith(f"{told.name}.")):
            yield f"a response has the id {response.id!r}, which no request had"
        elif place is not None:
            if place <= last:
                yield f"the response to {response.id!r} comes after that to request {last + 1}"
            last = place
            if place == told.mutated and told.what == with_key_in_trailers.__name__ and response.status != 401:
                yield f"a trailer counts as a header: with X-Api-Key the status is {response.status}"


def _missing(told: Conversation, held: Held) -> Iterator[str]:
    """Yield what is wrong with the responses to the requests before a mutated one; all have to come."""
    if told.ending != "wait":
        return
    is_cut_off = told.mutated is not None and held.closed  # rejecting what cannot be read may end what came before
    for place, request in enumerate(told.sound):
        if place >= len(held.responses):
            if not is_cut_off:
                how = "the connection was closed" if held.closed else "nothing came"
                yield f"no response to request {place + 1}, {request.method} {request.target}: {how}"
            return
        response = held.responses[place]
        if is_cut_off and response.id != request.id:
            return
        yield from _wrong(request, response)


def _wrong(request: RawRequest, response: RawResponse) -> Iterator[str]:
    if response.id != request.id:
        yield f"the response to {request.id} has the id {response.id!r}"
    if response.status not in request.expected:
        yield f"{request.method} {request.target} got {response.status}: {response.body[:200]!r}"
    elif response.status == 200 and request.holds not in response.body:
        yield f"the response to {request.method} {request.target} is another one's: {response.body[:200]!r}"


class Fuzz:
    """A run against one service."""

    def __init__(self, service: Running, buyers: Sequence[Buyer], mutations: Sequence[Mutation] = MUTATIONS) -> None:
        self.report = Report()
        self._pid = service.process.pid
        self._service = service
        self._buyers = buyers
        self._mutations = mutations
        self._honest = itertools.count(1)
        self._resident = 0
        self._descriptors = 0

    def warm_up(self, way: Way) -> None:
        """Send the requests of `run` once, so that growth is counted when everything is loaded."""
        self.batch(Way("warm-up", way.host, way.port), 0, range(AT_ONCE * 2), mutations=())
        self._resident, self._descriptors = resident_bytes(self._pid), open_descriptors(self._pid)

    def batch(self, way: Way, seed: int, numbers: Sequence[int], mutations: Sequence[Mutation] | None = None) -> None:
        """Hold some conversations, many at a time; then send honest requests, and check the service."""
        asyncio.run(self._hold(way, seed, numbers, self._mutations if mutations is None else mutations))
        self._look_after(f"{way.name} after conversation {numbers[-1]} of seed {seed}")

    async def _hold(self, way: Way, seed: int, numbers: Sequence[int], mutations: Sequence[Mutation]) -> None:
        free = asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with free:
                told, address = conversation(seed, way.name, number, self._buyers, mutations), unused_address()
                addresses[told.name] = address
                self.report.add(way, told, await hold(told, way.host, way.port, address))

        addresses: dict[str, str] = {}
        await asyncio.gather(*map(one, numbers))
        for failed in addresses.keys() & self.report.faults.keys():
            self.report.faults[failed] += way.told_of(addresses[failed])
        name = f"{way.name} after conversation {numbers[-1]} of seed {seed}"
        for buyer in self._buyers:
            told = _honestly(buyer, f"honest.{next(self._honest)}")
            held = await hold(told, way.host, way.port, unused_address())
            found = faults_in(told, held, behind_a_proxy=way.name != "direct")
            if found:
                self.report.faults[name] = f"an honest request: {'; '.join(found)}"

    def _look_after(self, name: str) -> None:
        if self._service.process.poll() is not None:
            self.report.faults[name] = f"the service ended: {self._service.logs[-3:]}"
            return
        errors, self._service.logs[:] = [line for line in self._service.logs if is_error(line)], []
        if errors:
            kinds = Counter(map(kind_of, errors))
            self.report.faults[f"{name}, log"] = "; ".join(f"{count} times {kind}" for kind, count in kinds.items())
        grown = peak_bytes(self._pid) - self._resident
        if self._resident and grown > MOST_GROWTH_BYTES:
            self.report.faults[f"{name}, memory"] = f"{grown / 1e6:.0f} MB more than at the start"
            forget_peak(self._pid)

    def settle(self) -> None:
        """Look at what stays open once all clients and proxies are gone."""
        for _ in range(100):
            left = open_descriptors(self._pid) - self._descriptors
            if left <= MOST_DESCRIPTORS:
                return
            time.sleep(0.1)
        self.report.faults["descriptors"] = f"{left} more are open than at the start"


def _honestly(buyer: Buyer, name: str) -> Conversation:
    headers = (("Host", "shop.example"), ("X-Api-Key", buyer.key), ("X-Request-Id", checked_id(name)))
    request = RawRequest(checked_id(name), "GET", "/customer", headers, holds=buyer.email.encode())
    return Conversation(name, (request,), (request.data,), "wait", None, "honest")


def is_error(line: str) -> bool:
    """Whether a line of the service's log tells of an error, or is no line of the log at all, as a bare traceback."""
    try:
        entry = json.loads(line)
    except ValueError:
        return bool(line.strip())
    return entry.get("level") in {"error", "critical"} or "exception" in entry


def kind_of(line: str) -> str:
    """Return what a line of the log tells, without what differs each time."""
    try:
        entry = json.loads(line)
    except ValueError:
        return line.strip()[:200]
    causes = [f"{cause['exc_type']}: {cause['exc_value']}" for cause in entry.get("exception", [])]
    told = ": ".join([str(entry.get("event", "")).strip(), *causes, str(entry.get("reason", ""))])
    return re.sub(r"0x[0-9a-f]+|[0-9]+", "…", told)[:300]


def resident_bytes(pid: int) -> int:
    """Return the memory that a process has resident."""
    return _status(pid, "VmRSS")


def peak_bytes(pid: int) -> int:
    """Return the most memory that a process had resident since `forget_peak`."""
    return _status(pid, "VmHWM")


def forget_peak(pid: int) -> None:
    """Count the peak from now on."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def open_descriptors(pid: int) -> int:
    """Return how many file descriptors a process has open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))
