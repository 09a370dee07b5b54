"""Reads lines of a SKU and a quantity, as people paste them from an e-mail, a spreadsheet or a CSV file."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tradecounter.kit.errors import FieldError, invalid_fields
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.ordering.wire import LONGEST_SKU, MOST_ITEMS, MOST_UNITS, CreateOrderItem

_SEPARATORS = ("\t", ";", ",")
_TIMES = re.compile(r"([0-9]{1,6})\s*[x\u00d7]\s+(\S.*)", re.IGNORECASE)
_SEPARATOR_LINE = re.compile(r"sep=.\s*", re.IGNORECASE)  # Excel writes it before the heading
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
    columns = None
    for number, line in enumerate(text.splitlines(), 1):
        cells = _cells(line)
        if not any(cells) or _SEPARATOR_LINE.fullmatch(line):
            continue
        if columns is None and (found := _heading(cells)) is not None:
            columns = found
            continue
        item = _item(line, cells, columns)
        if isinstance(item, str):
            bad.append(BadLine(number, item))
        else:
            lines.append(QuickLine(number, item))
        columns = columns or _Columns()
    if len(lines) > MOST_ITEMS:
        bad.append(BadLine(lines[MOST_ITEMS].number, f"is one too many: an order has at most {MOST_ITEMS} lines"))
    return lines, bad


def named_lines(bad: Sequence[BadLine]) -> str:
    """Return what is wrong with lines, in one text."""
    more = f"; and {len(bad) - _MOST_PROBLEMS} more" if len(bad) > _MOST_PROBLEMS else ""
    return "; ".join(map(str, bad[:_MOST_PROBLEMS])) + more


def _cells(line: str) -> list[str]:
    separator = _separator(line)
    if separator is not None:
        try:
            [cells] = csv.reader([line], delimiter=separator)
        except (csv.Error, ValueError):
            cells = line.split(separator)
        return [cell.strip() for cell in cells]
    if (times := _TIMES.fullmatch(line.strip())) is not None:
        return [times[2].strip(), times[1]]
    words = line.split()
    return words if len(words) < _PAIR else [" ".join(words[:-1]), words[-1]]


def _separator(line: str) -> str | None:
    return next((found for found in _SEPARATORS if found in line), None)


def _heading(cells: Sequence[str]) -> _Columns | None:
    names = [cell.lower() for cell in cells]
    sku = next((n for n, name in enumerate(names) if name in _SKU_HEADINGS), None)
    quantity = next((n for n, name in enumerate(names) if name in _QUANTITY_HEADINGS), None)
    return None if sku is None or quantity is None else _Columns(sku, quantity, len(cells))


def _item(line: str, cells: Sequence[str], columns: _Columns | None) -> CreateOrderItem | str:
    """Return the item of a line, or what is wrong with it."""
    at = columns or _Columns()
    sku = cells[at.sku] if at.sku < len(cells) else ""
    units = cells[at.quantity] if at.quantity < len(cells) else ""
    if not sku or len(sku) > LONGEST_SKU:
        return f"{line.strip()[:60]!r} has no SKU"
    if any(cells[at.most :]):  # the rest of a number with a comma, perhaps
        return f"{line.strip()[:60]!r} has {len(cells)} cells, and only {at.most} have a heading"
    try:
        quantity = read_count(units, commas=_separator(line) == ",") if units else 1
    except UnreadableNumberError as error:
        return f"{line.strip()[:60]!r} must end with a whole number of units: {error}"
    if not 1 <= quantity <= MOST_UNITS:
        return f"{line.strip()[:60]!r} must have 1 to {MOST_UNITS} units"
    return CreateOrderItem(sku, quantity)
