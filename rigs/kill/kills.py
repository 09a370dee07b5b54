"""Processes of the program, and a PostgreSQL server, which are killed and started again at random.

Nothing of this is pretended: processes get a real SIGKILL, and the server ends as in a power failure.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Protocol

from support.command_line import SECRET, Running, started
from support.processes import kill_server
from tradecounter.db.embedded import EmbeddedPostgres

_FIRST_LIFE_SECONDS = 0.5
_SUPERVISOR_PAUSE = 0.5  # seconds before a process that could not start is started again
_MOST_STARTS = 60


class Target(Protocol):
    """Something that can be killed and started again; `pause` is how long it lives on average, in seconds."""

    name: str
    pause: float
    kills: int

    def kill(self) -> None: ...

    def start(self) -> None: ...


class Process:
    """A service in a process of its own; a site keeps its address."""

    def __init__(self, command: str, pause: float, folder: Path, environment: Mapping[str, str]) -> None:
        self.name = command
        self.pause = pause
        self.kills = 0
        self.base_url = ""
        self._folder = folder
        self._environment = environment
        self._stack = ExitStack()
        self._running: Running | None = None

    def start(self) -> None:
        """Start it and wait until it is ready; again and again, as supervisors do, while the database is away."""
        words = [self.name, "--json"]
        if self.name != "worker":
            words += ["--port", self.base_url.rpartition(":")[2] or "0"]
        for _ in range(_MOST_STARTS):
            running = self._stack.enter_context(
                started(*words, folder=self._folder, environment=self._environment, wait=False)
            )
            assert running.process.stdout is not None
            running.first_line = running.process.stdout.readline()
            if running.first_line:
                self._running = running
                self.base_url = running.announced.get("base_url", "")
                return
            self._stack.close()
            time.sleep(_SUPERVISOR_PAUSE)
        raise AssertionError(f"{self.name} does not start: {running.logs}")

    def kill(self) -> None:
        """End it without a warning."""
        assert self._running is not None
        os.kill(self._running.process.pid, signal.SIGKILL)
        self._stack.close()
        self.kills += 1

    def stop(self) -> None:
        """End it as it should be ended."""
        self._stack.close()


class DatabaseServer:
    """An embedded PostgreSQL that this process has started; it must be durable."""

    def __init__(self, server: EmbeddedPostgres, pause: float) -> None:
        self.name = "PostgreSQL"
        self.pause = pause
        self.kills = 0
        self._server = server

    def kill(self) -> None:
        """Stop it immediately, without a checkpoint; all transactions under way are lost."""
        postmaster = self._server.postmaster
        assert postmaster is not None
        kill_server(postmaster, signal.SIGQUIT)
        self.kills += 1

    def start(self) -> None:
        """Start it; it recovers from its log."""
        self._server.restart()


@contextmanager
def running_processes(
    commands: Sequence[str], pause: float, database_url: str, folder: Path, **settings: str
) -> Iterator[list[Process]]:
    """Processes of the program on one database while the block runs."""
    environment = {
        "TRADECOUNTER_DATABASE_URL": database_url,
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TRADECOUNTER_DATA_DIR": str(folder),
        **{f"TRADECOUNTER_{name.upper()}": value for name, value in settings.items()},
    }
    processes = [Process(command, pause, folder, environment) for command in commands]
    try:
        with ThreadPoolExecutor(len(processes)) as starters:
            list(starters.map(Process.start, processes))
        yield processes
    finally:
        for process in processes:
            process.stop()


@contextmanager
def under_fire(targets: Sequence[Target], seed: int) -> Iterator[None]:
    """Kill each target and start it again, over and over, while the block runs; all of them run when it ends."""
    done = threading.Event()

    def fire_at(target: Target, chance: Random) -> None:
        life = chance.uniform(0, _FIRST_LIFE_SECONDS)
        while not done.wait(life):
            target.kill()
            time.sleep(chance.uniform(0, _FIRST_LIFE_SECONDS))
            target.start()
            life = chance.uniform(0, 2 * target.pause)

    with ThreadPoolExecutor(len(targets)) as gunmen:
        fires = [gunmen.submit(fire_at, t, Random(seed + n)) for n, t in enumerate(targets)]  # noqa: S311 no secret
        try:
            yield
        finally:
            done.set()
        for fire in fires:
            fire.result()
