"""Finds the process that owns a socket, from /proc."""

from contextlib import suppress
from pathlib import Path

from bench.kit.processes import BenchError

_LISTENING = "0A"


def socket_inode(port: int, peer: int | None) -> str:
    """Return the inode of a TCP socket: the one to a peer's port, or the listening one without a peer."""
    for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        local, remote = (int(address.rpartition(":")[2], 16) for address in fields[1:3])
        if local == port and (fields[3] == _LISTENING if peer is None else remote == peer):
            return fields[9]
    raise BenchError(f"the system shows no such socket on port {port}")


def has_socket(pid: int, inode: str) -> bool:
    """Return whether a process has a socket open."""
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                if entry.readlink().name == f"socket:[{inode}]":
                    return True
    return False
