"""Whether the database can write."""

import math
import time

import structlog
from psycopg.errors import DiskFull

log = structlog.get_logger()
REMEDY = "free space on the disk of the database's data directory, or enlarge it"

_LOOK_EVERY_SECONDS = 15.0
_LOOK_AGAIN_SECONDS = 2.0  # while the disk is full


class Writability:
    """Whether the database can write, according to the last look and the last change.

    While it cannot, orders and other changes get 503. Products, prices and stock are still served: a proxy must not
    take every process out of service at once.
    """

    def __init__(self) -> None:
        self._full = False
        self._looked_at = -math.inf

    @property
    def writes(self) -> bool:
        """Whether changes can be made."""
        return not self._full

    @property
    def is_due(self) -> bool:
        """Whether it is time to look."""
        pause = _LOOK_AGAIN_SECONDS if self._full else _LOOK_EVERY_SECONDS
        return time.monotonic() - self._looked_at >= pause

    def failed(self, error: DiskFull) -> None:
        """Note that a change failed."""
        self._looked_at = time.monotonic()
        if not self._full:
            self._full = True
            log.error("the database's disk is full: changes get 503", reason=str(error).strip(), remedy=REMEDY)

    def looked(self, *, room: bool) -> None:
        """Note what a look found."""
        self._looked_at = time.monotonic()
        if room and self._full:
            log.warning("the database's disk has room again")
        elif not room and not self._full:
            log.error("the database's disk is full: changes get 503", remedy=REMEDY)
        self._full = not room
