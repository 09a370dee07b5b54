"""The rules of pricing (decisions, prices and money). Costs are net, in whole pence."""

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Pence = TypeVar("Pence", int, NDArray[np.int64])

FIVE = 5
TEN = 10


class UnitCosts(NamedTuple):
    """A product's net unit costs in pence, by price break."""

    single: int
    five_plus: int
    ten_plus: int

    def at(self, quantity: int) -> int:
        """Return the unit cost in pence for a line of `quantity` units."""
        if quantity >= TEN:
            return self.ten_plus
        return self.five_plus if quantity >= FIVE else self.single


def discounted_pence(cost: Pence, discount: int) -> Pence:
    """Return a cost, or an array of costs, less hundredths of a per cent, rounded half up to whole pence."""
    return (cost * (10_000 - discount) + 5_000) // 10_000
