"""Reading a large catalogue in a process of its own, so that the one that answers requests hardly notices.

The other process has a lower priority, reads, lays out and writes to a file; this one reads the file. What it takes
over are large buffers, which come as they are, so that it makes few objects and never holds both a product's record and
what was made of it (docs/adr/0011).
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
from tradecounter.storefront.goods import Goods, read_goods

_PROTOCOL = 5  # the first that lets buffers stay outside
_LONGEST_REASON = 2000


class LoadingError(Exception):
    """The other process failed; the message is the end of what it said."""


async def load_elsewhere(database_url: str, *, niceness: int, seconds: float) -> Goods:
    """Return what the database holds now, read by another process.

    `niceness` is how much that one stands back for others, from 0 to 19; it is ended when it takes longer than
    `seconds`. Raises LoadingError, TimeoutError, or OSError where there is no room for a file or no other process.
    """
    with tempfile.TemporaryFile() as file:
        process = _start(file)
        order = json.dumps({"database_url": database_url, "niceness": niceness}).encode()
        talk = asyncio.ensure_future(asyncio.to_thread(process.communicate, order))
        try:
            async with asyncio.timeout(seconds):
                _, said = await asyncio.shield(talk)
        finally:
            process.kill()  # when this one is cancelled or out of time; otherwise it has ended
            await asyncio.wait({talk})
        if process.returncode != 0:
            raise LoadingError(f"the catalogue could not be read: {said.decode(errors='replace')[-_LONGEST_REASON:]}")
        return await asyncio.to_thread(read_handed_over, file)


def _start(file: IO[bytes]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", __name__]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.PIPE)  # noqa: S603 this very module


def hand_over(goods: Goods, file: IO[bytes]) -> None:
    """Write goods for another process."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(goods, _PROTOCOL, buffer_callback=buffers.append)
    raw = [buffer.raw() for buffer in buffers]
    sizes = [len(pickled), *(part.nbytes for part in raw)]
    file.write(json.dumps(sizes).encode() + b"\n")
    file.write(pickled)
    file.writelines(raw)
    file.flush()


def read_handed_over(file: IO[bytes]) -> Goods:
    """Read goods that another process wrote."""
    file.seek(0)
    sizes: Sequence[int] = json.loads(file.readline())
    pickled, *buffers = (file.read(size) for size in sizes)
    goods: Goods = pickle.loads(pickled, buffers=buffers)  # noqa: S301 written by a process of ours, to a file without a name
    return goods


async def _load(database_url: str) -> Goods:
    async with Database(database_url, connections=1) as database, reading(database) as tx:
        return await read_goods(tx)


def main() -> None:
    """Do what standard input orders, and write the goods to standard output."""
    order = json.load(sys.stdin)
    os.nice(order["niceness"])
    gc.disable()  # nothing here is to be collected but by the end
    hand_over(asyncio.run(_load(order["database_url"])), sys.stdout.buffer)


if __name__ == "__main__":
    main()
