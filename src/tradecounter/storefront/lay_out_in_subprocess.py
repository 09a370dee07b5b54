"""Lays out a large catalogue in a subprocess, which slows requests very little (docs/adr/0011).

The subprocess reads the database, or its replica, and writes the catalogue data to a file, which processes then map
(`data_file.py`).
"""

import asyncio
import gc
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from typing import IO

import msgspec

from tradecounter.customers.queries.terms import read_common_profiles
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.storefront.catalogue_data import CatalogueData, read_catalogue_data
from tradecounter.storefront.data_file import write_data
from tradecounter.storefront.part_processes import PartProcess, PartReader, fork_part_processes
from tradecounter.storefront.read_from_replica import UNUSABLE, read_from_replica

_LONGEST_REASON = 2000
_LEAST_PRIORITY = 19  # niceness
_MOST_PROFILES = 64  # whose prices are shared; 1.2 MB each with 100,000 products
_WITHOUT_REPLICA = os.EX_UNAVAILABLE  # exit status: the data is written, but the replica could not be used


class LoadingError(Exception):
    """The subprocess could not start or failed; the message ends with the last part of its error output."""


@dataclass(frozen=True, slots=True)
class Databases:
    """The URLs of the database and, if there is one, of the replica from which the catalogue is read."""

    primary: str
    replica: str | None = None


@dataclass(frozen=True, slots=True)
class LayoutTask:
    """What the subprocess is to read. In the background, it uses only the time that requests leave."""

    databases: Databases
    in_background: bool


async def lay_out_in_subprocess(task: LayoutTask, file: IO[bytes]) -> str | None:
    """Read the catalogue data in a subprocess, which writes it to the file; a cancellation kills it.

    Returns why the replica could not be used, in which case the primary was read; None if it was used or there is none.
    Raises LoadingError, or OSError if the file cannot be written, for example on a full disk.
    """
    process = _start(file)
    arguments = msgspec.json.encode(task)
    communication = asyncio.ensure_future(asyncio.to_thread(process.communicate, arguments))
    try:
        _, errors = await asyncio.shield(communication)
    finally:
        if process.returncode is None:  # after a cancellation
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.wait({communication})
    reason = errors.decode(errors="replace")[-_LONGEST_REASON:]
    if process.returncode == os.EX_IOERR:
        raise OSError(f"the catalogue cannot be written to its file: {reason}")
    if process.returncode not in (os.EX_OK, _WITHOUT_REPLICA):
        raise LoadingError(f"the catalogue could not be read: {reason}")
    return reason if process.returncode == _WITHOUT_REPLICA else None


def _start(file: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __name__]
    try:
        return subprocess.Popen(  # noqa: S603 this module
            command,
            stdin=subprocess.PIPE,
            stdout=file,
            stderr=subprocess.PIPE,
            process_group=0,  # with the processes that it forks
        )
    except OSError as error:
        raise LoadingError(f"the catalogue could not be read: {error}") from error


async def _load(databases: Databases, processes: list[PartProcess]) -> tuple[CatalogueData, str | None]:
    """Return the data, and why the replica could not be used."""
    async with Database(databases.primary, connections=1) as database:
        reason = None
        if databases.replica is not None:
            try:
                read = partial(_read, PartReader(databases.replica, processes))
                return await read_from_replica(databases.replica, database, read), None
            except UNUSABLE as error:
                reason = " ".join(str(error).split()) or type(error).__name__
        async with reading(database) as tx:
            return await _read(PartReader(databases.primary, processes), tx), reason


async def _read(parts: PartReader, tx: Transaction, primary: str | None = None) -> CatalogueData:
    data = await read_catalogue_data(tx, primary, parts.read)
    data.book.lists.prepare(await read_common_profiles(tx, _MOST_PROFILES))
    return data


def _run_in_background() -> None:
    """Use only the time that other processes leave, and let them take a core back immediately."""
    os.nice(_LEAST_PRIORITY)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main() -> None:
    """Read the task from standard input and write the data to standard output."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=LayoutTask)
    if task.in_background:
        _run_in_background()
    gc.disable()  # the process ends before a collection would pay off
    data, reason = asyncio.run(_load(task.databases, fork_part_processes()))
    try:
        # Not `sys.stdout`: Python would write the rest again at its end, and fail with an exit status of its own.
        with open(sys.stdout.fileno(), "wb", closefd=False) as file:
            write_data(data, file)
    except OSError as error:
        sys.stderr.write(str(error))
        sys.exit(os.EX_IOERR)
    if reason is not None:
        sys.stderr.write(reason)
        sys.exit(_WITHOUT_REPLICA)


if __name__ == "__main__":
    main()
