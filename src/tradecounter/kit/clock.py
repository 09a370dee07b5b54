"""Where the current time comes from: nothing else in the project asks the machine for it."""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Tells the current moment."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the current moment, aware, in UTC."""
        return datetime.now(UTC)


class FrozenClock:
    """A clock that stands still until it is moved, for tests and for trying things out."""

    def __init__(self, moment: datetime) -> None:
        self._moment = moment.astimezone(UTC)

    def now(self) -> datetime:
        """Return the moment at which the clock stands, aware, in UTC."""
        return self._moment

    def set(self, moment: datetime) -> None:
        """Put the clock at an aware moment."""
        self._moment = moment.astimezone(UTC)

    def advance(self, step: timedelta) -> None:
        """Move the clock forward by a step."""
        self._moment += step
