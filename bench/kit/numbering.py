"""The worker's numbering of events and nothing else, whose processor time belongs to the events: `numbering.py URL`."""

import asyncio
import sys

from tradecounter.db.pool import Database
from tradecounter.events.sequencer import numbering


async def main(url: str) -> None:
    """Number events until the process ends."""
    async with Database(url, connections=1) as database, numbering(database):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
