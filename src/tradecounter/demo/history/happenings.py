"""What happens in the demo's history, and a diary that dates it."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Literal

from msgspec import Struct, field

from tradecounter.kit.clock import day_begins
from tradecounter.sandbox.steps import Step

Who = Literal["customer", "support", "warehouse", "finance", "catalogue", "administrator", "program", "system"]

_SATURDAY = 5
_FRACTION = timedelta(microseconds=260_417)  # of a second, which tells the history from other entries of the audit log


class NewOrder(Struct, frozen=True, kw_only=True):
    """An order or a quote to place. `lines` are draws of products with quantities; see `Shelf` in `fill.py`."""

    customer: str  # an e-mail address
    reference: str
    lines: Sequence[tuple[int, int]]
    kind: Literal["pending", "confirmed", "quote"] = "confirmed"
    from_stock: bool = True


class DatedDeed(Struct, frozen=True):
    """A step on a day from this UK hour on, and who takes it."""

    day: date
    hour: float
    by: Who
    step: Step


class Deed(Struct, frozen=True):
    """A step, its time, and who takes it."""

    at: datetime
    by: Who
    step: Step


class Happening(Struct, frozen=True, kw_only=True):
    """Deeds of one transaction; `at` belongs to no other happening.

    `subject` is the confirmation code of an order, or the e-mail address of a customer. An `order` is placed before the
    deeds, at the time `opened`. Deeds share a transaction if the worker could act between them, for example let a
    quote of the past expire before its customer accepts it.
    """

    at: datetime
    subject: str
    deeds: Sequence[Deed] = ()
    order: NewOrder | None = None
    opened: datetime | None = None

    @property
    def mark(self) -> datetime:
        """The time of the first change, at which the logs have an entry."""
        return self.opened or self.at


class Diary(Struct):
    """Collects happenings on working days up to yesterday; later ones have not happened yet."""

    today: date
    happenings: list[Happening] = field(default_factory=list)
    _taken: set[datetime] = field(default_factory=set)

    def day(self, days_ago: int) -> date:
        """Return a working day, this many days ago or up to two days earlier."""
        day = self.today - timedelta(days=days_ago)
        return day - timedelta(days=max(0, day.weekday() - _SATURDAY + 1))

    def after(self, day: date, days: int) -> date:
        """Return the first working day that is at least this many days later."""
        later = day + timedelta(days=days)
        return later + timedelta(days=7 - later.weekday()) if later.weekday() >= _SATURDAY else later

    def has_come(self, day: date) -> bool:
        """Return whether the day is over."""
        return day < self.today

    def moment(self, day: date, hour: float) -> datetime:
        """Return an unused moment of the day, from this UK hour on."""
        at = day_begins(day) + timedelta(seconds=round(hour * 3600)) + _FRACTION
        while at in self._taken:
            at += timedelta(seconds=7)
        self._taken.add(at)
        return at

    def place(self, day: date, hour: float, code: str, order: NewOrder, *deeds: DatedDeed) -> None:
        """Add an order, with deeds in the same transaction."""
        opened = self.moment(day, hour)
        done = [Deed(self.moment(deed.day, deed.hour), deed.by, deed.step) for deed in deeds]
        at = done[-1].at if done else opened
        self.happenings.append(Happening(at=at, subject=code, deeds=done, order=order, opened=opened))

    def add(self, day: date, hour: float, subject: str, by: Who, step: Step) -> bool:
        """Add a step if its day has come; return whether it has."""
        if self.has_come(day):
            at = self.moment(day, hour)
            self.happenings.append(Happening(at=at, subject=subject, deeds=[Deed(at, by, step)]))
        return self.has_come(day)
