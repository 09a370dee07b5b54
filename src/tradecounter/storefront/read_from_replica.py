"""Reads the catalogue from a read replica that has all that the primary has committed (docs/adr/0025)."""

import asyncio
import time
from collections.abc import Awaitable, Callable

import psycopg
import structlog

from tradecounter.db.pool import Database
from tradecounter.db.replicas import Position, ReplicaBehindError, ReplicaError, read_position, require_replayed
from tradecounter.db.transaction import Transaction, reading
from tradecounter.storefront.catalogue_data import CatalogueData

UNUSABLE = (ReplicaError, psycopg.Error)

_MOST_BEHIND_SECONDS = 1.0  # replicas are usually milliseconds behind; customers wait for new prices meanwhile
_LOOK_EVERY_SECONDS = 0.05
_CONNECT_SECONDS = 3


async def read_from_replica(
    url: str, primary: Database, read: Callable[[Transaction, str], Awaitable[CatalogueData]]
) -> CatalogueData:
    """Return what `read` returns for a transaction of the replica and the primary's name.

    Waits a little for a replica that is behind. Raises one of UNUSABLE.
    """
    async with reading(primary) as tx:
        position = await read_position(tx)
    await try_to_connect(url)
    async with Database(url, connections=1) as replica:
        until = time.monotonic() + _MOST_BEHIND_SECONDS
        while True:
            try:
                return await _read(replica, position, read)
            except ReplicaBehindError:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(_LOOK_EVERY_SECONDS)


async def try_to_connect(url: str) -> None:
    """Raise the reason why the replica cannot be reached; a pool would try again for seconds and not name it."""
    try:
        connection = await psycopg.AsyncConnection.connect(url, connect_timeout=_CONNECT_SECONDS)
    except psycopg.ProgrammingError:  # psycopg's message would show the password
        raise ReplicaError("TRADECOUNTER_REPLICA_URL: is not a valid PostgreSQL URL") from None
    await connection.close()


async def _read(
    replica: Database, position: Position, read: Callable[[Transaction, str], Awaitable[CatalogueData]]
) -> CatalogueData:
    async with reading(replica) as tx:
        await require_replayed(tx, position, "catalogue")
        return await read(tx, position.versions.server)


log = structlog.get_logger()


class ReplicaUse:
    """The catalogues that this process had laid out from the replica, and those for which it was not usable."""

    def __init__(self) -> None:
        self.used = 0
        self.unusable = 0
        self._is_unusable = False

    def note(self, reason: str | None) -> None:
        """Note that the replica was read, or the reason why it was not."""
        if reason is None:
            self.used += 1
            if self._is_unusable:
                log.warning("the replica can be used again")
        else:
            self.unusable += 1
            if not self._is_unusable:
                log.warning("the replica cannot be used: the catalogue is read from the primary", reason=reason)
        self._is_unusable = reason is not None
