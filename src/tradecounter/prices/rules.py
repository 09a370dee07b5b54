"""The rules of pricing (specification, prices and money). Costs are net, in whole pence."""

from decimal import Decimal
from itertools import pairwise
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from tradecounter.kit.money import rounded, to_ending, to_step

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


How = Literal["raise_percent", "lower_percent", "raise_amount", "lower_amount", "margin"]
Rounding = Literal["penny", "pound", "ninety_five", "ninety_nine"]
Costs = tuple[Decimal | None, Decimal | None, Decimal | None]  # of 1, 5 and 10 units; None: as of fewer units
PriceCosts = tuple[Decimal, Decimal | None, Decimal | None]  # those of a price that is there

_ENDINGS = {"ninety_five": Decimal("0.95"), "ninety_nine": Decimal("0.99")}


class PriceRule(Struct, frozen=True):
    """How a product's new costs are made of its old ones, in pounds; only the results are rounded.

    `by` is per cent, or pounds. A `margin` is what one unit leaves above its purchase cost, in per cent of the new
    price; the breaks keep their proportion to one unit.
    """

    how: How
    by: Decimal
    rounding: Rounding = "penny"

    def costs(self, old: Costs, purchase: Decimal | None) -> PriceCosts | None:
        """Return the new costs, which may be below zero; None if the old price or the purchase cost is not known.

        A margin needs no old price: the first one has no breaks.
        """
        single, five_plus, ten_plus = old
        if self.how == "margin":
            if not purchase:
                return None
            if not single:
                return self._rounded(purchase * 100 / (100 - self.by)), None, None
        elif single is None:
            return None

        def new(cost: Decimal) -> Decimal:
            return self._rounded(self._exact(cost, single, purchase))

        return new(single), None if five_plus is None else new(five_plus), None if ten_plus is None else new(ten_plus)

    def _exact(self, cost: Decimal, single: Decimal, purchase: Decimal | None) -> Decimal:
        match self.how:
            case "raise_percent":
                return cost * (100 + self.by) / 100
            case "lower_percent":
                return cost * (100 - self.by) / 100
            case "raise_amount":
                return cost + self.by
            case "lower_amount":
                return cost - self.by
            case "margin":
                return (purchase or Decimal(0)) * 100 * cost / ((100 - self.by) * single)

    def _rounded(self, amount: Decimal) -> Decimal:
        if self.rounding == "penny" or amount <= 0:
            return rounded(amount)
        return to_step(amount, Decimal(1)) if self.rounding == "pound" else to_ending(amount, _ENDINGS[self.rounding])
