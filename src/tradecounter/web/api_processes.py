"""API processes, which share a listening socket; they end together or one at a time."""

import signal
import socket
import threading
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import ClassVar

import uvicorn
from uvicorn._subprocess import spawn
from uvicorn.supervisors import multiprocess

from tradecounter.kit.collector import collector_paused
from tradecounter.monitoring.shared_figures import FiguresFile
from tradecounter.web.site import Site
from tradecounter.web.site_figures import site_figures
from tradecounter.web.winding_down import Server

_LONGEST_START = 120.0  # seconds, with a large catalogue on a busy machine


class ApiProcess(multiprocess.Process):
    """An API process; `server` is created in the new process."""

    all_end: ClassVar[Event]  # set when all processes end; `ApiProcesses` creates it
    figures_folder: ClassVar[Path | None] = None  # where the processes write their figures for the metrics

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        # The new process does not get attributes of the class.
        self._all_end, self._figures_folder = self.all_end, self.figures_folder

    @property
    def server(self) -> uvicorn.Server:
        """The server that runs in the process."""
        if self._server is None:
            report = None if self._figures_folder is None else _Report(FiguresFile(self._figures_folder))
            self._server = Server(self.config, self._all_end.is_set, report)
        return self._server

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Respond to requests until the supervisor ends the process."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # otherwise Ctrl-C would raise KeyboardInterrupt here at the end
        with collector_paused():
            self.config.load()
        super().target(sockets)

    def wait_until_ready(self, timeout: float, should_exit: threading.Event | None = None) -> bool:
        """Return whether the process becomes ready; allows more time to start than to respond to a ping."""
        return super().wait_until_ready(max(timeout, _LONGEST_START), should_exit)


@dataclass(frozen=True, slots=True)
class _Report:
    """Writes a process's figures."""

    file: FiguresFile

    def __call__(self, site: Site) -> None:
        self.file.write(site_figures(site))


class ApiProcesses(multiprocess.Multiprocess):
    """Uvicorn's supervisor; on SIGHUP, it replaces the processes by new ones, which read the settings again."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        ApiProcess.all_end = spawn.Event()
        multiprocess.Process = ApiProcess  # type: ignore[misc]  # uvicorn has no parameter for it
        super().__init__(config, sockets)

    def terminate_all(self) -> None:
        """End all processes and close the sockets; the kernel refuses new clients when the last process ends."""
        ApiProcess.all_end.set()
        super().terminate_all()
        for listening in self.sockets:
            listening.close()
