"""The transactions whose changes a read has seen: PostgreSQL's snapshot. So no late commit is missed."""

from typing import Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray


class Seen(Struct, frozen=True, array_like=True):
    """The transactions that had committed: all before `oldest`, and those before `next` that were not `running`.

    Comparable only between reads of one server's log.
    """

    oldest: int
    next: int
    running: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the snapshot in a `pg_snapshot`: `oldest:next:running,…`."""
        oldest, following, running = text.split(":")
        return cls(int(oldest), int(following), tuple(map(int, running.split(","))) if running else ())

    def covers(self, other: "Seen") -> bool:
        """Return whether this read saw everything that the other one saw."""
        missed = (each for each in self.running if each < other.next and each not in other.running)
        return self.next >= other.next and not any(missed)

    def new_since(self, before: "Seen", transactions: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the places of transactions that this read has seen and the read `before` has not."""
        places = np.flatnonzero(transactions >= before.oldest)
        if not len(places):
            return places
        numbers = transactions[places]
        is_new = (numbers >= before.next) | np.isin(numbers, before.running)
        return places[is_new & (numbers < self.next) & ~np.isin(numbers, self.running)]
