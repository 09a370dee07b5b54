"""Reads lines of a SKU and a quantity, as people paste them from an e-mail, a spreadsheet or a CSV file."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tradecounter.bulk.cells import UnreadableCellError, cell_text
from tradecounter.bulk.tables import UnreadableLineError, csv_lines
from tradecounter.kit.errors import FieldError, invalid_fields
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.orders.wire import LONGEST_SKU, MOST_ITEMS, MOST_UNITS, CreateOrderItem

_SEPARATORS = ("\t", ";", ",")
_TIMES = re.compile(r"([0-9]{1,6})\s*[x\u00d7]\s+(\S.*)", re.IGNORECASE)
_STATED = re.compile(r'"?sep=(?P<separator>[^"])"?\s*', re.IGNORECASE)  # Excel writes it before the heading
_SKU_HEADINGS = {"sku", "product", "code", "product code", "item", "item code", "part", "part number"}
_QUANTITY_HEADINGS = {"quantity", "qty", "units", "number", "count"}
_MOST_PROBLEMS = 10  # named in an error
_PAIR = 2


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which cells of a line are its SKU and its quantity, and how many cells it has at most."""

    sku: int = 0
    quantity: int = 1
    most: int = 2
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class _Line:
    """A line with something in it, as written and as cells; without a separator, these are its words."""

    number: int
    written: str
    cells: Sequence[str]
    separator: str | None


@dataclass(frozen=True, slots=True)
class QuickLine:
    """An item, and the number of its line."""

    number: int
    item: CreateOrderItem


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be read, and why."""

    number: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.number} {self.problem}"


def read_quick_lines(text: str, field: str = "lines") -> list[CreateOrderItem]:
    """Return the items of lines such as `PHONE 2`, `PHONE,2` or `2 x PHONE`; without a quantity, it is one unit.

    Cells may be separated by tabs, semicolons or commas. A heading may name the columns, and then others are left out.
    Raises DomainError (invalid), which names the lines that cannot be read.
    """
    lines, bad = numbered_quick_lines(text)
    if bad:
        raise invalid_fields([FieldError(field, named_lines(bad))])
    return [line.item for line in lines]


def numbered_quick_lines(text: str) -> tuple[list[QuickLine], list[BadLine]]:
    """Return the items as `read_quick_lines` does with their lines' numbers, and the lines that cannot be read."""
    lines: list[QuickLine] = []
    bad: list[BadLine] = []
    columns = _Columns()
    is_first = True
    for line in _written_lines(text.splitlines()):
        if isinstance(line, BadLine):
            bad.append(line)
            continue
        heading = _heading(line.cells) if is_first else None
        is_first = False
        if heading is not None:
            columns = heading
            bad += [BadLine(line.number, problem) for problem in heading.problems]
            continue
        item = _item(line, columns)
        if isinstance(item, str):
            bad.append(BadLine(line.number, item))
        else:
            lines.append(QuickLine(line.number, item))
    if len(lines) > MOST_ITEMS:
        bad.append(BadLine(lines[MOST_ITEMS].number, f"is one too many: an order has at most {MOST_ITEMS} lines"))
    return lines, bad


def lines_of_heading(text: str) -> int:
    """Return how many lines of a list come before its items: those up to the heading, if it has one."""
    for line in _written_lines(text.splitlines()):
        return line.number if not isinstance(line, BadLine) and _heading(line.cells) is not None else 0
    return 0


def named_lines(bad: Sequence[BadLine]) -> str:
    """Return what is wrong with lines, in one text."""
    more = f"; and {len(bad) - _MOST_PROBLEMS} more" if len(bad) > _MOST_PROBLEMS else ""
    return "; ".join(map(str, bad[:_MOST_PROBLEMS])) + more


def _written_lines(rows: Sequence[str]) -> Iterator[_Line | BadLine]:
    """Yield the lines with something in them; under a heading with a separator, they are a CSV file's."""
    stated = None
    is_first = True
    for at, row in enumerate(rows):
        if not row.strip():
            continue
        if is_first and (found := _STATED.fullmatch(row)) is not None:
            stated = found["separator"]
            continue
        separator = stated or _separator(row)
        if is_first and separator is not None and _starts_table(row, separator):
            yield from _table_lines("\n".join(rows[at:]), separator, at)
            return
        is_first = False
        yield from _list_line(row, separator, at)


def _starts_table(row: str, separator: str) -> bool:
    return _heading([cell.strip() for cell in row.replace('"', "").split(separator)]) is not None


def _table_lines(text: str, separator: str, skipped: int) -> Iterator[_Line | BadLine]:
    try:
        for number, cells in csv_lines(io.StringIO(text), separator, skipped):
            try:
                texts = [cell_text(cell, "text") for cell in cells]
            except UnreadableCellError as error:
                yield BadLine(number, str(error))
                continue
            if any(texts):
                yield _Line(number, separator.join(texts), texts, separator)
    except UnreadableLineError as error:
        yield BadLine(error.line, f"cannot be read: {error}")


def _list_line(row: str, separator: str | None, at: int) -> Iterator[_Line | BadLine]:
    """Yield the line of a list, whose lines may be written in several ways."""
    if separator is not None:
        yield from _table_lines(row, separator, at)
    else:
        yield _Line(at + 1, row, _words(row), None)


def _words(row: str) -> list[str]:
    if (times := _TIMES.fullmatch(row.strip())) is not None:
        return [times[2].strip(), times[1]]
    words = row.split()
    return words if len(words) < _PAIR else [" ".join(words[:-1]), words[-1]]


def _separator(row: str) -> str | None:
    return next((found for found in _SEPARATORS if found in row), None)


def _heading(cells: Sequence[str]) -> _Columns | None:
    names = [cell.lower() for cell in cells]
    skus = [n for n, name in enumerate(names) if name in _SKU_HEADINGS]
    quantities = [n for n, name in enumerate(names) if name in _QUANTITY_HEADINGS]
    if not skus or not quantities:
        return None
    named = [n for n in skus if names[n] == "sku"] or skus
    problems = [
        f"has two columns for {what}: {cells[found[0]]!r} and {cells[found[1]]!r}"
        for what, found in (("the SKU", named), ("the quantity", quantities))
        if len(found) > 1
    ]
    return _Columns(named[0], quantities[0], len(cells), problems)


def _item(line: _Line, columns: _Columns) -> CreateOrderItem | str:
    """Return the item of a line, or what is wrong with it."""
    shown, cells = repr(line.written.strip()[:60]), line.cells
    sku = cells[columns.sku] if columns.sku < len(cells) else ""
    units = cells[columns.quantity] if columns.quantity < len(cells) else ""
    if not sku or len(sku) > LONGEST_SKU:
        return f"{shown} has no SKU"
    if any(cells[columns.most :]):  # the rest of a number with a comma, perhaps
        return f"{shown} has {len(cells)} cells, and only {columns.most} have a heading"
    try:
        quantity = read_count(units, commas=line.separator not in {";", "\t"}) if units else 1
    except UnreadableNumberError as error:
        return f"{shown} must end with a whole number of units: {error}"
    if not 1 <= quantity <= MOST_UNITS:
        return f"{shown} must have 1 to {MOST_UNITS} units"
    return CreateOrderItem(sku, quantity)
