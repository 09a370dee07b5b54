"""Worker processes, which respond to requests on one socket and end together or one at a time."""

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
    """A process that responds to requests."""

    all_end: ClassVar[Event]  # set when all processes end; `WorkerProcesses` creates it

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self._all_end = self.all_end  # the new process does not get attributes of the class

    @property
    def server(self) -> uvicorn.Server:
        """The server that runs in the process."""
        if self._server is None:
            self._server = Server(self.config, self._all_end.is_set)
        return self._server

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Respond to requests until the supervisor ends the process."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # otherwise Ctrl-C would raise KeyboardInterrupt here at the end
        super().target(sockets)

    def wait_until_ready(self, timeout: float, should_exit: threading.Event | None = None) -> bool:
        """Return whether the process gets ready for requests, for which it has longer than to respond to a ping."""
        return super().wait_until_ready(max(timeout, _LONGEST_START), should_exit)


class WorkerProcesses(multiprocess.Multiprocess):
    """Uvicorn's supervisor; on SIGHUP, it replaces the processes, which read the settings and the program again."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        WorkerProcess.all_end = spawn.Event()
        multiprocess.Process = WorkerProcess  # type: ignore[misc]  # uvicorn has no parameter for it
        super().__init__(config, sockets)

    def terminate_all(self) -> None:
        """End all processes, and close the sockets, so that new clients are refused when the last process ends."""
        WorkerProcess.all_end.set()
        super().terminate_all()
        for listening in self.sockets:
            listening.close()
