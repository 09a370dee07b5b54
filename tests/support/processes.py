"""Processes that tests end, outlive or inherit."""

import ctypes
import os
import signal
from contextlib import suppress
from pathlib import Path

from support.waiting import wait_for


def kill_server(pid: int, number: int = signal.SIGKILL) -> None:
    """End a postmaster that a user started, and wait until nothing is left of it, whatever runs as process 1 here."""
    os.kill(pid, number)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    wait_for(lambda: not Path(f"/proc/{pid}").exists())


def adopt_orphans() -> None:
    """Let this process inherit the servers that its child processes start (Linux)."""
    set_child_subreaper = 36
    ctypes.CDLL(None).prctl(set_child_subreaper, 1)


def alive(pid: int) -> bool:
    """Whether a process runs; one that ended and was not yet waited for does not."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def children(pid: int) -> list[int]:
    """The processes that a process has started."""
    with suppress(FileNotFoundError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def api_processes(supervisor: int) -> set[int]:
    """The processes of a service that respond to requests, or will."""
    forked = {pid for server in fork_servers(supervisor) for pid in children(server)}
    return forked | {pid for pid in children(supervisor) if b"spawn_main" in _command(pid)}


def fork_servers(supervisor: int) -> list[int]:
    """The processes from which a service's API processes are forked: one, unless it has ended."""
    return [pid for pid in children(supervisor) if b"multiprocessing.forkserver" in _command(pid)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return b""
