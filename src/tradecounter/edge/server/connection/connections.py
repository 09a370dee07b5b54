"""A process's open connections: limits their number and cuts stuck ones (docs/adr/0013)."""

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Protocol

from msgspec import Struct, field

from tradecounter.edge.server.client_address import UNKNOWN, counted_as, read_address
from tradecounter.edge.server.counted_log import CountedLog
from tradecounter.settings import PREFIX

_ADDRESSES = 4  # that at least have room where few files can be opened
_MOST_LINGERING = 32  # rejected connections that stay open until the client closes them
DESCRIPTORS_KEPT_FREE = 2 * _MOST_LINGERING  # for rejected connections, files and processes


class Connection(Protocol):
    """The methods of a connection that this module calls, or that the server calls when it shuts down."""

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
