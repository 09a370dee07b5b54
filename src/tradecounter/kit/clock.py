"""Clocks; no other module reads the current time."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """A source of the current time."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        return datetime.now(UTC)


class FrozenClock:
    """A clock for tests, whose time changes only by `set` and `advance`."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment.astimezone(UTC)

    def now(self) -> datetime:
        """Return the time that was set, aware, in UTC."""
        return self._moment

    def set(self, moment: datetime) -> None:
        """Set the clock to an aware datetime."""
        self._moment = moment.astimezone(UTC)

    def advance(self, step: timedelta) -> None:
        """Move the clock forward."""
        self._moment += step
