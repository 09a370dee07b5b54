"""Which imports of files can be rolled back."""

from datetime import datetime, timedelta

from tradecounter.kit.errors import DomainError, Kind

ROLL_BACK_WITHIN = timedelta(days=90)


def require_rollable(what: str, at: datetime, rolled_back_at: datetime | None, now: datetime) -> None:
    """Raise DomainError (conflict) if an import, by its name and when it was made, is rolled back or too old for it."""
    if rolled_back_at is not None:
        raise DomainError(Kind.CONFLICT, f"{what} is already rolled back")
    if at < now - ROLL_BACK_WITHIN:
        raise DomainError(Kind.CONFLICT, f"{what} is over {ROLL_BACK_WITHIN.days} days old: too old to roll back")
