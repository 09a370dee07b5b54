"""Reads the lines of an account in a bank's or a ledger's file, and finds its headings (specification, a bank file)."""

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from itertools import chain, islice
from typing import Any

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from tradecounter.bulk.cells import Cell, FieldType, UnreadableCellError, cell_text
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import Form, ImportFile, form_of, opened_file
from tradecounter.bulk.tables import ColumnOptions, Line, UnreadableLineError, normal_name, read_header, renamed_columns
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.payments.bank_line import (
    FIELDS,
    BankLine,
    BankRow,
    UnreadableDayError,
    read_day,
    read_line,
    storable,
    unread_line,
)


class Source(Struct, frozen=True):
    """A bank or a ledger, with the headings that its files have."""

    name: str
    headings: str


SOURCES = (
    Source("Barclays", "Number,Date,Account,Amount,Subcategory,Memo"),
    Source("HSBC", "Date,Description,Amount"),
    Source("HSBC", "Date,Type,Description,Paid out,Paid in,Balance"),
    Source(
        "Lloyds, Halifax, Bank of Scotland",
        "Transaction Date,Transaction Type,Sort Code,Account Number,Transaction Description,Debit Amount,"
        "Credit Amount,Balance",
    ),
    Source(
        "Monzo",
        "Transaction ID,Date,Time,Type,Name,Emoji,Category,Amount,Currency,Local amount,Local currency,"
        "Notes and #tags,Address,Receipt,Description,Category split,Money Out,Money In",
    ),
    Source("NatWest, RBS", "Date,Type,Description,Value,Balance,Account Name,Account Number"),
    Source("QuickBooks", "Date,Description,Amount"),
    Source("QuickBooks", "Date,Description,Credit,Debit"),
    Source("QuickBooks", "Date,Description,Payee,Spent,Received"),
    Source("Santander", "Date,Type,Merchant/Description,Debit/Credit,Balance"),
    Source("Santander", "Date,Description,Money in,Money out,Balance"),
    Source("Starling", "Date,Counter Party,Reference,Type,Amount (GBP),Balance (GBP),Spending Category,Notes"),
    Source("Tide", "Date,Transaction ID,Transaction description,Reference,Paid in,Paid out,Type,Status"),
    Source("Xero", "*Date,*Amount,Payee,Description,Reference,Cheque No."),
)

# The field of each heading. The bank's own account, the balance and categories have none.
_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "date": ("Date", "*Date", "Transaction Date"),
    "amount": ("Amount", "*Amount", "Value", "Debit/Credit"),
    "credit": ("Credit", "Credit Amount", "Money In", "Paid in", "Received"),
    "debit": ("Debit", "Debit Amount", "Money Out", "Paid out", "Spent"),
    "payer": ("Payer", "Payee", "Counter Party", "Name"),
    "reference": ("Reference", "Notes and #tags"),
    "description": ("Description", "Transaction Description", "Merchant/Description", "Memo"),
    "currency": ("Currency",),
}
_AMOUNT_FIELDS = {"amount", "credit", "debit"}
_UNITS = ("", " (GBP)", " GBP", " (\u00a3)", " \u00a3")  # after a heading for money
FIELD_OF: Mapping[str, str] = {
    normal_name(heading + unit): field
    for field, headings in _MEANINGS.items()
    for heading in headings
    for unit in (_UNITS if field in _AMOUNT_FIELDS else _UNITS[:1])
}


MOST_ABOVE = 20  # lines above the headings, such as the account's name and balance

_RECEIVED_FIELDS = {"amount", "credit"}
_TEXTS = {"reference", "description", "payer"}
# The columns of files without headings, as HSBC writes them.
WITHOUT_HEADINGS: Mapping[str, int] = {"date": 0, "description": 1, "amount": 2}


class Headings(Struct, frozen=True):
    """The line with the headings, its number of cells, and the place and the heading of each field."""

    line: int
    width: int
    places: Mapping[str, int]
    named: Mapping[str, str]


def read_renamed(pairs: Iterable[str]) -> dict[str, str]:
    """Return the field of each heading from texts such as `Their heading=amount`. Raises DomainError (invalid)."""
    try:
        return renamed_columns(pairs, FIELDS)
    except ValueError as error:
        raise invalid("map", str(error)) from error


def known_headings(renamed: Mapping[str, str]) -> dict[str, str]:
    """Return the field of each known heading, in the form for comparison; those in `renamed` come first."""
    chosen = {normal_name(theirs): ours for theirs, ours in renamed.items()}
    known = {name: name for name in FIELDS} | dict(FIELD_OF)
    return {name: ours for name, ours in known.items() if ours not in chosen.values()} | chosen


