"""Reads the payments in a bank's CSV file."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation

from tradecounter.kit.errors import invalid
from tradecounter.kit.money import rounded

COLUMNS = ("date", "amount", "reference")

_NUMBERS = re.compile(r"(?<![0-9])[0-9]{1,18}(?![0-9])")
_SEPARATORS = ",;\t"


@dataclass(frozen=True, slots=True)
class BankLine:
    """A line of the file; `error` says why it cannot be read."""

    line: int
    day: str
    amount: str
    reference: str
    received_on: date | None = None
    pounds: Decimal | None = None
    error: str | None = None

    @property
    def numbers(self) -> list[int]:
        """The numbers in the reference, which may be those of invoices."""
        return [int(number) for number in _NUMBERS.findall(self.reference)]


def bank_lines(content: bytes) -> list[BankLine]:
    """Return the lines of a file with the header `date,amount,reference`; other columns are ignored.

    Raises DomainError (invalid).
    """
    try:
        return list(_lines(_text_of(content)))
    except csv.Error as error:
        raise invalid("file", f"is not CSV: {error}") from error


def _text_of(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def _lines(text: str) -> Iterator[BankLine]:
    header = text.lstrip().partition("\n")[0]
    separator = max(_SEPARATORS, key=header.count)
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    names: list[str] | None = None
    for cells in reader:
        if not any(cell.strip() for cell in cells):
            continue
        if names is None:
            names = [cell.strip().lower() for cell in cells]
            if missing := [column for column in COLUMNS if column not in names]:
                raise invalid("file", f"has no column {', '.join(missing)}; the header is {','.join(COLUMNS)}")
            continue
        found = dict(zip(names, (cell.strip() for cell in cells), strict=False))
        yield _line(reader.line_num, *(found.get(column, "") for column in COLUMNS))
    if names is None:
        raise invalid("file", f"is empty; its header is {','.join(COLUMNS)}")


def _line(number: int, day: str, amount: str, reference: str) -> BankLine:
    received_on, pounds = _day(day), _amount(amount)
    error = None
    if received_on is None:
        error = f"the date {day!r} is not YYYY-MM-DD or DD/MM/YYYY"
    elif pounds is None:
        error = f"the amount {amount!r} is not pounds and pence"
    elif pounds <= 0:
        error = "it is not money received"
    elif "\x00" in reference:
        error = "the reference has a NUL character"
    return BankLine(number, day, amount, reference, received_on, pounds, error)


def _day(text: str) -> date | None:
    for form in ("%Y-%m-%d", "%d/%m/%Y"):
        try:
            return datetime.strptime(text, form).date()  # noqa: DTZ007 a day has no time zone
        except ValueError:
            pass
    return None


def _amount(text: str) -> Decimal | None:
    try:
        amount = Decimal(text.replace("£", "").replace(",", "").strip())
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and abs(amount) < 10**12 and amount == rounded(amount) else None
