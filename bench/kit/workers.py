"""Which of several workers answers a connection: found by the sockets that the system shows."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from bench.kit.http import Connection, request_text
from bench.kit.processes import BenchError
from bench.kit.product import Server

_MOST_CONNECTIONS = 200


@contextmanager
def connected_to_every_worker(server: Server) -> Iterator[dict[int, Connection]]:
    """Open connections until every worker answers one; yields them by the worker's process id."""
    found: dict[int, Connection] = {}
    with ExitStack() as stack:
        for _ in range(_MOST_CONNECTIONS):
            connection = stack.enter_context(Connection(server.host, server.port))
            connection.ask(request_text("/check-health", {}))  # by then somebody has taken it
            found.setdefault(_worker_of(server, connection), connection)
            if len(found) == len(server.workers):
                break
        else:
            raise BenchError(f"{_MOST_CONNECTIONS} connections reached {len(found)} of {len(server.workers)} workers")
        yield found


def _worker_of(server: Server, connection: Connection) -> int:
    inode = _inode(server.port, connection.local_port)
    for pid in server.workers:
        with suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    if entry.readlink().name == f"socket:[{inode}]":
                        return pid
    raise BenchError(f"none of the workers {server.workers} has the connection from port {connection.local_port}")


def _inode(server_port: int, client_port: int) -> str:
    for line in Path(f"/proc/{os.getpid()}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        ports = [int(address.rpartition(":")[2], 16) for address in fields[1:3]]
        if ports == [server_port, client_port]:
            return fields[9]
    raise BenchError("the system does not show the connection")


def warm_every_worker(server: Server, requests: Sequence[bytes]) -> None:
    """Have every worker answer every request once."""
    with connected_to_every_worker(server) as connections:
        for connection in connections.values():
            for request in requests:
                connection.ask(request)
