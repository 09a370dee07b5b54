"""Counts durations in buckets, cheaply enough for every request: plain numbers, which monitoring reads."""

from bisect import bisect_left

# Upper bounds in seconds; durations beyond the last one are in a bucket of their own.
BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_FIRST = BOUNDS[0]


class Durations:
    """How many durations were in each bucket, and their sum in seconds."""

    __slots__ = ("counts", "seconds")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count a duration."""
        # Most are in the first bucket: cached responses.
        self.counts[bisect_left(BOUNDS, seconds) if seconds > _FIRST else 0] += 1
        self.seconds += seconds

    @property
    def number(self) -> int:
        """How many durations were counted."""
        return sum(self.counts)

    @property
    def values(self) -> list[float]:
        """The counts of all buckets, then the sum."""
        return [*self.counts, self.seconds]
