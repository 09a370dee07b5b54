"""The ranges of prices by which a customer's catalogue can be narrowed."""

import re
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tradecounter.kit.errors import invalid

_RANGE = re.compile(r"(?P<least>[0-9]{1,7})-(?P<below>[0-9]{0,7})")
_STEPS = (0, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)


class PriceRange(Struct, frozen=True):
    """Net unit costs from so many pounds to less than so many; without an end if `below` is None."""

    least: int
    below: int | None

    @property
    def text(self) -> str:
        """The range as a parameter."""
        return f"{self.least}-{'' if self.below is None else self.below}"

    @property
    def name(self) -> str:
        """The range for people."""
        if self.below is None:
            return f"£{self.least:,} and more"
        return f"£{self.least:,} to £{self.below:,}" if self.least else f"Below £{self.below:,}"

    def includes(self, pence: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return for each of some costs whether it is in the range."""
        from_here = pence >= self.least * 100
        return from_here if self.below is None else from_here & (pence < self.below * 100)


RANGES = (*(PriceRange(least, below) for least, below in pairwise(_STEPS)), PriceRange(_STEPS[-1], None))


def read_ranges(texts: Iterable[str]) -> list[PriceRange]:
    """Return the ranges that texts such as `20-50` and `5000-` name. Raises DomainError (invalid)."""
    found = []
    for text in texts:
        match = _RANGE.fullmatch(text)
        if match is None:
            raise invalid("price", f"{text[:40]!r} is not a range of pounds, such as 20-50")
        found.append(PriceRange(int(match["least"]), int(match["below"]) if match["below"] else None))
    return found
