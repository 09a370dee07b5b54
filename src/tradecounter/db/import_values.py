"""Checking numbers in import rows, which the validator leaves unbounded when they are decimals."""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from tradecounter.kit.errors import invalid
from tradecounter.kit.money import rounded

MOST_POUNDS = Decimal(1_000_000)
EARLIEST, LATEST = date(2000, 1, 1), date(2100, 12, 31)


def check_date(field: str, day: date) -> None:
    """Refuse a date that can only be a placeholder. Raises DomainError (invalid)."""
    if not EARLIEST <= day <= LATEST:
        raise invalid(field, f"must be a date from {EARLIEST} to {LATEST}; leave out what is not known")


def bounded(field: str, value: Decimal, most: Decimal) -> Decimal:
    """Return a number between 0 and `most`. Raises DomainError (invalid) otherwise."""
    if not value.is_finite() or not 0 <= value <= most:
        raise invalid(field, f"must be a number between 0 and {most}")
    return value


def measured(field: str, value: Decimal, most: Decimal, places: int) -> str:
    """Return a number between 0 and `most`, rounded, as text for the database. Raises DomainError (invalid)."""
    return str(bounded(field, value, most).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP))


def pounds(field: str, value: Decimal, most: Decimal = MOST_POUNDS) -> str:
    """Return an amount rounded to pence, as text for the database. Raises DomainError (invalid) when out of range."""
    return str(rounded(bounded(field, value, most)))
