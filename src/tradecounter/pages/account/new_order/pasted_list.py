"""Reads lists of SKUs and quantities: pasted from a spreadsheet, typed, or a CSV file. With a header or without."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tradecounter.bulk.encodings import UnreadableFileError, scan
from tradecounter.kit.errors import invalid
from tradecounter.ordering.wire import LONGEST_SKU, MOST_ITEMS, MOST_UNITS

_SKU_NAMES = {"sku", "product", "product code", "code", "item", "item code", "part", "part number"}
_QUANTITY_NAMES = {"quantity", "qty", "units", "amount", "number", "count"}
_SEPARATOR_LINE = re.compile(r"sep=.\s*", re.IGNORECASE)  # Excel's
_WHOLE = re.compile(r"[0-9][0-9,]*(\.0+)?", re.ASCII)

_LONGEST_QUANTITY = 12


@dataclass(frozen=True, slots=True)
class ListedItem:
    """A line of a list that can be read."""

    line: int
    sku: str
    quantity: int


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of a list that cannot be read, and why."""

    line: int
    problem: str

    def __str__(self) -> str:
        return f"line {self.line} {self.problem}"


def text_of_file(content: bytes) -> str:
    """Return a file's text: UTF-8, UTF-16 with a byte order mark, or Windows-1252. Raises DomainError (invalid)."""
    try:
        encoding = scan(io.BytesIO(content)).encoding
    except UnreadableFileError as error:
        raise invalid("file", str(error)) from error
    text = content.decode(encoding, errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    if "\x00" in text:
        raise invalid("file", "must be a text file with the columns sku and quantity, such as CSV")
    return text


def read_list(text: str) -> tuple[list[ListedItem], list[BadLine]]:
    """Return the items of a list, and the lines that cannot be read."""
    items: list[ListedItem] = []
    bad: list[BadLine] = []
    columns: tuple[int, int] | None = None
    is_first = True
    for number, cells in _rows(text):
        if is_first and (columns := _columns_of_header(cells)) is not None:
            is_first = False
            continue
        is_first = False
        if len(items) >= MOST_ITEMS:
            bad.append(BadLine(number, f"is one too many: an order has at most {MOST_ITEMS} lines"))
            break
        found = _item(number, cells, columns)
        if isinstance(found, BadLine):
            bad.append(found)
        else:
            items.append(found)
    return items, bad


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").split("\n"), start=1):
        if not line.strip(" \t,;") or _SEPARATOR_LINE.fullmatch(line):
            continue
        separator = next((mark for mark in "\t;," if mark in line), None)
        cells = line.split() if separator is None else next(csv.reader([line], delimiter=separator), [])
        cells = [cell.strip() for cell in cells]
        while len(cells) > 2 and not cells[-1]:  # noqa: PLR2004 empty cells behind the two columns
            cells.pop()
        yield number, cells


def _columns_of_header(cells: Sequence[str]) -> tuple[int, int] | None:
    """Return where a header says that the SKU and the quantity are; None if the line is no header."""
    names = [cell.casefold().replace("_", " ") for cell in cells]
    sku = next((n for n, name in enumerate(names) if name in _SKU_NAMES), None)
    quantity = next((n for n, name in enumerate(names) if name in _QUANTITY_NAMES), None)
    return None if sku is None or quantity is None else (sku, quantity)


def _item(number: int, cells: Sequence[str], columns: tuple[int, int] | None) -> ListedItem | BadLine:
    if columns is None and len(cells) > 2:  # noqa: PLR2004 the two columns
        return BadLine(number, f"has {len(cells)} columns: send sku and quantity only, or a header that names them")
    sku, quantity = ((cells[place] if place < len(cells) else "") for place in columns or (0, 1))
    if not sku:
        return BadLine(number, "has no SKU")
    if len(sku) > LONGEST_SKU:
        return BadLine(number, f"has a SKU of more than {LONGEST_SKU} characters")
    if not quantity:
        return BadLine(number, f"has no quantity for {sku}")
    units = _units(quantity)
    return BadLine(number, units) if isinstance(units, str) else ListedItem(number, sku, units)


def _units(text: str) -> int | str:
    """Return a quantity, or what is wrong with it."""
    if not _WHOLE.fullmatch(text) or len(text) > _LONGEST_QUANTITY:
        return f"has the quantity {text[:20]!r}, which is not a whole number"
    units = int(text.partition(".")[0].replace(",", ""))
    return units if 1 <= units <= MOST_UNITS else f"has the quantity {units}: it must be from 1 to {MOST_UNITS:,}"
