"""Connections to each of several API processes, identified by their sockets."""

import os
import signal
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from bench.kit.http import Connection, request_text
from bench.kit.processes import BenchError
from bench.kit.product import Server
from bench.kit.sockets import has_socket, socket_inode

_MOST_CONNECTIONS = 200
_UNAIDED_CONNECTIONS = 50
_START_SECONDS = 180  # with a large catalogue, on one core
_POLL_SECONDS = 0.1


@contextmanager
def connected_to_every_process(server: Server) -> Iterator[dict[int, Connection]]:
    """Open connections until every API process has one; yields them by process id."""
    found: dict[int, Connection] = {}
    with ExitStack() as stack:
        for number in range(_MOST_CONNECTIONS):
            with _stopped(found if number >= _UNAIDED_CONNECTIONS else ()):
                connection = stack.enter_context(Connection(server.host, server.port))
                connection.fetch(request_text("/check-health", {}))  # a process has accepted the connection
            found.setdefault(_process_of(server, connection), connection)
            if len(found) == len(server.processes()):
                break
        else:
            raise BenchError(f"{_MOST_CONNECTIONS} connections reached only the processes {sorted(found)}")
        yield found


@contextmanager
def _stopped(processes: Iterable[int]) -> Iterator[None]:
    """Stop processes for a moment: the kernel wakes the same idle ones again and again, and others never accept."""
    stopped = list(processes)
    try:
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)


def wait_for_every_process(server: Server) -> None:
    """Wait until every API process that was asked for responds. Raises BenchError."""
    until = time.monotonic() + _START_SECONDS
    while True:
        with suppress(BenchError, OSError), connected_to_every_process(server) as connections:
            if len(connections) == server.count:
                return
        if time.monotonic() > until:
            raise BenchError(f"after {_START_SECONDS} s not all {server.count} API processes respond")
        time.sleep(_POLL_SECONDS)


def warm_every_process(server: Server, requests: Sequence[bytes]) -> None:
    """Send every request once to every API process."""
    with connected_to_every_process(server) as connections:
        # In turns, because the server closes idle connections.
        for request in requests:
            for connection in connections.values():
                connection.fetch(request)


def _process_of(server: Server, connection: Connection) -> int:
    inode = socket_inode(server.port, connection.local_port)
    for pid in server.processes():
        if has_socket(pid, inode):
            return pid
    raise BenchError(f"none of the processes has the connection from port {connection.local_port}")
