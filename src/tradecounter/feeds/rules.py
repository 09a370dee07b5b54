"""The prices in a feed: what the customer pays, with its mark-up and VAT, rounded as shops like it."""

from decimal import Decimal
from typing import Literal

from msgspec import Struct

from tradecounter.kit.errors import invalid
from tradecounter.kit.money import rounded, to_step, up_to_ending

Rounding = Literal["penny", "five_pence", "ten_pence", "pound", "ninety_nine"]

MOST_OF_A_CUSTOMER = 50  # feeds
MOST_MARKUP = Decimal(1000)  # per cent
LONGEST_NAME = 100

_STEPS = {"five_pence": Decimal("0.05"), "ten_pence": Decimal("0.10"), "pound": Decimal("1.00")}
_NINETY_NINE = Decimal("0.99")


class Markup(Struct, frozen=True):
    """How a price is made of a cost. `vat` is the VAT to include, in per cent; zero: none."""

    percent: Decimal
    vat: Decimal
    rounding: Rounding

    def price(self, cost: Decimal) -> Decimal:
        """Return the price in pounds for a cost in pounds; only the result is rounded."""
        exact = cost * (100 + self.percent) * (100 + self.vat) / 10_000
        if self.rounding == "ninety_nine":
            return up_to_ending(exact, _NINETY_NINE)
        step = _STEPS.get(self.rounding)
        return rounded(exact) if step is None else to_step(exact, step)


def check_markup(percent: Decimal) -> None:
    """Raise DomainError (invalid) unless a mark-up is between 0 and 1,000 per cent, with at most two decimal places."""
    if not (percent.is_finite() and 0 <= percent <= MOST_MARKUP and percent == rounded(percent)):
        raise invalid("markup", f"must be between 0 and {MOST_MARKUP} per cent, with at most two decimal places")
