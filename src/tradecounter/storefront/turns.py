"""Lets the processes of a machine take turns to read and show large changes (docs/adr/0025).

Without turns, all processes would render responses at once, and requests would wait for several of them.
"""

import asyncio
from contextlib import ExitStack
from time import monotonic

from tradecounter.storefront.load_shared import CatalogueSource

_LOOK_EVERY_SECONDS = 0.05
_LONGEST_WAIT_SECONDS = 3.0


class Turn:
    """One process's turn.

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
