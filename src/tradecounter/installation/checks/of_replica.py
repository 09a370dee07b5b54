"""The check of the read replica."""

import asyncio
import time

from tradecounter.db.pool import Database
from tradecounter.db.replicas import Lag, read_end_of_log, read_lag, read_position
from tradecounter.db.transaction import reading
from tradecounter.edge.command_line.output import one_line
from tradecounter.installation.checks.check import Check, fine, wrong
from tradecounter.settings import Settings
from tradecounter.storefront.catalogue_data import UNUSABLE, try_to_connect

_SECONDS = 10.0
_CATCH_UP_SECONDS = 3.0  # for a replica under load
_LOOK_EVERY_SECONDS = 0.1
_REMEDY = (
    "correct TRADECOUNTER_REPLICA_URL, or repair the replica; after a fail-over, it names its new timeline only after "
    "some minutes. Catalogues are read from the primary until then"
)


async def check_replica(settings: Settings, url: str) -> Check:
    """Check that the replica follows the database at `url`: same log, read-only, and nothing missing for long."""
    if settings.replica_url is None:
        return fine("replica", "not used: TRADECOUNTER_REPLICA_URL is not set")
    try:
        async with asyncio.timeout(_SECONDS):
            lag, timeline = await _lag(settings.replica_url, url)
    except TimeoutError:
        return wrong("replica", f"no response within {_SECONDS:.0f} seconds", _REMEDY)
    except UNUSABLE as error:
        return wrong("replica", one_line(str(error)), _REMEDY)
    if lag.missing:
        finding = f"{lag.missing} bytes of the log are not replayed after {_CATCH_UP_SECONDS:.0f} seconds"
        return wrong("replica", f"{finding}{'; its replay is paused' if lag.paused else ''}", _REMEDY)
    return fine("replica", f"it is read-only, on the primary's timeline {timeline}, and has the primary's whole log")


async def _lag(replica_url: str, url: str) -> tuple[Lag, int]:
    """Return what the replica does not catch up with of the log as it is now, and the log's timeline."""
    async with Database(url, connections=1) as primary, reading(primary) as tx:
        position = await read_position(tx)
        end_of_log = await read_end_of_log(tx, position)
    await try_to_connect(replica_url)
    async with Database(replica_url, connections=1) as replica:
        until = time.monotonic() + _CATCH_UP_SECONDS
        while True:
            async with reading(replica) as tx:
                lag = await read_lag(tx, position, end_of_log)
            if not lag.missing or time.monotonic() >= until:
                return lag, position.log.timeline
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
