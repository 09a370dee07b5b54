"""Several processes that answer requests on one socket, and the one that starts, restarts and ends them."""

import socket
import threading
import time
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from typing import ClassVar

import structlog
import uvicorn
from uvicorn._subprocess import spawn
from uvicorn.supervisors import multiprocess

from tradecounter.web.winding_down import Server

log = structlog.get_logger()

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0
_SOUND_AFTER_SECONDS = 60.0  # a process that lived as long as that did not fail at its start
_LONGEST_START = 120.0  # seconds, with a large catalogue on a busy machine


class Worker(multiprocess.Process):
    """A process that answers requests."""

    all_end: ClassVar[Event]  # set when no worker is to go on; `Supervisor` makes it

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self._all_end = self.all_end  # a class's attribute would not get to the process

    @property
    def server(self) -> uvicorn.Server:
        """The server that runs in the process."""
        if self._server is None:
            self._server = Server(self.config, self._all_end.is_set)
        return self._server

    def wait_until_ready(self, timeout: float, should_exit: threading.Event | None = None) -> bool:
        """Return whether the process comes to answer requests; it may take longer than to show that it is alive."""
        return super().wait_until_ready(max(timeout, _LONGEST_START), should_exit)


@dataclass(slots=True)
class _Life:
    """A process from its start to its restart; `failures` are those before it that ended soon."""

    began: float
    failures: int = 0
    restart_at: float | None = None
    asked_at: float | None = None  # whether it is alive, and there is no answer yet
    has_answered: bool = False


class Supervisor(multiprocess.Multiprocess):
    """Starts workers, and starts one again that has ended, however often, after a pause that grows.

    Uvicorn's own supervisor ends, and all workers with it, when one cannot start, as while the database is away. On
    SIGHUP it replaces them one after the other: each new one reads the settings and the program again.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        Worker.all_end = spawn.Event()
        multiprocess.Process = Worker  # type: ignore[misc]  # uvicorn has no other way to name one's own
        super().__init__(config, sockets)
        self._lives: dict[multiprocess.Process, _Life] = {}

    def keep_subprocess_alive(self) -> None:
        """Start workers again whose time has come."""
        for place, process in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            life = self._lives.setdefault(process, _Life(time.monotonic()))
            if life.restart_at is None and not self._is_alive(process, life):
                self._end(process, life)
            if life.restart_at is not None and time.monotonic() >= life.restart_at:
                self.processes[place] = self._restarted(process, life)

    def terminate_all(self) -> None:
        """End all workers; the last one to close the sockets has clients refused."""
        Worker.all_end.set()
        super().terminate_all()
        for listening in self.sockets:
            listening.close()

    def _is_alive(self, process: multiprocess.Process, life: _Life) -> bool:
        """Return whether a process is there and answers in time, without waiting for it."""
        if not process.process.is_alive():
            return False
        if life.asked_at is None:
            process.parent_conn.send(b"ping")
            life.asked_at = time.monotonic()
        if process.parent_conn.poll():
            process.parent_conn.recv()
            life.asked_at, life.has_answered = None, True
            return True
        patience = self.config.timeout_worker_healthcheck if life.has_answered else _SOUND_AFTER_SECONDS
        return time.monotonic() - life.asked_at < patience

    def _end(self, process: multiprocess.Process, life: _Life) -> None:
        process.kill()  # it may be there and not answer
        process.join()
        now = time.monotonic()
        life.failures = 0 if now - life.began > _SOUND_AFTER_SECONDS else life.failures + 1
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** min(life.failures - 1, 10), _LONGEST_PAUSE_SECONDS)
        life.restart_at = now + (pause if life.failures else 0)
        log.error("a worker process ended, another is started", pid=process.pid, exit_code=process.exitcode)

    def _restarted(self, process: multiprocess.Process, life: _Life) -> multiprocess.Process:
        del self._lives[process]
        new = Worker(self.config, self.sockets)
        new.start()
        self._lives[new] = _Life(time.monotonic(), life.failures)
        return new
