"""Processes that answer requests on one socket, and how they end: all together, or one whose work others take over."""

import signal
import socket
import threading
from multiprocessing.synchronize import Event
from typing import ClassVar

import uvicorn
from uvicorn._subprocess import spawn
from uvicorn.supervisors import multiprocess

from tradecounter.web.winding_down import Server

_LONGEST_START = 120.0  # seconds, with a large catalogue on a busy machine


class WorkerProcess(multiprocess.Process):
    """A process that answers requests."""

    all_end: ClassVar[Event]  # set when none is to go on; `WorkerProcesses` makes it

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self._all_end = self.all_end  # a class's attribute would not get to the process

    @property
    def server(self) -> uvicorn.Server:
        """The server that runs in the process."""
        if self._server is None:
            self._server = Server(self.config, self._all_end.is_set)
        return self._server

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Answer requests until told to end."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # or Ctrl-C, at the very end, would raise KeyboardInterrupt here
        super().target(sockets)

    def wait_until_ready(self, timeout: float, should_exit: threading.Event | None = None) -> bool:
        """Return whether the process comes to answer requests; it may take longer than to show that it is alive."""
        return super().wait_until_ready(max(timeout, _LONGEST_START), should_exit)


class WorkerProcesses(multiprocess.Multiprocess):
    """Uvicorn's supervisor of such processes.

    On SIGHUP it replaces them one after the other: each new one reads the settings and the program again.
    """

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        WorkerProcess.all_end = spawn.Event()
        multiprocess.Process = WorkerProcess  # type: ignore[misc]  # uvicorn has no other way to name one's own
        super().__init__(config, sockets)

    def terminate_all(self) -> None:
        """End all processes; the last one to close the sockets has clients refused."""
        WorkerProcess.all_end.set()
        super().terminate_all()
        for listening in self.sockets:
            listening.close()
