"""Reads the lines of an account in a bank's or a ledger's file (specification, a bank file).

The file goes through the reader of imports. What is wrong in one line costs that line alone, which is then not placed;
a file whose structure cannot be trusted is rejected as a whole.
"""

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
from tradecounter.bulk.columns import ColumnOptions, normal_name
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import Form, ImportFile, form_of, opened_file
from tradecounter.bulk.tables import Line, UnreadableLineError
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.payments.bank_days import UnreadableDayError, read_day
from tradecounter.payments.bank_headings import (
    MOST_ABOVE,
    WITHOUT_HEADINGS,
    Headings,
    find_headings,
    known_headings,
    read_headings,
)
from tradecounter.payments.bank_line import BankLine, BankRow, read_line, storable, unread_line

MOST_LINES = 10_000

_TYPES: Mapping[str, FieldType] = {"date": "date", "amount": "number", "credit": "number", "debit": "number"}
_OBJECT = msgspec.json.Decoder(dict[str, Any])
_KNOWN = known_headings({})


class BankFile(Struct, frozen=True):
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
        elif renamed:
            raise invalid("map", f"columns can be mapped in CSV and XLSX files only, not in {form}")
        else:
            texts = islice(opened.texts(), MOST_LINES + 1)
            found = BankFile([_of_object(number, text, today) for number, text in texts])
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
    """Return the cells of the line that may have the headings, for a person to say what they are; else none."""
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
    return [str(cell).strip() for cell in found]


def _filled(cells: Iterable[Cell]) -> int:
    return sum(bool(str(cell).strip()) for cell in cells)


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
    """Raise DomainError (invalid) if a cell of a CSV file contains a part of another line of the account."""
    if separator is None:
        return
    for number, cells in lines:
        texts = list(map(str, cells))
        broken = [place for place, text in enumerate(texts) if "\n" in text or "\r" in text]
        if broken and _is_joined(texts, broken, separator, headings):
            raise invalid("file", f"line {number}: a cell contains the next line, so a quote is not closed")


def _is_joined(cells: Sequence[str], broken: Sequence[int], separator: str, headings: Headings) -> bool:
    """Return whether a row is two lines: too many cells, or a second day, in or behind a cell with a line break."""
    inside = [line.split(separator) for place in broken for line in cells[place].splitlines()]
    behind = cells[broken[0] + 1 :] if headings.places["date"] < broken[0] else ()
    return (
        _filled(cells[headings.width :]) > 0
        or any(len(parts) >= headings.width for parts in inside)
        or any(map(_is_day, chain(*inside, behind)))
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
