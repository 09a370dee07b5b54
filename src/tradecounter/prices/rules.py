"""The rules of pricing (specification, prices and money). Costs are net, in whole pence."""

from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tradecounter.kit.money import rounded

Pence = TypeVar("Pence", int, NDArray[np.int64])

FIVE = 5
TEN = 10
NO_BREAK = -2  # a break that a price does not have


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

    @property
    def breaks(self) -> list[tuple[int, int]]:
        """The price breaks: from how many units on, and the unit cost in pence; only those that differ."""
        tiers = ((1, self.single), (FIVE, self.five_plus), (TEN, self.ten_plus))
        return [tiers[0], *(tier for before, tier in pairwise(tiers) if tier[1] != before[1])]


def fill_breaks(costs: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return costs for 1, 5 and 10 units by row; NO_BREAK becomes the cost of the next lower break."""
    single, five_plus, ten_plus = costs.T
    five_plus = np.where(five_plus == NO_BREAK, single, five_plus)
    return np.stack([single, five_plus, np.where(ten_plus == NO_BREAK, five_plus, ten_plus)], axis=1)


def discounted_pence(cost: Pence, discount: int) -> Pence:
    """Return a cost, or an array of costs, less hundredths of a per cent, rounded half up to whole pence."""
    return (cost * (10_000 - discount) + 5_000) // 10_000


def margin_percent(price: Decimal, cost: Decimal) -> Decimal:
    """Return what a positive price leaves above a cost, in per cent of the price."""
    return rounded((price - cost) / price * 100).quantize(Decimal("0.1"))
