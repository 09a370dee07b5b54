"""Loads a large catalogue in a subprocess, so that requests hardly notice.

The subprocess has a lower priority. It reads the database, lays the data out and writes it to a file, which this
process reads: mostly large buffers that need no decoding, so that few objects are created here (docs/adr/0011).
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
    """The subprocess failed; the message is the end of its error output."""


async def load_in_subprocess(database_url: str, *, niceness: int, seconds: float) -> CatalogueData:
    """Return what the database holds now, read by a subprocess.

    `niceness` is from 0 (normal priority) to 19. A subprocess that takes longer than `seconds` is killed. Raises
    LoadingError, TimeoutError, or OSError when the file or the subprocess cannot be created.
    """
    with tempfile.TemporaryFile() as file:
        process = _start(file)
        arguments = json.dumps({"database_url": database_url, "niceness": niceness}).encode()
        communication = asyncio.ensure_future(asyncio.to_thread(process.communicate, arguments))
        try:
            async with asyncio.timeout(seconds):
                _, errors = await asyncio.shield(communication)
        finally:
            process.kill()  # only has an effect after a cancellation or a time-out
            await asyncio.wait({communication})
        if process.returncode != 0:
            raise LoadingError(f"the catalogue could not be read: {errors.decode(errors='replace')[-_LONGEST_REASON:]}")
        return await asyncio.to_thread(read_data, file)


def _start(file: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __name__]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE)  # noqa: S603 this very module


def write_data(data: CatalogueData, file: IO[bytes]) -> None:
    """Write data for another process."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(data, _PROTOCOL, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    sizes = [len(pickled), *(part.nbytes for part in raw)]
    file.write(json.dumps(sizes).encode() + b"\n")
    file.write(pickled)
    file.writelines(raw)
    file.flush()


def read_data(file: IO[bytes]) -> CatalogueData:
    """Read data that another process wrote."""
    file.seek(0)
    sizes: Sequence[int] = json.loads(file.readline())
    pickled, *buffers = (file.read(size) for size in sizes)
    data: CatalogueData = pickle.loads(pickled, buffers=buffers)  # noqa: S301 written by our own subprocess to an unnamed file
    return data


async def _load(database_url: str) -> CatalogueData:
    async with Database(database_url, connections=1) as database, reading(database) as tx:
        return await read_catalogue_data(tx)


def main() -> None:
    """Take the arguments from standard input and write the data to standard output."""
    arguments = json.load(sys.stdin)
    os.nice(arguments["niceness"])
    gc.disable()  # the process ends before garbage matters
    write_data(asyncio.run(_load(arguments["database_url"])), sys.stdout.buffer)


if __name__ == "__main__":
    main()
