"""Load: wrk on the other core, at full speed or at half that rate; and the resources that the tested side used."""

import json
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench.kit.processes import OTHER_CORE, BenchError, pinned, processor_seconds

CONNECTIONS = 16
PACED_CONNECTIONS = 64

Ours = TypeVar("Ours")
Limit = TypeVar("Limit")

_SCRIPT = Path(__file__).with_name("load.lua")
_TIMEOUT_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Target:
    """One side of a comparison: where it listens, its process, and the file of requests to send."""

    host: str
    port: int
    pid: int
    requests: Path


@dataclass(frozen=True, slots=True)
class Load:
    """What one round measured; times in milliseconds, `busy` the share of a core that the tested side used."""

    rate: float
    bytes_rate: float
    p50: float
    p99: float
    worst: float
    busy: float
    failed: int

    @property
    def core_rate(self) -> float:
        """Requests for each second of processor time."""
        return self.rate / self.busy if self.busy else 0.0


def write_requests(path: Path, requests: Sequence[bytes]) -> Path:
    """Write a file of requests for `load.lua`."""
    with path.open("wb") as file:
        for request in requests:
            file.write(b"%d\n" % len(request) + request)
    return path


def press(
    target: Target,
    seconds: float,
    *,
    connections: int = CONNECTIONS,
    pause_ms: int | None = None,
    cores: str = str(OTHER_CORE),
) -> Load:
    """Send requests for this many seconds, each connection as soon as it has its response or after a random pause."""
    command = pinned(wrk_command(target, seconds, connections=connections, pause_ms=pause_ms), cores)
    before = processor_seconds(target.pid)
    done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False)
    used = processor_seconds(target.pid) - before
    if done.returncode != 0:
        raise BenchError(f"wrk failed: {(done.stderr or done.stdout).strip()[-500:]}")
    return read_load(done.stdout, used)


def wrk_command(
    target: Target, seconds: float, *, connections: int = CONNECTIONS, pause_ms: int | None = None
) -> list[str]:
    """Return the command that sends a target's requests."""
    return [
        "wrk", "-t1", f"-c{connections}", f"-d{max(1, round(seconds))}s", "--timeout", "20s", "-s", str(_SCRIPT),
        f"http://{target.host}:{target.port}/", "--", str(target.requests),
        *([] if pause_ms is None else [str(pause_ms)]),
    ]  # fmt: skip


def read_load(printed: str, used_seconds: float) -> Load:
    """Return what wrk printed, with the processor seconds that the tested side used meanwhile."""
    found = json.loads(printed[printed.rindex("\n{") :])
    seconds = found["microseconds"] / 1e6
    return Load(
        rate=found["requests"] / seconds,
        bytes_rate=found["bytes"] / seconds,
        p50=found["p50"] / 1000,
        p99=found["p99"] / 1000,
        worst=found["worst"] / 1000,
        busy=used_seconds / seconds,
        failed=found["refused"] + found["broken"],
    )


def press_at(target: Target, rate: float, seconds: float) -> Load:
    """Send requests at about this rate from many connections, each pausing at random between its requests."""
    if rate <= 0:
        raise BenchError("no response arrived within a whole round")
    connections = max(1, min(PACED_CONNECTIONS, round(rate)))
    return press(target, seconds, connections=connections, pause_ms=max(1, round(1000 * connections / rate)))


def in_turns(rounds: int, ours: Callable[[], Ours], limit: Callable[[], Limit]) -> tuple[list[Ours], list[Limit]]:
    """Measure two sides alternately for this many rounds; return each side's measurements."""
    pairs = [(ours(), limit()) for _ in range(rounds)]
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def middle(loads: Sequence[Load]) -> Load:
    """Return the medians of several rounds, and all failures."""
    return Load(
        rate=median(load.rate for load in loads),
        bytes_rate=median(load.bytes_rate for load in loads),
        p50=median(load.p50 for load in loads),
        p99=median(load.p99 for load in loads),
        worst=max(load.worst for load in loads),
        busy=median(load.busy for load in loads),
        failed=sum(load.failed for load in loads),
    )
