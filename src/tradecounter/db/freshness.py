"""The age of the data in memory, and the age limit."""

import math
import time
from datetime import timedelta

from tradecounter.kit.errors import DomainError, Kind

_RETRY_SECONDS = 5


class Freshness:
    """The time when all data in memory was last verified; without `stale_after`, data never becomes stale.

    Times are monotonic, in seconds.
    """

    def __init__(self, stale_after: timedelta | None = None) -> None:
        self.most_seconds = math.inf if stale_after is None else stale_after.total_seconds()
        self.verified_at = -math.inf
        self.stale_at = math.inf if stale_after is None else -math.inf

    @property
    def age(self) -> float:
        """Seconds since the last verification; infinite before the first one."""
        return time.monotonic() - self.verified_at

    @property
    def is_stale(self) -> bool:
        """Whether the data is too old to show to customers."""
        return time.monotonic() >= self.stale_at

    def verify(self, moment: float) -> None:
        """Record that all data was current at `moment`."""
        self.verified_at = moment
        self.stale_at = moment + self.most_seconds

    def require(self) -> None:
        """Raise DomainError (unavailable) if the data is stale."""
        if self.is_stale:
            raise DomainError(
                Kind.UNAVAILABLE,
                f"prices and stock cannot be verified at present; try again in {_RETRY_SECONDS} seconds",
                retry_after=_RETRY_SECONDS,
            )
