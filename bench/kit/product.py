"""Driving the product: its command line, and its server on the tested core."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.kit.processes import TESTED_CORE, BenchError, children_of, pinned, processor_seconds, running
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
        """Return the processes that serve requests: itself, or its children with the listening socket."""
        if self.count == 1:
            return [self.pid]
        listening = socket_inode(self.port, None)
        return [pid for pid in children_of(self.pid) if has_socket(pid, listening)]

    def processor_seconds(self) -> float:
        """Return the processor time used so far by all its processes."""
        return processor_seconds(self.pid)


@contextmanager
def serving(
    env: Mapping[str, str], folder: Path, *, workers: int = 1, cores: str = str(TESTED_CORE)
) -> Iterator[Server]:
    """Serve while the block runs, on the tested core unless told otherwise."""
    log = folder / "serve.log"
    command = pinned([str(PROGRAM), "serve", "--port", "0", "--workers", str(workers), "--json"], cores)
    with running(command, log=log, env=env, stdout=subprocess.PIPE) as process:
        if process.stdout is None:
            raise BenchError("the server has no standard output")
        line = process.stdout.readline()
        if not line:
            raise BenchError(f"the server did not start: {log.read_text()[-500:]}")
        host, _, port = json.loads(line)["base_url"].removeprefix("http://").rpartition(":")
        yield Server(host, int(port), process.pid, workers)
