"""Processes that make parts of a large catalogue's snapshot at the same time, each on a processor core of its own."""

import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import IO, Self

from tradecounter.catalogue.queries.records import ReferenceRecords, read_reference
from tradecounter.catalogue.snapshot.part import SnapshotPart, read_part
from tradecounter.db.exported_snapshot import export_snapshot, import_snapshot
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading
from tradecounter.storefront.data_file import file_in_memory, map_data, write_data

_MOST_PROCESSES = 4  # with the one that reads everything else; more would wait for that one


@dataclass(frozen=True, slots=True)
class PartTask:
    """What a process reads: products in order of their rows, as a transaction on another connection sees them."""

    url: str
    snapshot: str
    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class PartProcess:
    """A process that waits for one task, and ends when it has done it or when this process ends."""

    connection: Connection
    file: IO[bytes]

    @classmethod
    def fork(cls, earlier: Sequence["PartProcess"]) -> Self:
        """Fork a process; this one must have neither threads nor connections yet."""
        context = get_context("fork")
        ours, theirs = context.Pipe()
        file = file_in_memory()
        # A process that kept the ends of this one would not notice its end.
        inherited = [ours, *(process.connection for process in earlier)]
        context.Process(target=_run, args=(inherited, theirs, file), daemon=True).start()
        theirs.close()
        return cls(ours, file)

    async def read(self, task: PartTask) -> SnapshotPart | None:
        """Return the part; None if the process cannot read it, for example because the URL leads to several servers."""
        self.connection.send(task)
        if not await asyncio.to_thread(self._succeeds):
            return None
        part: SnapshotPart = await asyncio.to_thread(map_data, self.file)
        return part

    def _succeeds(self) -> bool:
        try:
            return bool(self.connection.recv())
        except EOFError:
            return False


def fork_part_processes() -> list[PartProcess]:
    """Fork a process for each further core that this one may use."""
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    processes: list[PartProcess] = []
    while len(processes) + 1 < min(cores, _MOST_PROCESSES):
        processes.append(PartProcess.fork(processes))
    return processes


@dataclass(frozen=True, slots=True)
class PartReader:
    """Reads the parts of a snapshot with the help of processes, which connect to the same URL and are used up."""

    url: str
    processes: list[PartProcess]

    async def read(self, tx: Transaction, reference: ReferenceRecords, ids: Sequence[int]) -> list[SnapshotPart]:
        """Return all parts; this process reads the first one, and those that others could not read."""
        processes = self.processes[:]
        self.processes.clear()
        name = await export_snapshot(tx) if processes else ""
        first, *others = [PartTask(self.url, name, share) for share in _shares(ids, len(processes))]
        running = [asyncio.ensure_future(each.read(task)) for each, task in zip(processes, others, strict=True)]
        parts = [await read_part(tx, reference, first.ids)]
        for task, part in zip(others, running, strict=True):
            parts.append(await part or await read_part(tx, reference, task.ids))
        return parts


def _shares(ids: Sequence[int], others: int) -> list[Sequence[int]]:
    """Return the products of this process, and those of others."""
    size = -(-len(ids) // (others + 1))
    return [ids[place * size : (place + 1) * size] for place in range(others + 1)]


def _run(inherited: Sequence[Connection], connection: Connection, file: IO[bytes]) -> None:
    """Do one task and say whether it succeeded."""
    for each in inherited:
        each.close()
    try:
        task = connection.recv()
    except EOFError:
        return
    try:
        with file:
            write_data(asyncio.run(_read(task)), file)
    except Exception:  # noqa: BLE001 the other process reads these products itself, and raises what is wrong with them
        connection.send(False)  # noqa: FBT003 the only thing that is sent
    else:
        connection.send(True)  # noqa: FBT003 the same


async def _read(task: PartTask) -> SnapshotPart:
    async with Database(task.url, connections=1) as database, reading(database) as tx:
        await import_snapshot(tx, task.snapshot)
        return await read_part(tx, await read_reference(tx), task.ids)