def find_headings(lines: Sequence[Line], known: Mapping[str, str]) -> int | None:
    """Return the index of the first line with headings for a date and an amount."""
    for at, (_, cells) in enumerate(lines[:MOST_ABOVE]):
        fields = _fields(map(str, cells), known)
        if "date" in fields and fields & _RECEIVED_FIELDS:
            return at
    return None


def read_headings(line: Line, known: Mapping[str, str], renamed: Mapping[str, str]) -> Headings:
    """Return the columns. Raises DomainError (invalid), naming the line and everything that is wrong."""
    number, names = line[0], list(map(str, line[1]))
    present = {name: known[name] for name in map(normal_name, names) if name in known}
    missing = [theirs for theirs in renamed if normal_name(theirs) not in present]
    header = read_header(names, BankRow, ColumnOptions(present, ignore_unknown=True))
    errors = [error for error in header.errors if not error.startswith("the columns may be")]
    errors += [f"there is no column {theirs!r} to map" for theirs in missing]
    fields = _fields(names, known)
    for wanted, what in (({"date"}, "the date"), (_RECEIVED_FIELDS, "the amount"), (_TEXTS, "the reference")):
        if not fields & wanted:
            errors.append(f"there is no column for {what}")
    if errors:
        raise invalid("file", f"line {number}: {'; '.join(errors)}; a column can be mapped to {', '.join(FIELDS)}")
    places = {column.name: column.place for column in header.columns}
    return Headings(number, len(names), places, {name: names[place].strip() for name, place in places.items()})


def _fields(cells: Iterable[str], known: Mapping[str, str]) -> set[str]:
    return {known[name] for name in map(normal_name, cells) if name in known}


MOST_LINES = 10_000

_TYPES: Mapping[str, FieldType] = {"date": "date", "amount": "number", "credit": "number", "debit": "number"}
_OBJECT = msgspec.json.Decoder(dict[str, Any])
_KNOWN = known_headings({})


class BankFile(Struct, frozen=True):
    """The lines of a file, and the heading from which each field was read.

    The reader of imports reads the file. An error in one line concerns this line alone, which is not placed. A file
    whose structure is unreliable is rejected as a whole.
    """

    lines: Sequence[BankLine]
    columns: Mapping[str, str] = field(default_factory=dict)


def read_bank_file(content: bytes, form: Form, today: date, renamed: Mapping[str, str] | None = None) -> BankFile:
    """Return the lines of a file; `renamed` maps its headings to fields of BankRow. It is slow: call it in a thread.

    Raises DomainError (invalid) for a file that is unreadable, has unclear headings or has too many lines.
    """
    try:
        opened = opened_file(io.BytesIO(content), form)
        if form in {"CSV", "XLSX"}:
            bank_file = _table(opened, today, renamed or {})
        elif renamed:
            raise invalid("map", f"columns can be mapped in CSV and XLSX files only, not in {form}")
        else:
            texts = islice(opened.texts(), MOST_LINES + 1)
            bank_file = BankFile([_of_object(number, text, today) for number, text in texts])
    except UnreadableLineError as error:
        raise invalid("file", f"line {error.line}: {error}") from error
    except UnreadableFileError as error:
        raise invalid("file", str(error)) from error
    if not bank_file.lines and not bank_file.columns:
        raise _empty()
    if len(bank_file.lines) > MOST_LINES:
        raise invalid("file", f"has more than {MOST_LINES:,} lines: split it")
    return replace(bank_file, lines=list(_counted(bank_file.lines)))


def form_of_bank_file(name: str, content: bytes) -> Form:
    """Return the format of a file by its name, or else by its content. Raises DomainError (invalid)."""
    try:
        return form_of(name, io.BytesIO(content))
    except UnreadableFileError as error:
        raise invalid("file", str(error)) from error


def first_cells(content: bytes, form: Form) -> list[str]:
    """Return the cells of the line that may have the headings, so that a person can map them; empty without one."""
    if form not in {"CSV", "XLSX"}:
        return []
    try:
        cells = opened_file(io.BytesIO(content), form).cells(BankRow, ColumnOptions(_KNOWN))
        lines = list(islice(cells, MOST_ABOVE))
    except (UnreadableFileError, UnreadableLineError):
        return []
    at = find_headings(lines, _KNOWN)
    found = lines[at][1] if at is not None else max((line for _, line in lines), key=_filled, default=())
    return [str(cell).strip() for cell in found]


def _filled(cells: Iterable[Cell]) -> int:
    return sum(bool(str(cell).strip()) for cell in cells)


