"""Reads one part of the data in memory, so that a failure delays only this part."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from tradecounter.db.changes import Version
from tradecounter.db.transaction import Transaction

log = structlog.get_logger()

Found = TypeVar("Found")

_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0


class Reader:
    """Reads one part at every poll; after a failure it pauses, with a doubled pause after each further failure."""

    def __init__(self, part: str) -> None:
        self._part = part
        self._failures = 0
        self._failed: Version | None = None
        self._try_again_at = 0.0

    @property
    def failing(self) -> bool:
        """Whether the last attempt failed."""
        return self._failures > 0

    async def read(
        self, tx: Transaction, work: Callable[[], Awaitable[Found | None]], version: Version | None = None
    ) -> Found | None:
        """Return the result of `work`, or None if it fails or has recently failed at the same version.

        Raises the error of `work` if the transaction cannot continue, for example without a connection.
        """
        if version == self._failed and time.monotonic() < self._try_again_at:
            return None
        try:
            async with tx.savepoint():
                found = await work()
        except Exception as error:
            if not tx.can_continue:
                raise
            self._pause_after(error, version)
            return None
        self._failures, self._failed = 0, None
        return found

    def _pause_after(self, error: Exception, version: Version | None) -> None:
        pause = min(_FIRST_PAUSE_SECONDS * 2 ** min(self._failures, 10), _LONGEST_PAUSE_SECONDS)
        self._failures, self._failed = self._failures + 1, version
        self._try_again_at = time.monotonic() + pause
        log.error("cannot be read", part=self._part, failures=self._failures, retry_in=pause, exc_info=error)
