"""Programs that a benchmark starts: pinned to a core, watched, and ended with all that they started."""

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

TESTED_CORE = 0
OTHER_CORE = 1

_GRACE_SECONDS = 10
_TICKS = os.sysconf("SC_CLK_TCK")


class BenchError(Exception):
    """A benchmark cannot continue; the message says why and what helps."""


def pin_driver() -> None:
    """Keep this process and what it starts off the core of what is tested. Raises BenchError on a single core."""
    if not {TESTED_CORE, OTHER_CORE} <= os.sched_getaffinity(0):
        raise BenchError(f"the benchmarks need the processor cores {TESTED_CORE} and {OTHER_CORE}")
    os.sched_setaffinity(0, {OTHER_CORE})


def pinned(command: Sequence[str], cores: str = str(TESTED_CORE)) -> list[str]:
    """Return a command that runs on the given cores."""
    return ["taskset", "-c", cores, *command]


@contextmanager
def running(
    command: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None, stdout: int | IO[bytes] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program while the block runs; its standard error goes to the log."""
    with log.open("ab") as errors:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout or errors, stderr=errors, env=env)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Stop a program; kill it and its children if it does not end."""
    family = family_of(process.pid)
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pid in family:
        if pid != process.pid and Path(f"/proc/{pid}").exists():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def family_of(pid: int) -> list[int]:
    """Return a process and its descendants."""
    found = [pid]
    for parent in found:
        found += children_of(parent)
    return found


def children_of(pid: int) -> list[int]:
    """Return the children of a process; none when it is gone."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text().split())
    return found


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process and its descendants have used, those that ended included."""
    return sum(map(own_processor_seconds, family_of(pid)))


def own_processor_seconds(pid: int) -> float:
    """Return the processor time that one process has used, and those of its children that ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS


def family_bytes(pid: int) -> int:
    """Return the memory that a process and its descendants have resident; what they share is counted once."""
    found = 0
    for member in family_of(pid):
        with suppress(OSError):
            found += _bytes_in(Path(f"/proc/{member}/smaps_rollup"), "Pss")
    return found


def resident_bytes(pid: int) -> int:
    """Return the memory that a process has resident."""
    return _bytes_in(Path(f"/proc/{pid}/status"), "VmRSS")


def peak_bytes(pid: int) -> int:
    """Return the most memory that a process had resident since `forget_peak`."""
    return _bytes_in(Path(f"/proc/{pid}/status"), "VmHWM")


def forget_peak(pid: int) -> None:
    """Reset the peak."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _bytes_in(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise BenchError(f"{path} shows no {name}")
