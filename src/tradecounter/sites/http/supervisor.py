"""Restarts API processes that end, also while a new one cannot start."""

import time

import structlog
from msgspec import Struct, field
from uvicorn.supervisors.multiprocess import Process

from tradecounter.sites.http.api_processes import ApiProcess, ApiProcesses

log = structlog.get_logger()

_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0
_SOUND_AFTER_SECONDS = 60.0  # a process that ran this long did not fail at its start


class _Life(Struct):
    """A process's state until its restart; `failures` counts its predecessors that ended soon after their start."""

    began: float = field(default_factory=time.monotonic)
    failures: int = 0
    restart_at: float | None = None
    pinged_at: float | None = None  # without a response so far
    has_responded: bool = False


class Supervisor(ApiProcesses):
    """Restarts processes that have ended, after increasing pauses.

    Uvicorn's own supervisor ends all processes when one cannot start, for example because the database is away.
    """

    _lives: dict[Process, _Life]

    def run(self) -> None:
        """Keep the processes running until a signal."""
        self._lives = {}
        super().run()

    def keep_subprocess_alive(self) -> None:
        """Restart processes whose pause is over."""
        for place, process in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            life = self._lives.setdefault(process, _Life())
            if life.restart_at is None and not self._is_alive(process, life):
                self._end(process, life)
            if life.restart_at is not None and time.monotonic() >= life.restart_at:
                self.processes[place] = self._restarted(process, life)

    def _is_alive(self, process: Process, life: _Life) -> bool:
        """Return whether a process lives and responds in time; does not block."""
        if not (process.runs if isinstance(process, ApiProcess) else process.process.is_alive()):
            return False
        if life.pinged_at is None:
            process.parent_conn.send(b"ping")
            life.pinged_at = time.monotonic()
        if process.parent_conn.poll():
            process.parent_conn.recv()
            life.pinged_at = None
            life.has_responded = True
            return True
        patience = self.config.timeout_worker_healthcheck if life.has_responded else _SOUND_AFTER_SECONDS
        return time.monotonic() - life.pinged_at < patience

    def _end(self, process: Process, life: _Life) -> None:
        process.kill()  # it may live and not respond
        process.join()
        now = time.monotonic()
        life.failures = 0 if now - life.began > _SOUND_AFTER_SECONDS else life.failures + 1
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** min(life.failures - 1, 10), _LONGEST_PAUSE_SECONDS)
        life.restart_at = now + (pause if life.failures else 0)
        log.error("an API process ended, starting another one", ended=process.pid, exit_code=process.exitcode)

    def _restarted(self, process: Process, life: _Life) -> Process:
        del self._lives[process]
        new = ApiProcess(self.config, self.sockets)
        new.start()
        self._lives[new] = _Life(failures=life.failures)
        return new
