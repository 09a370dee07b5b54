"""Loads a large catalogue in a subprocess, which slows requests very little (docs/adr/0011).

The subprocess reads the database and writes the catalogue data to a file. This process reads the file. Most of the
file is large buffers that need no decoding, so this process creates few objects.
"""

import asyncio
import gc
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import IO

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.storefront.catalogue_data import CatalogueData, read_catalogue_data

_PROTOCOL = 5  # the first with out-of-band buffers
_LONGEST_REASON = 2000


class LoadingError(Exception):
    """The subprocess failed; the message ends with the last part of its error output."""


async def load_in_subprocess(database_url: str, *, niceness: int, seconds: float) -> CatalogueData:
    """Read the catalogue data in a subprocess, which is killed after `seconds`.

    `niceness` is from 0 (normal priority) to 19. Raises LoadingError, TimeoutError, or OSError if the file or the
    subprocess cannot be created.
    """
    with tempfile.TemporaryFile() as file:
        process = _start(file)
        arguments = json.dumps({"database_url": database_url, "niceness": niceness}).encode()
        communication = asyncio.ensure_future(asyncio.to_thread(process.communicate, arguments))
        try:
            async with asyncio.timeout(seconds):
                _, errors = await asyncio.shield(communication)
        finally:
            process.kill()  # has an effect only after a cancellation or a timeout
            await asyncio.wait({communication})
        if process.returncode != 0:
            raise LoadingError(f"the catalogue could not be read: {errors.decode(errors='replace')[-_LONGEST_REASON:]}")
        return await asyncio.to_thread(read_data, file)


def _start(file: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __name__]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE)  # noqa: S603 this module


def write_data(data: CatalogueData, file: IO[bytes]) -> None:
    """Write the sizes of all parts as JSON, the pickled data and its buffers, for `read_data`."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(data, _PROTOCOL, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    sizes = [len(pickled), *(part.nbytes for part in raw)]
    file.write(json.dumps(sizes).encode() + b"\n")
    file.write(pickled)
    file.writelines(raw)
    file.flush()


def read_data(file: IO[bytes]) -> CatalogueData:
    """Read data that `write_data` wrote in another process."""
    file.seek(0)
    sizes: Sequence[int] = json.loads(file.readline())
    pickled, *buffers = (file.read(size) for size in sizes)
    data: CatalogueData = pickle.loads(pickled, buffers=buffers)  # noqa: S301 written by our own subprocess to an unnamed file
    return data


async def _load(database_url: str) -> CatalogueData:
    async with Database(database_url, connections=1) as database, reading(database) as tx:
        return await read_catalogue_data(tx)


def main() -> None:
    """Read the arguments from standard input and write the data to standard output."""
    arguments = json.load(sys.stdin)
    os.nice(arguments["niceness"])
    gc.disable()  # the process ends before a collection would pay off
    write_data(asyncio.run(_load(arguments["database_url"])), sys.stdout.buffer)


if __name__ == "__main__":
    main()
