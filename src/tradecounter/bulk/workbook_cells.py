"""Cells of a workbook that are not text, and the texts that they have for each type of field.

A field of text takes the text that its cell shows. A number, a date or a time in a field of another type is an error,
because spreadsheets convert texts that look like one: the part number `10-3` becomes the tenth of March.
"""

import re
from datetime import datetime, timedelta
from decimal import Context, Decimal

from msgspec import Struct

from tradecounter.bulk.cells import FieldType, UnreadableCellError
from tradecounter.bulk.number_formats import NumberFormat
from tradecounter.kit.numbers import EXACT

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_MOST_DIGITS = 15  # of a number in a spreadsheet; further digits are lost, or errors of rounding
_PRECISION = Context(prec=_MOST_DIGITS)
_LARGEST_EXPONENT = 308
_TOO_LARGE = Decimal(10) ** _MOST_DIGITS
_DAY = timedelta(days=1)
_LEAP_DAY = 60  # the serial number of 29 February 1900, which never was

EPOCH_1900 = datetime(1899, 12, 30)  # noqa: DTZ001 cells have no zone
EPOCH_1904 = datetime(1904, 1, 1)  # noqa: DTZ001


class BadCell(Struct, frozen=True):
    """A cell without a value that can be read, and why."""

    why: str

    def __str__(self) -> str:
        return self.why

    def text_for(self, field: FieldType) -> str:
        """Raise UnreadableCellError."""
        raise UnreadableCellError(self.why)


class TruthCell(Struct, frozen=True):
    """A cell that shows TRUE or FALSE."""

    value: bool

    def __str__(self) -> str:
        return "TRUE" if self.value else "FALSE"

    def text_for(self, field: FieldType) -> str:
        """Return the cell's text for a type of field. Raises UnreadableCellError."""
        if field not in {"text", "boolean"}:
            raise UnreadableCellError(f"the cell is {self}, not a {field}")
        return str(self)


class MomentCell(Struct, frozen=True):
    """A cell that shows a date, a time of day or a duration; `since_midnight` is the time or the duration."""

    day: datetime | None
    since_midnight: timedelta

    def __str__(self) -> str:
        if self.day is None:
            return _clock(self.since_midnight)
        return str(self.day.date()) + (f" {_clock(self.since_midnight)}" if self.since_midnight else "")

    def text_for(self, field: FieldType) -> str:
        """Return the cell's text for a type of field. Raises UnreadableCellError."""
        fits = field == "date" if self.day is not None else field == "time" and self.since_midnight < _DAY
        if fits:
            return str(self)
        what = "date" if self.day is not None else "time" if self.since_midnight < _DAY else "duration"
        if field == "text":
            raise UnreadableCellError(f"the cell is a {what} ({self}): format it as text, then type the value again")
        raise UnreadableCellError(f"the cell is a {what} ({self}), not a {field}")


class NumberCell(Struct, frozen=True):
    """A cell that shows a number, which may be a percentage or an amount of money."""

    number: Decimal
    format: NumberFormat

    def __str__(self) -> str:
        return self.format.shown(self.number) or f"{self.number:f}"

    def text_for(self, field: FieldType) -> str:
        """Return the cell's text for a type of field, never with an exponent. Raises UnreadableCellError."""
        section = self.format.section_of(self.number)
        if field == "text":
            return self._shown(scientific=section.scientific)
        if section.currency is not None:
            raise UnreadableCellError(f"{self} is in another currency than pounds ({section.currency})")
        value = self.number * 100**section.percents
        return f"{value.normalize(EXACT):f}" + "%" * section.percents

    def _shown(self, *, scientific: bool) -> str:
        if scientific or abs(self.number) >= _TOO_LARGE:
            lost = "digits of it are not shown" if scientific else f"a cell keeps {_MOST_DIGITS} digits of a number"
            raise UnreadableCellError(
                f"the cell is the number {self.number:f}, but {lost}: format it as text, then type the value again"
            )
        shown = self.format.shown(self.number)
        if shown is None:
            raise UnreadableCellError(
                f"the cell is the number {self.number:f}, but its format {self.format.code} shows something else: "
                "format it as text, then type the value again"
            )
        return shown


def _clock(since_midnight: timedelta) -> str:
    minutes, seconds = divmod(int(since_midnight.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}"


def as_number(text: str) -> Decimal:
    """Return a number as a spreadsheet has it, with 15 digits. Raises ValueError."""
    if _NUMBER.fullmatch(text) is None:
        raise ValueError(text)
    try:
        number = _PRECISION.create_decimal(text).normalize()
    except ArithmeticError as error:
        raise ValueError(text) from error
    if abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError(text)
    return number


def moment_cell(serial: Decimal, epoch: datetime, *, with_date: bool) -> MomentCell | BadCell:
    """Return the date, the time of day or the duration that is so many days after the epoch."""
    try:
        since_epoch = timedelta(seconds=round(serial * 86400))
        if not with_date:
            return MomentCell(None, since_epoch) if serial >= 0 else BadCell(f"the time {serial:f} is negative")
        if epoch == EPOCH_1900 and serial < _LEAP_DAY:
            since_epoch += _DAY
        moment = epoch + since_epoch
    except OverflowError:
        return BadCell(f"the date {serial:f} is out of range")
    return _of_moment(moment)


def iso_moment_cell(text: str) -> MomentCell | BadCell:
    """Return the date of a cell that has it as ISO 8601."""
    try:
        return _of_moment(datetime.fromisoformat(text).replace(tzinfo=None))
    except ValueError:
        return BadCell(f"the cell's date {text[:40]!r} is unreadable")


def _of_moment(moment: datetime) -> MomentCell:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return MomentCell(midnight, moment - midnight)