def _empty() -> DomainError:
    return invalid("file", "is empty: it has headings such as date,amount,reference, and a line for each payment")


def _counted(lines: Iterable[BankLine]) -> Iterator[BankLine]:
    """Number equal lines, so that two equal payments on one day stay two."""
    occurrences: Counter[str] = Counter()
    for line in lines:
        occurrences[line.identity] += 1
        yield replace(line, occurrence=occurrences[line.identity])


def _table(opened: ImportFile, today: date, renamed: Mapping[str, str]) -> BankFile:
    known = known_headings(renamed)
    written = (line for line in opened.cells(BankRow, ColumnOptions(known)) if _filled(line[1]))
    lines = list(islice(written, MOST_LINES + MOST_ABOVE + 1))
    if not lines:
        raise _empty()
    separator, commas = opened.facts.separator, opened.facts.has_commas

    def read(line: Line, headings: Headings) -> BankLine:
        return _of_cells(line, headings, today, commas=commas)

    at = find_headings(lines, known)
    if at is None and not renamed:
        without = Headings(0, len(WITHOUT_HEADINGS), WITHOUT_HEADINGS, dict.fromkeys(WITHOUT_HEADINGS, ""))
        if len(lines[0][1]) == without.width and read(lines[0], without).error is None:
            _require_whole_lines(lines, separator, without)
            return BankFile([read(line, without) for line in lines], without.named)
    headings = read_headings(lines[at or 0], known, renamed)
    _require_whole_lines(lines, separator, headings)
    for line in lines[: at or 0]:
        above = read(line, headings)
        if above.received_on is not None and above.pounds is not None:
            raise invalid("file", f"line {line[0]} may be a payment, but it is above the headings in {headings.line}")
    return BankFile([read(line, headings) for line in lines[(at or 0) + 1 :]], headings.named)


def _require_whole_lines(lines: Iterable[Line], separator: str | None, headings: Headings) -> None:
    """Raise DomainError (invalid) if a cell of a CSV file contains part of another line of the account."""
    if separator is None:
        return
    for number, cells in lines:
        texts = list(map(str, cells))
        broken = [place for place, text in enumerate(texts) if "\n" in text or "\r" in text]
        if broken and _is_joined(texts, broken, separator, headings):
            raise invalid("file", f"line {number}: a cell contains the next line, so a quote is not closed")


def _is_joined(cells: Sequence[str], broken: Sequence[int], separator: str, headings: Headings) -> bool:
    """Return whether a row is two lines of the account.

    Such a row has too many cells, or a second day in or after a cell with a line break.
    """
    inside = [line.split(separator) for place in broken for line in cells[place].splitlines()]
    later = cells[broken[0] + 1 :] if headings.places["date"] < broken[0] else ()
    return (
        _filled(cells[headings.width :]) > 0
        or any(len(parts) >= headings.width for parts in inside)
        or any(map(_is_day, chain(*inside, later)))
    )


def _is_day(text: str) -> bool:
    try:
        read_day(text.replace('"', "").strip(" '"), date.max)
    except UnreadableDayError:
        return False
    return True


def _of_cells(line: Line, headings: Headings, today: date, *, commas: bool) -> BankLine:
    number, cells = line
    if _filled(cells[headings.width :]):
        return unread_line(number, map(str, cells), f"it has {len(cells)} cells under {headings.width} headings")
    given: dict[str, str] = {}
    errors = []
    for name, place in headings.places.items():
        try:
            given[name] = cell_text(cells[place], _TYPES.get(name, "text")) if place < len(cells) else ""
        except UnreadableCellError as error:
            given[name] = str(cells[place])
            errors.append(f"{name}: {error}")
    return read_line(number, BankRow(**given), today, commas=commas, error="; ".join(errors) or None)


def _of_object(number: int, text: bytes, today: date) -> BankLine:
    """Return a line of a JSON file; its members may have the headings' names."""
    written = text.decode(errors="replace")
    try:
        members = _OBJECT.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return unread_line(number, [written], "it is not a JSON object")
    given: dict[str, str] = {}
    for name, value in members.items():
        field_of = _KNOWN.get(normal_name(name))
        if field_of is None or value is None:
            continue
        if field_of in given or isinstance(value, bool | list | dict):
            what = "is there twice" if field_of in given else "must be a text or a number"
            return unread_line(number, [written], f"{field_of}: {what}")
        given[field_of] = str(value)
    line = read_line(number, BankRow(**given), today)
    return line if line.error is None or line.reference else replace(line, reference=storable(written))
