"""The programs on the machines, kept running as systemd would: whatever ends is started again after a second."""

import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock

from rigs.failover.namespaces import Machine

_PAUSE_SECONDS = 1.0  # before a program that ended is started again
# PostgreSQL does not run as root. The account may still read everything: Python may be in root's home.
_READING = ("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
AS_NOBODY = ("setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", *_READING)


@dataclass
class Service:
    """A program on a machine."""

    name: str
    machine: Machine
    command: Sequence[str]
    folder: Path
    environment: dict[str, str] = field(default_factory=dict)
    as_nobody: bool = False
    port: int = 0  # of a site
    wanted: bool = True
    starts: int = 0
    _process: subprocess.Popen[bytes] | None = None
    _lock: RLock = field(default_factory=RLock)

    @property
    def log(self) -> Path:
        return self.folder / f"{self.machine.name}-{self.name}.log"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_up(self) -> bool:
        """Whether a site accepts connections; True for other programs."""
        if not self.port:
            return True
        with suppress(OSError), socket.create_connection((self.machine.address, self.port), timeout=0.5):
            return True
        return False

    def ensure_running(self) -> None:
        """Start the program unless it runs or is to be down."""
        with self._lock:
            if not self.wanted or (self._process is not None and self._process.poll() is None):
                return
            with self.log.open("ab") as log:
                command = [*(AS_NOBODY if self.as_nobody else ()), *self.command]
                self._process = self.machine.start(command, log, self.environment)
            self.starts += 1

    def kill(self, number: int = signal.SIGKILL) -> None:
        """End the program without a warning; it stays down until `wanted` is set again."""
        with self._lock:
            self.wanted = False
            if self._process is not None:
                with suppress(ProcessLookupError):
                    self._process.send_signal(number)
                self._process.wait()


@contextmanager
def supervised(services: Sequence[Service]) -> Iterator[None]:
    """Keep the services running while the block runs."""

    def look() -> None:
        for service in services:
            service.ensure_running()

    with every_second(look):
        yield


@contextmanager
def every_second(look: Callable[[], None]) -> Iterator[None]:
    """Call a function again and again while the block runs; an error of it is raised at the end."""
    done = threading.Event()

    def watch() -> None:
        while True:
            look()
            if done.wait(_PAUSE_SECONDS):
                return

    with ThreadPoolExecutor(1) as pool:
        watching = pool.submit(watch)
        try:
            yield
        finally:
            done.set()
    watching.result()
