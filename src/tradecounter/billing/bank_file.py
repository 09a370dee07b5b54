"""Reads the lines of an account in a bank's or a ledger's file (decisions, a bank file).

The file goes through the reader of imports. What is wrong in one line costs that line alone, which is then not placed;
a file whose structure cannot be trusted is rejected as a whole.
"""

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice

from msgspec import UNSET

from tradecounter.billing.bank_headings import (
    MOST_ABOVE,
    WITHOUT_HEADINGS,
    Headings,
    find_headings,
    known_headings,
    read_headings,
)
from tradecounter.billing.bank_line import BankLine, BankRow, read_line, unread_line
from tradecounter.bulk.columns import ColumnOptions
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import Form, ImportFile, form_of, opened_file
from tradecounter.bulk.rows import BadRow, Row
from tradecounter.bulk.tables import Line, UnreadableLineError
from tradecounter.kit.errors import DomainError, invalid

MOST_LINES = 10_000

_DECIMAL_COMMAS = {";", "\t"}  # separators of programs that write decimal commas


@dataclass(frozen=True, slots=True)
class BankFile:
    """The lines of a file, and the heading from which each field was read."""

    lines: Sequence[BankLine]
    columns: Mapping[str, str] = field(default_factory=dict)


def read_bank_file(content: bytes, form: Form, today: date, renamed: Mapping[str, str] | None = None) -> BankFile:
    """Return the lines of a file; `renamed` maps its headings to fields of BankRow. It takes long: call it in a thread.

    Raises DomainError (invalid) for a file that cannot be read, whose headings are not clear, or with too many lines.
    """
    try:
        opened = opened_file(io.BytesIO(content), form)
        if form in {"CSV", "XLSX"}:
            found = _table(opened, today, renamed or {})
        else:
            rows = opened.rows(BankRow, ColumnOptions(renamed or {}))
            found = BankFile([_of_row(row, today) for row in islice(rows, MOST_LINES + 1)])
    except UnreadableLineError as error:
        raise invalid("file", f"line {error.line}: {error}") from error
    except UnreadableFileError as error:
        raise invalid("file", str(error)) from error
    if not found.lines and not found.columns:
        raise _empty()
    if len(found.lines) > MOST_LINES:
        raise invalid("file", f"has more than {MOST_LINES:,} lines: split it")
    return replace(found, lines=list(_counted(found.lines)))


def form_of_bank_file(name: str, content: bytes) -> Form:
    """Return the format of a file by its name, or else by its content. Raises DomainError (invalid)."""
    try:
        return form_of(name, io.BytesIO(content))
    except UnreadableFileError as error:
        raise invalid("file", str(error)) from error


def first_cells(content: bytes, form: Form) -> list[str]:
    """Return the cells of the line that may have the headings, for somebody who says what they are; else none."""
    if form not in {"CSV", "XLSX"}:
        return []
    known = known_headings({})
    try:
        cells = opened_file(io.BytesIO(content), form).cells(BankRow, ColumnOptions(known))
        lines = list(islice(cells, MOST_ABOVE))
    except (UnreadableFileError, UnreadableLineError):
        return []
    at = find_headings(lines, known)
    found = lines[at][1] if at is not None else max((line for _, line in lines), key=_filled, default=())
    return [cell.strip() for cell in found]


def _filled(cells: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in cells)


def _empty() -> DomainError:
    return invalid("file", "is empty: it has headings such as date,amount,reference, and a line for each payment")


def _counted(lines: Iterable[BankLine]) -> Iterator[BankLine]:
    """Number equal lines, so that two equal payments on one day stay two."""
    seen: Counter[str] = Counter()
    for line in lines:
        seen[line.identity] += 1
        yield replace(line, occurrence=seen[line.identity])


def _table(opened: ImportFile, today: date, renamed: Mapping[str, str]) -> BankFile:
    known = known_headings(renamed)
    written = (line for line in opened.cells(BankRow, ColumnOptions(known)) if any(map(str.strip, line[1])))
    lines = list(islice(written, MOST_LINES + MOST_ABOVE + 1))
    if not lines:
        raise _empty()
    separator = opened.facts.separator
    commas = separator not in _DECIMAL_COMMAS

    def read(line: Line, headings: Headings) -> BankLine:
        return _of_cells(line, headings, today, commas=commas)

    at = find_headings(lines, known)
    if at is None and not renamed:
        without = Headings(0, len(WITHOUT_HEADINGS), WITHOUT_HEADINGS, dict.fromkeys(WITHOUT_HEADINGS, ""))
        if len(lines[0][1]) == without.width and read(lines[0], without).error is None:
            return BankFile([read(line, without) for line in lines], without.named)
    headings = read_headings(lines[at or 0], known, renamed)
    for number, cells in lines:
        if separator is not None and _swallows_a_line(cells, separator, headings.width):
            raise invalid("file", f"line {number}: a cell contains the next line, so a quote is not closed")
    for line in lines[: at or 0]:
        above = read(line, headings)
        if above.received_on is not None and above.pounds is not None:
            raise invalid("file", f"line {line[0]} may be a payment, but it is above the headings in {headings.line}")
    return BankFile([read(line, headings) for line in lines[(at or 0) + 1 :]], headings.named)


def _swallows_a_line(cells: Iterable[str], separator: str, width: int) -> bool:
    """Return whether a cell goes on in a line that has as many cells as the headings."""
    return any(line.count(separator) >= width - 1 for cell in cells for line in cell.splitlines()[1:])


def _of_cells(line: Line, headings: Headings, today: date, *, commas: bool) -> BankLine:
    number, cells = line
    if any(cell.strip() for cell in cells[headings.width :]):
        return unread_line(number, cells, f"it has {len(cells)} cells under {headings.width} headings")
    given = {name: cells[place] for name, place in headings.places.items() if place < len(cells)}
    return read_line(number, BankRow(**given), today, commas=commas)


def _of_row(row: Row[BankRow] | BadRow[BankRow], today: date) -> BankLine:
    if isinstance(row, Row):
        return read_line(row.line, row.values, today)
    error = "; ".join(row.errors)
    if row.values is None:
        return unread_line(row.line, (), error)
    valid = {name: value for name in BankRow.__struct_fields__ if (value := getattr(row.values, name)) is not UNSET}
    return read_line(row.line, BankRow(**valid), today, error=error)
