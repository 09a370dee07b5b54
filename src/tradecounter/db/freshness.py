"""How old what a process shows from memory may be."""

import math
import time
from datetime import timedelta

from tradecounter.kit.errors import DomainError, Kind

_RETRY_SECONDS = 5


class Freshness:
    """When everything that a process shows was last known to be current, and whether that is too long ago.

    Times are monotonic, in seconds. Without a bound nothing is ever too old.
    """

    def __init__(self, stale_after: timedelta | None = None) -> None:
        self.most_seconds = math.inf if stale_after is None else stale_after.total_seconds()
        self.confirmed_at = -math.inf
        self.stale_at = math.inf if stale_after is None else -math.inf

    @property
    def age(self) -> float:
        """The seconds since everything was last known to be current; infinite before the first time."""
        return time.monotonic() - self.confirmed_at

    @property
    def is_stale(self) -> bool:
        """Whether what is shown is too old to be shown."""
        return time.monotonic() >= self.stale_at

    def confirm(self, moment: float) -> None:
        """Note that everything was current at a time."""
        self.confirmed_at = moment
        self.stale_at = moment + self.most_seconds

    def require(self) -> None:
        """Raise DomainError (unavailable) when what is shown is too old."""
        if self.is_stale:
            raise DomainError(
                Kind.UNAVAILABLE,
                f"prices and stock cannot be confirmed at present; try again in {_RETRY_SECONDS} seconds",
                retry_after=_RETRY_SECONDS,
            )
