"""Lays out a large catalogue in a subprocess, which slows requests very little (docs/adr/0011).

The subprocess reads the database and writes the catalogue data to a file, which processes then map
(`data_file.py`).
"""

import asyncio
import gc
import json
import os
import subprocess
import sys
from typing import IO

from tradecounter.customers.queries.terms import read_common_profiles
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.storefront.catalogue_data import CatalogueData, read_catalogue_data
from tradecounter.storefront.data_file import write_data

_LONGEST_REASON = 2000
_MOST_PROFILES = 64  # whose prices are shared; 1.2 MB each with 100,000 products


class LoadingError(Exception):
    """The subprocess could not start or failed; the message ends with the last part of its error output."""


async def lay_out_in_subprocess(database_url: str, file: IO[bytes], niceness: int) -> None:
    """Read the catalogue data in a subprocess, which writes it to the file; a cancellation kills it.

    `niceness` is from 0 (normal priority) to 19. Raises LoadingError, or OSError if the file cannot be written,
    for example on a full disk.
    """
    process = _start(file)
    arguments = json.dumps({"database_url": database_url, "niceness": niceness}).encode()
    communication = asyncio.ensure_future(asyncio.to_thread(process.communicate, arguments))
    try:
        _, errors = await asyncio.shield(communication)
    finally:
        process.kill()  # has an effect only after a cancellation
        await asyncio.wait({communication})
    reason = errors.decode(errors="replace")[-_LONGEST_REASON:]
    if process.returncode == os.EX_IOERR:
        raise OSError(f"the catalogue cannot be written to its file: {reason}")
    if process.returncode != 0:
        raise LoadingError(f"the catalogue could not be read: {reason}")


def _start(file: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __name__]
    try:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE)  # noqa: S603 this module
    except OSError as error:
        raise LoadingError(f"the catalogue could not be read: {error}") from error


async def _load(database_url: str) -> CatalogueData:
    async with Database(database_url, connections=1) as database, reading(database) as tx:
        data = await read_catalogue_data(tx)
        data.book.lists.prepare(await read_common_profiles(tx, _MOST_PROFILES))
        return data


def main() -> None:
    """Read the arguments from standard input and write the data to standard output."""
    arguments = json.load(sys.stdin)
    os.nice(arguments["niceness"])
    gc.disable()  # the process ends before a collection would pay off
    data = asyncio.run(_load(arguments["database_url"]))
    try:
        # Not `sys.stdout`: Python would write the rest again at its end, and fail with an exit status of its own.
        with open(sys.stdout.fileno(), "wb", closefd=False) as file:
            write_data(data, file)
    except OSError as error:
        sys.stderr.write(str(error))
        sys.exit(os.EX_IOERR)


if __name__ == "__main__":
    main()
