"""A line of a bank's file: the texts in it, and the day, the amount and the payer that are read from them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal

from msgspec import Struct
from msgspec.structs import astuple, fields

from tradecounter.kit.clock import no_such_day, uk_date
from tradecounter.kit.money import NOTHING, rounded
from tradecounter.kit.numbers import UnreadableNumberError, read_pounds
from tradecounter.kit.text import fold, one_line

EARLIEST = date(2000, 1, 1)
FORMS = "YYYY-MM-DD, DD/MM/YYYY or DD MMM YYYY"

_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_FEWEST_LETTERS_OF_A_MONTH = 3
_TIME = r"(?:[ T,]+(?P<time>[0-9]{1,2}:[0-9]{2})(?::[0-9]{2}(?:\.[0-9]+)?)?(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?"
_YEAR_FIRST = re.compile(rf"(?P<year>[0-9]{{4}})-(?P<month>[0-9]{{2}})-(?P<day>[0-9]{{2}}){_TIME}")
_DAY_FIRST = re.compile(
    r"(?P<day>[0-9]{1,2})(?P<gap>[/ -])(?P<month>[0-9]{1,2}|[A-Za-z]{3,9})(?P=gap)(?P<year>[0-9]{4}|[0-9]{2})" + _TIME
)
_LONGEST_SHOWN = 40


class UnreadableDayError(ValueError):
    """A text is no day on which money can have been received; the message says why. `day` is the day in it, if any."""

    def __init__(self, message: str, day: date | None = None) -> None:
        super().__init__(message)
        self.day = day


class _NoSuchDayError(ValueError):
    """A text has the form of a date, and no calendar has the day; the message says why."""


def read_day(text: str, today: date) -> date:
    """Return a day from 2000 until `today`, as banks write it; a time after it is ignored.

    A time with a zone counts as UK time. Raises UnreadableDayError.
    """
    shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
    try:
        day = _day(text)
    except _NoSuchDayError as error:
        raise UnreadableDayError(f"the date {shown!r} does not exist: {error}") from error
    except (ValueError, OverflowError) as error:
        raise UnreadableDayError(f"the date {shown!r} is not {FORMS}" if shown else "it has no date") from error
    if day < EARLIEST:
        raise UnreadableDayError(f"the date {shown!r} is before {EARLIEST.year}", day)
    if day > today:
        raise UnreadableDayError(f"the date {shown!r} is after today, {today}", day)
    return day


def _day(text: str) -> date:
    match = _YEAR_FIRST.fullmatch(text) or _DAY_FIRST.fullmatch(text)
    if match is None:
        raise ValueError
    century = "" if len(match["year"]) > len("26") else "20"
    iso = f"{century}{match['year']}-{_month(match['month']):02}-{match['day']:0>2}"
    if why := no_such_day(iso):
        raise _NoSuchDayError(why)
    day = date.fromisoformat(iso)
    if match["zone"] is None:
        return day
    return uk_date(datetime.strptime(f"{day} {match['time']}{match['zone']}", "%Y-%m-%d %H:%M%z"))


def _month(text: str) -> int:
    if text.isdigit():
        return int(text)
    name = "sep" if text.casefold() == "sept" else text.casefold()
    for number, month in enumerate(_MONTHS, start=1):
        if name in {month, month[:_FEWEST_LETTERS_OF_A_MONTH]}:
            return number
    raise ValueError


_NUMBERS = re.compile(r"(?<![0-9])[0-9]{1,18}(?![0-9])")
_ABSURD = 10**12  # pounds
_POUNDS = {"", "gbp", "£"}
_LONGEST_CELL, _LONGEST_TEXT = 300, 1000  # characters that are kept
_FEWEST_LETTERS = 4  # of a text that names a payer


class BankRow(Struct, frozen=True, kw_only=True):
    """The cells of a line that have a meaning; `credit` is money received, `debit` money paid out."""

    date: str = ""
    amount: str = ""
    credit: str = ""
    debit: str = ""
    reference: str = ""
    description: str = ""
    payer: str = ""
    currency: str = ""


FIELDS = tuple(member.encode_name for member in fields(BankRow))


class BankLine(Struct, frozen=True, kw_only=True):
    """A line of a file.

    Attributes:
        number: the number of the line in its file.
        day_written, amount_written: as written.
        reference: who pays and what is written about it, as one text.
        numbers: the numbers in it, which may be those of invoices; the payer's name has none.
        payer_text: the text that names the payer, in later files too; empty if it is too short to tell payers apart.
        received_on, pounds: as read; None if they cannot be read.
        day_read: the day as read, also one on which no money can have been received yet.
        error: why the line cannot be read, if so.
        occurrence: the number of the line among equal ones in its file, from 1.
    """

    number: int
    day_written: str = ""
    amount_written: str = ""
    reference: str = ""
    numbers: Sequence[int] = ()
    payer_text: str = ""
    received_on: date | None = None
    day_read: date | None = None
    pounds: Decimal | None = None
    error: str | None = None
    occurrence: int = 1

    @property
    def is_received(self) -> bool:
        """Whether the line may be money received: its amount is above zero, or unreadable."""
        return self.pounds is None or self.pounds > NOTHING

    @property
    def identity(self) -> str:
        """The text that is equal for the same line of another file: date, amount and reference, as read or written."""
        amount = self.amount_written if self.pounds is None else str(self.pounds)
        return "\x1f".join((str(self.day_read or self.day_written), amount, fold(self.reference)))


class _UnreadableError(ValueError):
    """A line cannot be read; the message says why."""


def read_line(number: int, row: BankRow, today: date, *, commas: bool = True, error: str | None = None) -> BankLine:
    """Return a line as read; `error` was found before. Without `commas`, an amount with a comma is unreadable."""
    payer, reference, description = (_kept(cell) for cell in (row.payer, row.reference, row.description))
    amounts = {name: _kept(getattr(row, name)) for name in ("amount", "credit", "debit")}
    errors = [] if error is None else [error]
    if any("\x00" in cell for cell in astuple(row)):
        errors.append("it has a NUL character")
    received_on = day_read = pounds = None
    try:
        received_on = day_read = read_day(_kept(row.date), today)
    except UnreadableDayError as unreadable:
        day_read = unreadable.day
        errors.append(str(unreadable))
    try:
        pounds = _pounds(amounts, commas=commas)
        _require_pounds_sterling(pounds, _kept(row.currency))
    except _UnreadableError as unreadable:
        pounds = None
        errors.append(str(unreadable))
    text = _joined(payer, reference, description)
    return BankLine(
        number=number,
        day_written=_kept(row.date),
        amount_written=_written(amounts, pounds),
        reference=text,
        numbers=[int(number) for number in _NUMBERS.findall(one_line(f"{row.reference} {row.description}"))],
        payer_text=_naming(payer) or _naming(text),
        received_on=received_on,
        day_read=day_read,
        pounds=pounds,
        error="; ".join(errors) or None,
    )


def unread_line(number: int, cells: Iterable[str], error: str) -> BankLine:
    """Return a line that has only its text, because nothing in it is readable."""
    return BankLine(number=number, reference=storable(",".join(cells)), error=error)


def storable(text: str) -> str:
    """Return a text of a file as one line, cut and with the characters replaced that the database cannot store."""
    return one_line(text[:_LONGEST_TEXT].encode(errors="replace").decode())


def _kept(cell: str) -> str:
    return storable(cell[:_LONGEST_CELL])


def _joined(*texts: str) -> str:
    """Return texts as one, without those that another one contains."""
    kept: list[str] = []
    for text in sorted(filter(None, texts), key=len, reverse=True):
        if not any(fold(text) in fold(longer) for longer in kept):
            kept.append(text)
    return " ".join(text for text in dict.fromkeys(texts) if text in kept)


def _written(amounts: Mapping[str, str], pounds: Decimal | None) -> str:
    """Return the amount as written; all amounts if they are inconsistent."""
    written = list(dict.fromkeys(filter(None, amounts.values())))
    return " and ".join(written if pounds is None else written[:1])


def _naming(text: str) -> str:
    return fold(text) if sum(map(str.isalpha, text)) >= _FEWEST_LETTERS else ""


def _pounds(amounts: dict[str, str], *, commas: bool) -> Decimal:
    """Return the amount of a line, negative if it is paid out. Raises _UnreadableError."""
    read = {name: _amount(written, commas=commas) for name, written in amounts.items() if written}
    if not read:
        raise _UnreadableError("it has no amount")
    credit, debit = read.get("credit", NOTHING), abs(read.get("debit", NOTHING))
    if credit < 0:
        raise _UnreadableError(f"the money received has a minus sign: {amounts['credit']!r}")
    if credit and debit:
        raise _UnreadableError("it has money both received and paid out")
    amount = read.get("amount", credit - debit)
    if len(read) > 1 and amount != credit - debit:
        raise _UnreadableError(f"its amounts differ: {' and '.join(repr(amounts[name]) for name in read)}")
    if abs(amount) >= _ABSURD:
        written = next(amounts[name] for name, value in read.items() if abs(value) >= _ABSURD)
        raise _UnreadableError(f"the amount {written!r} is too large")
    return rounded(amount)


def _amount(written: str, *, commas: bool) -> Decimal:
    try:
        return read_pounds(written, signed=True, commas=commas)
    except UnreadableNumberError as error:
        raise _UnreadableError(f"the amount is not pounds and pence: {error}") from error


def _require_pounds_sterling(pounds: Decimal, currency: str) -> None:
    """Raise _UnreadableError for money received in another currency."""
    if pounds > 0 and currency.casefold() not in _POUNDS:
        raise _UnreadableError(f"the currency is {currency[:20]!r}, not GBP")
