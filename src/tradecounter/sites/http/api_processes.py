"""API processes, which share a listening socket, are forked by the fork server, and are restarted when they end."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.forkserver import ensure_running
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, ClassVar

import structlog
import uvicorn
from msgspec import Struct, field
from uvicorn._subprocess import spawn, subprocess_started
from uvicorn.supervisors import multiprocess

from tradecounter.kit.digest import installed_files
from tradecounter.kit.tasks import collector_paused
from tradecounter.monitoring.metrics import FiguresFile
from tradecounter.sites.http.site import Site, site_figures
from tradecounter.sites.http.winding_down import Server

log = structlog.get_logger()

_fork_server = get_context("forkserver")
_PREPARED_FORK_SERVER = "tradecounter.sites.http.fork_server"
_LONGEST_START = 120.0  # seconds, with a large catalogue on a busy machine
_FORK_SERVER_GONE = 255  # the exit status that multiprocessing reports for a process whose fork server has ended
_LOOK_SECONDS = 0.05
_CANNOT_START = (OSError, EOFError)
_PROCESSES = Path("/proc")
_DEAD = ("Z", "X")  # states of ended processes that still have an entry


class ApiProcess(multiprocess.Process):
    """An API process; `server` is created in the new process.

    API processes are forked by multiprocessing's fork server, which has imported the program and has no threads.
    Importing is most of what a start costs, and forked processes share the memory of what was imported. Where another
    release is installed meanwhile, a new process starts from scratch and imports that (docs/adr/0030).
    """

    all_end: ClassVar[Event]  # set when all processes end; `Supervisor` creates it
    imported: ClassVar[bytes]  # the files that the fork server imports, as they were when the supervisor started
    figures_folder: ClassVar[Path | None] = None  # where the processes write their figures for the metrics

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self._started_at = ""
        # The new process does not get attributes of the class.
        self._all_end = self.all_end
        self._figures_folder = self.figures_folder
        self._from_scratch = self.process
        if self._is_unchanged() and _fork_server_runs():
            arguments = {"config": config, "target": self.target, "sockets": sockets, "stdin_fileno": None}
            self.process = _fork_server.Process(target=subprocess_started, kwargs=arguments)  # type: ignore[assignment]

    def __getstate__(self) -> dict[str, Any]:
        """Return what the new process needs: nothing of the other way to start it."""
        return {**self.__dict__, "_from_scratch": None, "process": None}

    def start(self) -> None:
        """Start the process; from scratch if the fork server fails."""
        try:
            super().start()
        except _CANNOT_START as error:
            if self.process is self._from_scratch:
                raise
            log.warning("an API process cannot be forked, so it starts from scratch", reason=repr(error))
            self.process = self._from_scratch
            super().start()
        self._started_at = _start_of(self.process.pid or 0)

    @property
    def runs(self) -> bool:
        """Whether the process runs; it outlives its fork server, from which multiprocessing would learn of its end."""
        return self.process.is_alive() or self._runs_alone

    @property
    def _runs_alone(self) -> bool:
        """Whether the process runs although its fork server has ended."""
        pid = self.process.pid or 0
        if self.process.exitcode != _FORK_SERVER_GONE or not self._started_at:
            return False
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)  # a container's first process must collect orphans
        return _start_of(pid) == self._started_at

    def terminate(self) -> None:
        """Ask the process to end; the fork server may have noticed that it has ended before the supervisor does."""
        with suppress(ProcessLookupError):
            if self._runs_alone:
                os.kill(self.process.pid or 0, signal.SIGTERM)
            super().terminate()

    def kill(self) -> None:
        """End the process at once."""
        with suppress(ProcessLookupError):
            if self._runs_alone:
                os.kill(self.process.pid or 0, signal.SIGKILL)
        super().kill()

    def join(self) -> None:
        """Wait until the process has ended."""
        super().join()
        while self._runs_alone:
            time.sleep(_LOOK_SECONDS)

    def _is_unchanged(self) -> bool:
        with suppress(OSError):  # files vanish while another release is installed
            if installed_files() == self.imported:
                return True
        log.info("another release is installed, so an API process starts from scratch")
        return False

    @property
    def server(self) -> uvicorn.Server:
        """The server that runs in the process."""
        if self._server is None:
            self._server = Server(self.config, self._all_end.is_set, self._report(), self._is_abandoned)
        return self._server

    def _report(self) -> Callable[[Site], None] | None:
        """Return what writes the figures of the process; None where nobody reads them."""
        if self._figures_folder is None:
            return None
        file = FiguresFile(self._figures_folder)
        return lambda site: file.write(site_figures(site))

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Respond to requests until the supervisor ends the process."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # otherwise Ctrl-C would raise KeyboardInterrupt here at the end
        signal.pthread_sigmask(signal.SIG_UNBLOCK, multiprocess.SIGNALS)  # the fork server has them wait
        with collector_paused():
            self.config.load()
        super().target(sockets)

    def wait_until_ready(self, timeout: float, should_exit: threading.Event | None = None) -> bool:
        """Return whether the process becomes ready; allows more time to start than to respond to a ping."""
        return super().wait_until_ready(max(timeout, _LONGEST_START), should_exit)

    def _is_abandoned(self) -> bool:
        """Return whether nobody can end this process: the supervisor was killed."""
        supervisor = parent_process()
        if supervisor is not None and supervisor.is_alive():
            return False
        log.error("the supervisor of an API process is gone, so the process stops")
        return True


def _start_of(pid: int) -> str:
    """Return when a running process started, to tell it from a later one with the same id; empty if it has ended.

    Without `/proc`, all running processes look the same.
    """
    try:
        os.kill(pid, 0)
        if not _PROCESSES.exists():
            return "unknown"
        fields = (_PROCESSES / str(pid) / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return ""
    state, start = fields[0], fields[19]
    return "" if state in _DEAD else start


def _fork_server_runs() -> bool:
    """Start the fork server unless it runs; return False where it cannot, for lack of a temporary folder.

    It inherits that signals wait, so that one that arrives while it imports does not end it.
    """
    resource_tracker.ensure_running()  # would have some signals arrive again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, multiprocess.SIGNALS)
    try:
        ensure_running()
    except OSError as error:
        log.warning("API processes cannot be forked, so each starts from scratch", reason=str(error))
        return False
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return True


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

    def failed(self, failures: int) -> None:
        """Note how many starts in a row have failed; the next one comes after a pause."""
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** min(failures - 1, 10), _LONGEST_PAUSE_SECONDS) if failures else 0.0
        self.failures, self.restart_at = failures, time.monotonic() + pause


class _Ending(threading.Event):
    """Whether the supervisor ends; also before it has handled the signal, while it replaces processes on another."""

    def __init__(self, signals: list[int]) -> None:
        super().__init__()
        self._signals = signals

    def is_set(self) -> bool:
        return super().is_set() or signal.SIGTERM in self._signals or signal.SIGINT in self._signals


class Supervisor(multiprocess.Multiprocess):
    """Restarts processes that have ended, after increasing pauses.

    Uvicorn's own supervisor ends all processes when one cannot start, for example because the database is away, and
    itself when the system has no room for a process. On SIGHUP, it replaces the processes by new ones, which read the
    settings again.
    """

    processes: list[ApiProcess]  # type: ignore[assignment]  # uvicorn's list of its own processes

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        ApiProcess.all_end = spawn.Event()
        ApiProcess.imported = installed_files()
        application = str(config.app).partition(":")[0]
        _fork_server.set_forkserver_preload([application, _PREPARED_FORK_SERVER])
        multiprocess.Process = ApiProcess  # type: ignore[misc]  # uvicorn has no parameter for it
        super().__init__(config, sockets)
        self.should_exit = _Ending(self.signal_queue)
        self._lives: dict[ApiProcess, _Life] = {}

    def handle_signals(self) -> None:
        """Do what signals ask for; processes that cannot be replaced go on."""
        try:
            super().handle_signals()
        except _CANNOT_START as error:
            log.warning("an API process cannot be started, so the others go on", reason=repr(error))

    def terminate_all(self) -> None:
        """End all processes and close the sockets; the kernel refuses new clients when the last process ends."""
        ApiProcess.all_end.set()
        super().terminate_all()
        for listening in self.sockets:
            listening.close()

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

    def _is_alive(self, process: ApiProcess, life: _Life) -> bool:
        """Return whether a process lives and responds in time; does not block."""
        if not process.runs:
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

    def _end(self, process: ApiProcess, life: _Life) -> None:
        process.kill()  # it may live and not respond
        process.join()
        life.failed(life.failures + 1 if time.monotonic() - life.began <= _SOUND_AFTER_SECONDS else 0)
        log.error("an API process ended, starting another one", ended=process.pid, exit_code=process.exitcode)

    def _restarted(self, process: ApiProcess, life: _Life) -> ApiProcess:
        """Return the process that replaces one that has ended; the same one, to try again later, if none can start."""
        try:
            new = ApiProcess(self.config, self.sockets)
            new.start()
        except _CANNOT_START as error:
            life.failed(life.failures + 1)
            log.warning("an API process cannot be started, trying again", reason=repr(error))
            return process
        del self._lives[process]
        self._lives[new] = _Life(failures=life.failures)
        return new
