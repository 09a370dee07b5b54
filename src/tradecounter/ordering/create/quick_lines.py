"""Reads lines of a SKU and a quantity, as people paste them from an e-mail, a spreadsheet or a CSV file."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

from tradecounter.kit.errors import FieldError, invalid_fields
from tradecounter.ordering.wire import LONGEST_SKU, MOST_ITEMS, MOST_UNITS, CreateOrderItem

_SEPARATORS = ("\t", ";", ",")
_TIMES = re.compile(r"(\d{1,6})\s*[x\u00d7]\s+(\S.*)", re.IGNORECASE)
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+|\d{1,9}")
_SKU_HEADINGS = {"sku", "product", "code", "product code", "item"}
_QUANTITY_HEADINGS = {"quantity", "qty", "units", "number"}
_MOST_PROBLEMS = 10  # named in an error
_PAIR = 2


@dataclass(frozen=True, slots=True)
class _Columns:
    """Which cells of a line are its SKU and its quantity."""

    sku: int = 0
    quantity: int = 1


def read_quick_lines(text: str, field: str = "lines") -> list[CreateOrderItem]:
    """Return the items of lines such as `PHONE 2`, `PHONE,2` or `2 x PHONE`; without a quantity, it is one unit.

    Cells may be separated by tabs, semicolons or commas. A heading may name the columns, and then others are left out.
    Raises DomainError (invalid), which names the lines that cannot be read.
    """
    items, problems, columns = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        cells = _cells(line)
        if not any(cells):
            continue
        if columns is None and (found := _heading(cells)) is not None:
            columns = found
            continue
        item = _item(line, cells, columns)
        if isinstance(item, str):
            problems.append(f"line {number} {item}")
        else:
            items.append(item)
        columns = columns or _Columns()
    if len(items) > MOST_ITEMS:
        problems.append(f"there are {len(items)} lines, but an order has at most {MOST_ITEMS}")
    if problems:
        more = f"; and {len(problems) - _MOST_PROBLEMS} more" if len(problems) > _MOST_PROBLEMS else ""
        raise invalid_fields([FieldError(field, "; ".join(problems[:_MOST_PROBLEMS]) + more)])
    return items


def _cells(line: str) -> list[str]:
    separator = next((found for found in _SEPARATORS if found in line), None)
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


def _heading(cells: Sequence[str]) -> _Columns | None:
    names = [cell.lower() for cell in cells]
    sku = next((n for n, name in enumerate(names) if name in _SKU_HEADINGS), None)
    quantity = next((n for n, name in enumerate(names) if name in _QUANTITY_HEADINGS), None)
    return None if sku is None or quantity is None else _Columns(sku, quantity)


def _item(line: str, cells: Sequence[str], columns: _Columns | None) -> CreateOrderItem | str:
    """Return the item of a line, or what is wrong with it."""
    at = columns or _Columns()
    sku = cells[at.sku] if at.sku < len(cells) else ""
    units = cells[at.quantity] if at.quantity < len(cells) else ""
    if not sku or len(sku) > LONGEST_SKU:
        return f"{line.strip()[:60]!r} has no SKU"
    if units and not _NUMBER.fullmatch(units):
        return f"{line.strip()[:60]!r} must end with a whole number of units"
    quantity = int(units.replace(",", "")) if units else 1
    if not 1 <= quantity <= MOST_UNITS:
        return f"{line.strip()[:60]!r} must have 1 to {MOST_UNITS} units"
    return CreateOrderItem(sku, quantity)
