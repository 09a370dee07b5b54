"""Amounts of money as decimal pounds with two places or whole pence; no other module rounds."""

from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_HALF_UP, Decimal

PENNY = Decimal("0.01")
NOTHING = Decimal("0.00")


def rounded(amount: Decimal) -> Decimal:
    """Round pounds to whole pence, half up (away from zero)."""
    return amount.quantize(PENNY, rounding=ROUND_HALF_UP)


def to_step(amount: Decimal, step: Decimal) -> Decimal:
    """Round pounds to a multiple of a step, half up; an amount above zero to one step at least."""
    steps = (amount / step).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    return rounded((max(steps, Decimal(1)) if amount > 0 else steps) * step)


def to_ending(amount: Decimal, pence: Decimal) -> Decimal:
    """Round pounds to the nearest amount that ends with these pence, which are less than a pound; the higher of two.

    An amount above zero becomes these pence at least; others are rounded to whole pence.
    """
    if amount <= 0:
        return rounded(amount)
    pounds = (amount - pence).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    return rounded(max(pounds, NOTHING) + pence)


def up_to_ending(amount: Decimal, pence: Decimal) -> Decimal:
    """Round pounds up to the next amount that ends with these pence, which are less than a pound: 0.99.

    An amount that is not above zero is rounded to whole pence.
    """
    if amount <= 0:
        return rounded(amount)
    return rounded((amount - pence).quantize(Decimal(1), rounding=ROUND_CEILING) + pence)


def percentage(amount: Decimal, percent: Decimal) -> Decimal:
    """Return a percentage of an amount of pounds, rounded to pence."""
    return rounded(amount * percent / 100)


def in_pounds(amount: Decimal) -> str:
    """Return an amount for people: £1,234.50, after a minus sign if it is below zero."""
    sign = "\N{MINUS SIGN}" if amount < 0 else ""
    return f"{sign}£{abs(amount):,.2f}"


def whole_pounds(amount: Decimal) -> Decimal:
    """Return an amount without its pence, as a VAT return has it."""
    return amount.quantize(Decimal(1), rounding=ROUND_DOWN) + 0  # which makes -0 a plain 0


def to_pence(pounds: Decimal) -> int:
    """Return pounds as whole pence, rounded half up."""
    return int(rounded(pounds).scaleb(2))


def from_pence(pence: int) -> Decimal:
    """Return whole pence as pounds with two places."""
    return Decimal(pence).scaleb(-2)
