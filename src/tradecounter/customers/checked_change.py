"""Checks a change of an account from an API, where the command line checks its options."""

from decimal import Decimal
from typing import Any

from msgspec import UNSET, structs

from tradecounter.customers.queries.accounts import AccountChange
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import ErrorCollector, invalid
from tradecounter.kit.money import rounded

LARGEST_LIMIT = Decimal(1_000_000_000)
_MOST = {"discount": Decimal(100), "credit_limit": LARGEST_LIMIT}


def checked_change(change: AccountChange) -> AccountChange:
    """Return a change with amounts in pence. Raises DomainError (invalid) with all errors."""
    collector = ErrorCollector()
    values: dict[str, Any] = {}
    for name in ("email_address", "accounts_email"):
        email = getattr(change, name)
        with collector.collecting():
            if isinstance(email, str) and parse_email(email) is None:
                raise invalid(name, NOT_AN_EMAIL)
    for name, most in _MOST.items():
        amount = getattr(change, name)
        with collector.collecting():
            if amount is not UNSET and amount is not None:
                if not amount.is_finite() or not 0 <= amount <= most:
                    raise invalid(name, f"must be between 0 and {most}")
                values[name] = rounded(amount)
    collector.check()
    return structs.replace(change, **values)
