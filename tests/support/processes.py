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
