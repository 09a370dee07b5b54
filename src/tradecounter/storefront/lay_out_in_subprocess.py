"""Lays out a large catalogue in a subprocess, which slows requests very little (docs/adr/0011).

The subprocess reads the database, or its replica, and writes the catalogue data to a file, which processes then map
(`shared_folder.py`).
"""

import asyncio
import gc
import os
import subprocess
import sys
from typing import IO

import msgspec
import structlog
from msgspec import Struct

from tradecounter.customers.queries.accounts import read_common_profiles
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.storefront.catalogue_data import UNUSABLE, CatalogueData, read_catalogue_data, read_from_replica
from tradecounter.storefront.shared_folder import write_data

log = structlog.get_logger()

_LONGEST_REASON = 2000
_MOST_PROFILES = 64  # whose prices are shared; 1.2 MB each with 100,000 products
_WITHOUT_REPLICA = os.EX_UNAVAILABLE  # exit status: the data is written, but the replica could not be used


class LoadingError(Exception):
    """The subprocess could not start or failed; the message ends with the last part of its error output."""


class Databases(Struct, frozen=True):
    """The URLs of the database and, if there is one, of the replica from which the catalogue is read."""

    primary: str
    replica: str | None = None


class _Task(Struct, frozen=True):
    """What the subprocess reads from its standard input."""

    databases: Databases
    niceness: int


async def lay_out_in_subprocess(databases: Databases, file: IO[bytes], niceness: int) -> str | None:
    """Read the catalogue data in a subprocess, which writes it to the file; a cancellation kills it.

    Returns why the replica could not be used, in which case the primary was read; None if it was used or there is none.
    `niceness` is from 0 (normal priority) to 19. Raises LoadingError, or OSError if the file cannot be written, for
    example on a full disk.
    """
    process = _start(file)
    arguments = msgspec.json.encode(_Task(databases, niceness))
    communication = asyncio.ensure_future(asyncio.to_thread(process.communicate, arguments))
    try:
        _, errors = await asyncio.shield(communication)
    finally:
        process.kill()  # has an effect only after a cancellation
        await asyncio.wait({communication})
    reason = errors.decode(errors="replace")[-_LONGEST_REASON:]
    if process.returncode == os.EX_IOERR:
        raise OSError(f"the catalogue cannot be written to its file: {reason}")
    if process.returncode not in (os.EX_OK, _WITHOUT_REPLICA):
        raise LoadingError(f"the catalogue could not be read: {reason}")
    if process.returncode == _WITHOUT_REPLICA:
        return reason
    if reason:
        log.warning("the subprocess that laid out the catalogue had trouble", reason=reason)
    return None


def _start(file: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __name__]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE)  # noqa: S603 this module
    except OSError as error:
        raise LoadingError(f"the catalogue could not be read: {error}") from error


async def _load(databases: Databases) -> tuple[CatalogueData, str | None]:
    """Return the data, and why the replica could not be used."""
    async with Database(databases.primary, connections=1) as database:
        reason = None
        if databases.replica is not None:
            try:
                return await read_from_replica(databases.replica, database, _read), None
            except UNUSABLE as error:
                reason = " ".join(str(error).split()) or type(error).__name__
        async with reading(database) as tx:
            return await _read(tx), reason


async def _read(tx: Transaction, primary: str | None = None) -> CatalogueData:
    data = await read_catalogue_data(tx, primary)
    data.book.lists.prepare(await read_common_profiles(tx, _MOST_PROFILES))
    return data


def main() -> None:
    """Read the task from standard input and write the data to standard output."""
    task = msgspec.json.decode(sys.stdin.buffer.read(), type=_Task)
    os.nice(task.niceness)
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))  # the output is the data
    gc.disable()  # the process ends before a collection would pay off
    data, reason = asyncio.run(_load(task.databases))
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
