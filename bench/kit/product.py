"""Driving the product: its command line, and its services on the tested core."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.kit.processes import TESTED_CORE, BenchError, family_of, pinned, processor_seconds, running
from bench.kit.sockets import has_socket, socket_inode

PROGRAM = Path(sys.executable).with_name("tradecounter")

_COMMAND_SECONDS = 300
_START_SECONDS = 60
# Requests are counted against the limit as always; it is only never reached.
_RATE_LIMIT = 1_000_000_000


def environment(database_url: str, folder: Path) -> dict[str, str]:
    """Return the settings under which the product runs; nothing of the caller's reaches it."""
    return {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": str(folder),
        "TRADECOUNTER_DATABASE_URL": database_url,
        "TRADECOUNTER_DATA_DIR": str(folder / "data"),
        "TRADECOUNTER_SECRET_KEY": "0123456789abcdef" * 4,
        "TRADECOUNTER_RATE_LIMIT": str(_RATE_LIMIT),
    }


def tradecounter(env: Mapping[str, str], *words: str | Path, nice: int = 0) -> Any:
    """Run a command and return what it printed as JSON. Raises BenchError when the command fails."""
    command = [*(["nice", "-n", str(nice)] if nice else []), str(PROGRAM), *map(str, words), "--json"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False)
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip())[-500:]
        raise BenchError(f"`{' '.join(map(str, words[:3]))}` failed: {reason}")
    return json.loads(done.stdout)


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its address, its process, and how many processes serve."""

    host: str
    port: int
    pid: int
    count: int

    def processes(self) -> list[int]:
        """Return the processes that serve requests: itself, or its descendants with the listening socket."""
        if self.count == 1:
            return [self.pid]
        listening = socket_inode(self.port, None)
        return [pid for pid in family_of(self.pid)[1:] if has_socket(pid, listening)]

    def processor_seconds(self) -> float:
        """Return the processor time used so far by all its processes."""
        return processor_seconds(self.pid)


@contextmanager
def serving(
    env: Mapping[str, str],
    folder: Path,
    *,
    workers: int = 1,
    cores: str = str(TESTED_CORE),
    program: Sequence[str | Path] = (PROGRAM,),
) -> Iterator[Server]:
    """Serve the API while the block runs, on the tested core unless told otherwise."""
    command = [*map(str, program), "serve", "--port", "0", "--workers", str(workers)]
    with _announced(command, env, folder, cores) as (pid, line):
        yield _server(pid, line, workers)


@contextmanager
def backoffice(env: Mapping[str, str], folder: Path, *, cores: str = str(TESTED_CORE)) -> Iterator[Server]:
    """Serve the back office while the block runs."""
    with _announced([str(PROGRAM), "backoffice", "--port", "0"], env, folder, cores) as (pid, line):
        yield _server(pid, line, 1)


@contextmanager
def working(env: Mapping[str, str], folder: Path, *, cores: str = str(TESTED_CORE)) -> Iterator[int]:
    """Run a worker while the block runs; yields its process id."""
    with _announced([str(PROGRAM), "worker"], env, folder, cores) as (pid, _):
        yield pid


@contextmanager
def _announced(
    command: list[str], env: Mapping[str, str], folder: Path, cores: str
) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Run a service while the block runs; yields its process id and the line with which it says that it is ready."""
    log = folder / "services.log"
    with running(pinned([*command, "--json"], cores), log=log, env=env, stdout=subprocess.PIPE) as process:
        line = process.stdout.readline() if process.stdout is not None else b""
        if not line:
            raise BenchError(f"`{' '.join(command[1:3])}` did not start: {log.read_text()[-500:]}")
        yield process.pid, json.loads(line)


def _server(pid: int, announced: Mapping[str, Any], workers: int) -> Server:
    host, _, port = announced["base_url"].removeprefix("http://").rpartition(":")
    return Server(host, int(port), pid, workers)
