"""A process's open connections: limits their number and cuts stuck ones (docs/adr/0013)."""

import asyncio
import ctypes
import os
import resource
import socket
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Protocol

import structlog
from msgspec import Struct, field

from tradecounter.edge.server.client_address import UNKNOWN, counted_as, read_address
from tradecounter.edge.server.counted_log import CountedLog
from tradecounter.kit.errors import OperatorError
from tradecounter.settings import PREFIX

_INFO_BYTES = 128
_ACKNOWLEDGED = slice(120, 128)  # of Linux' `struct tcp_info`: tcpi_bytes_acked

_ATTACH_FILTER = 26  # Linux' SO_ATTACH_FILTER
_DROP_FIRST_SEGMENTS = (  # a classic BPF program; its input begins with the TCP header
    (0x30, 0, 0, 13),  # load the flags
    (0x54, 0, 0, 0x12),  # keep SYN and ACK
    (0x15, 0, 1, 0x02),  # only SYN?
    (0x06, 0, 0, 0),  # then drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # else accept the whole segment
)


def taken_bytes(transport: asyncio.Transport) -> int:
    """Return a number that changes when the client reads sent bytes.

    On Linux, this is the number of acknowledged bytes. The write buffer's size is not sufficient: the kernel accepts
    more data only when a third of a full queue was sent, which can take a slow client too long.
    """
    try:
        info = transport.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
    except (AttributeError, OSError):  # another system, or no TCP
        return -transport.get_write_buffer_size()
    return int.from_bytes(info[_ACKNOWLEDGED], "little")


def drop_new_connections(listeners: Iterable[socket.socket]) -> None:
    """Make the kernel ignore new connection attempts; existing connections are unaffected. Does nothing outside Linux.

    Closing a listening socket resets the connections in its backlog, and some have sent a request. After this call, no
    new connection arrives, so the socket can be closed when the backlog is empty. Ignored clients retry and are then
    refused. Some containers may not attach filters: there, connections of the last moment can be reset.
    """
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in _DROP_FIRST_SEGMENTS)
    program = ctypes.create_string_buffer(code)
    argument = struct.pack("HL", len(_DROP_FIRST_SEGMENTS), ctypes.addressof(program))
    if sys.platform == "linux":
        for listener in listeners:
            with suppress(OSError):
                listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, argument)


_ADDRESSES = 4  # that at least have room where few files can be opened
_MOST_LINGERING = 32  # rejected connections that stay open until the client closes them
DESCRIPTORS_KEPT_FREE = 2 * _MOST_LINGERING  # for rejected connections, files and processes


class Connection(Protocol):
    """The methods of a connection that `Connections` calls, or the server when it shuts down."""

    def cut_if_stuck(self, now: float) -> bool:
        """Cut the connection if its client has stopped reading; return whether it was cut."""
        ...

    def announce_end(self) -> None:
        """Let the next response close the connection."""
        ...


class Connections(Struct):
    """Counts connections and cuts stuck ones; trusted addresses (`trusts`) have no limit.

    The first connection starts a permanent timer in the running event loop.
    """

    most: int
    most_per_address: int
    trusts: Callable[[str | None], bool]
    sweep_seconds: float = 3.0
    _open: dict[Connection, str | None] = field(default_factory=dict)
    _by_address: Counter[str] = field(default_factory=Counter)
    _lingering: set[Connection] = field(default_factory=set)
    _sweep: asyncio.TimerHandle | None = None
    _rejected: CountedLog = field(default_factory=lambda: CountedLog("connection rejected"))
    _exhausted: CountedLog = field(default_factory=lambda: CountedLog("no file can be opened: connections are lost"))
    _stuck: CountedLog = field(default_factory=lambda: CountedLog("connection cut: its client does not read"))

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Connection]:
        return iter(list(self._open))

    def limit_to(self, most: int) -> None:
        """Accept fewer connections; one address then has at most a quarter of them, so that it shuts nobody out."""
        if most < self.most:
            self.most = most
            self.most_per_address = min(self.most_per_address, max(most // _ADDRESSES, 1))

    def admit(self, connection: Connection, peer: str | None) -> bool:
        """Count a new connection; if it exceeds a limit, log that and return False."""
        counted = None if peer is None or self.trusts(peer) else _counted(peer)
        if len(self._open) >= self.most:
            self._rejected.add(setting=f"{PREFIX}MAX_CONNECTIONS", most=str(self.most))
            return False
        if counted is not None and self._by_address[counted] >= self.most_per_address:
            self._rejected.add(setting=f"{PREFIX}MAX_CONNECTIONS_PER_ADDRESS", address=counted)
            return False
        self._open[connection] = counted
        if counted is not None:
            self._by_address[counted] += 1
        if self._sweep is None:
            self._schedule_sweep()
        return True

    def linger(self, connection: Connection) -> bool:
        """Return whether a rejected connection may stay open until its client closes it; call `forget` afterwards."""
        if len(self._lingering) >= _MOST_LINGERING:
            return False
        self._lingering.add(connection)
        return True

    def forget(self, connection: Connection) -> None:
        """Stop counting a closed connection, whether it was admitted or rejected."""
        self._lingering.discard(connection)
        counted = self._open.pop(connection, None)
        if counted is None:
            return
        self._by_address[counted] -= 1
        if not self._by_address[counted]:
            del self._by_address[counted]

    def _schedule_sweep(self) -> None:
        self._sweep = asyncio.get_running_loop().call_later(self.sweep_seconds, self._run_sweep)

    def _run_sweep(self) -> None:
        now = asyncio.get_running_loop().time()
        for connection, counted in list(self._open.items()):
            if connection.cut_if_stuck(now):
                self._stuck.add(address=counted)
        try:
            os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as error:  # the event loop does not report that it drops new connections
            self._exhausted.add(reason=error.strerror)
        self._schedule_sweep()


def _counted(peer: str) -> str:
    """Return the address for which a peer's connections are counted: an IPv4 address or an IPv6 /64."""
    address = read_address(peer)
    return UNKNOWN if address is None else counted_as(address)


log = structlog.get_logger()


def fitting_connections(wanted: int, database_connections: int) -> int:
    """Return how many client connections can be open, at most `wanted`; log a warning if fewer can.

    Increases the soft limit of open files up to the hard limit if necessary. Counts the files that are open, the
    database connections and a reserve first. Raises OperatorError if they leave no client connection.
    """
    own = sum(1 for _ in Path("/dev/fd").iterdir()) + database_connections + DESCRIPTORS_KEPT_FREE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted + own:
        return wanted
    limit = wanted + own if hard == resource.RLIM_INFINITY else min(wanted + own, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    if limit <= own:
        raise OperatorError(f"the process may open only {limit} files and needs {own} by itself: raise `ulimit -n`")
    if limit < wanted + own:
        log.warning(
            "fewer client connections than wanted: the process may not open enough files",
            setting=f"{PREFIX}MAX_CONNECTIONS",
            wanted=wanted,
            possible=limit - own,
            files=limit,
        )
    return min(wanted, limit - own)
