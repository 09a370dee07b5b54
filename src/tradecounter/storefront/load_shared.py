"""Gets a large catalogue that one process of the machine lays out for all; processes take turns (docs/adr/0025)."""

import asyncio
import os
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import monotonic
from typing import IO

import structlog
from msgspec import Struct, field

from tradecounter.db.changes import Version
from tradecounter.storefront.catalogue_data import CatalogueData, ReplicaUse
from tradecounter.storefront.lay_out_in_subprocess import Databases, lay_out_in_subprocess
from tradecounter.storefront.shared_folder import SharedFolder, default_folder, map_data

log = structlog.get_logger()

_LOOK_EVERY_SECONDS = 0.05
_PROCESSORS = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class CatalogueSource(Struct, frozen=True):
    """Where a large catalogue comes from: the database or its replica, and the folder in which it is shared.

    Without a `folder`, it is the user's own among the temporary files (`shared_folder.py`). `at_once` processes of the
    machine at a time have a turn to read and show what has changed; by default, one for each processor.
    """

    database_url: str
    folder: Path | None = None
    replica_url: str | None = None
    replica_use: ReplicaUse = field(default_factory=ReplicaUse)
    at_once: int = _PROCESSORS

    def open_folder(self) -> SharedFolder:
        """Open the folder in which the catalogue is shared. Raises OSError."""
        return SharedFolder.open(self.folder or default_folder(), self.database_url)

    async def load(self, at_least: Version, *, niceness: int, seconds: float) -> CatalogueData:
        """Return data of this version or a newer one; lays it out if no other process has or does.

        A folder that cannot be used, for example on a full disk, is logged, and the process has data of its own. Takes
        at most `seconds`. `niceness` is from 0 (normal priority) to 19. Raises LoadingError, TimeoutError, or OSError
        if there is no memory either.
        """
        async with asyncio.timeout(seconds):
            try:
                with self.open_folder() as folder:
                    return await self._load_shared(folder, at_least, niceness)
            except OSError as error:
                log.warning("the catalogue cannot be shared: each process needs memory for its own", reason=str(error))
            return await self._load_alone(niceness)

    async def _load_shared(self, folder: SharedFolder, at_least: Version, niceness: int) -> CatalogueData:
        while True:
            if (data := await _mapped(folder, at_least)) is not None:
                return data
            with folder.alone() as alone:
                if alone:
                    # Another process may have finished after the look and before the lock.
                    return await _mapped(folder, at_least, alone=True) or await self._lay_out(folder, niceness)
            await asyncio.sleep(_LOOK_EVERY_SECONDS)

    async def _lay_out(self, folder: SharedFolder, niceness: int) -> CatalogueData:
        with folder.new_file() as file:
            await self._write(file, niceness)
            data = await asyncio.to_thread(map_data, file)
            folder.publish(data.versions["catalogue"])
            return data

    async def _load_alone(self, niceness: int) -> CatalogueData:
        with _file_in_memory() as file:
            await self._write(file, niceness)
            return await asyncio.to_thread(map_data, file)

    async def _write(self, file: IO[bytes], niceness: int) -> None:
        reason = await lay_out_in_subprocess(Databases(self.database_url, self.replica_url), file, niceness)
        if self.replica_url is not None:
            self.replica_use.note(reason)


def _file_in_memory() -> IO[bytes]:
    """Create a file that needs no disk where the system has such files; otherwise a temporary one."""
    if sys.platform == "linux":
        return os.fdopen(os.memfd_create("catalogue"), "w+b")
    return tempfile.TemporaryFile()


async def _mapped(folder: SharedFolder, at_least: Version, *, alone: bool = False) -> CatalogueData | None:
    """Map the newest shared data that is not older; None if there is none, or a file that cannot be read.

    Only the process that is alone logs such a file; the others wait until it has laid out a new one.
    """
    try:
        file = folder.newest(at_least)
        if file is None:
            return None
        with file:
            return await asyncio.to_thread(map_data, file)
    except Exception:  # whatever is wrong with the file, a new one replaces it
        if alone:
            log.exception("a shared catalogue cannot be read, laying it out again")
        return None


_LONGEST_WAIT_SECONDS = 3.0


class Turn:
    """One process's turn.

    Without turns, all processes would render responses at once, and requests would wait for several of them.

    It waits in the background, for at most three seconds, or a quarter of `stale_after` if that is less. Without a
    folder that can be used, nobody waits.
    """

    def __init__(self, source: CatalogueSource, stale_after: float) -> None:
        self._source = source
        self._longest_wait = min(_LONGEST_WAIT_SECONDS, stale_after / 4)
        self._place = ExitStack()
        self._waiting: asyncio.Task[None] | None = None

    def take(self) -> bool:
        """Return whether it is this process's turn, until `end`; if not, `wait` for it."""
        if self._waiting is None:
            return self._takes_place()
        return self._waiting.done()

    def wait(self) -> asyncio.Task[None]:
        """Return a task that ends when the turn can be taken."""
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._wait())
        return self._waiting

    def end(self) -> None:
        """Let the next process take its turn."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._place.close()

    async def _wait(self) -> None:
        until = monotonic() + self._longest_wait
        while monotonic() < until and not self._takes_place():  # noqa: ASYNC110 other processes
            await asyncio.sleep(_LOOK_EVERY_SECONDS)

    def _takes_place(self) -> bool:
        try:
            with self._source.open_folder() as folder:
                return folder.take_place(self._source.at_once, self._place)
        except OSError:
            return True
