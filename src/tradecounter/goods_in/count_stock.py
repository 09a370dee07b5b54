"""Reads the lines of a count, and adjusts the stock to it."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, FieldError, invalid, invalid_fields
from tradecounter.kit.keys import key_form
from tradecounter.kit.numbers import UnreadableNumberError, read_count
from tradecounter.orders.back_orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.products.queries.by_sku import find_product_ids
from tradecounter.stock.queries.stock_of_product import StockLevel, stock_levels_of

_SEPARATORS = ("\t", ";", ",")  # the first that a line has
_GROUPED = re.compile(r"[0-9]{1,3},[0-9]{3}")
_DIGIT = re.compile("[0-9]")
_LAST_WORD = re.compile(r"\s+(?=\S+$)")
_MOST_LINES = 5_000
_MOST_PROBLEMS = 20
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Counted:
    """A product's units as counted, and how many should have been there."""

    sku: str
    expected: int
    counted: int

    @property
    def difference(self) -> int:
        """The units that are there beyond what was expected; below 0, those that are missing."""
        return self.counted - self.expected


def read_count_lines(text: str) -> dict[str, int]:
    """Return the units of each SKU of lines such as `ACME-100, 12`. A line without a number is left out.

    The first line may be a heading. Raises DomainError (invalid), which names the lines.
    """
    counts: dict[str, int] = {}
    keys: dict[str, int] = {}
    problems = []
    for number, sku, written in _filled(text):
        try:
            units = read_count(written)
        except UnreadableNumberError:
            if number > 1 or _DIGIT.search(written):
                problems.append(f"line {number}: {written[:40]!r} is not a number of units")
            continue
        if (before := keys.setdefault(key_form(sku), number)) != number:
            problems.append(f"line {number}: {sku[:40]} is on line {before} too")
        counts[sku] = units
    if problems:
        raise invalid_fields([FieldError("lines", "; ".join(problems[:_MOST_PROBLEMS]))])
    if not counts:
        raise invalid("lines", "has no line of a SKU and a number")
    return counts


def _filled(text: str) -> Iterator[tuple[int, str, str]]:
    lines = text.splitlines()
    if len(lines) > _MOST_LINES:
        raise invalid("lines", f"has more than {_MOST_LINES:,} lines")
    for number, line in enumerate(lines, start=1):
        cells = _cells(line.strip())
        if len(cells) >= _PAIR and cells[0] and cells[1]:
            yield number, cells[0], cells[1]


def _cells(line: str) -> list[str]:
    """Return a line's cells; those of a line without a separator are its last word and what is before it.

    `SKU,1,000` may be one unit or a thousand: its last two cells become one that is no number.
    """
    separator = next((each for each in _SEPARATORS if each in line), None)
    if separator is None:
        return _LAST_WORD.split(line)
    cells = [cell.strip() for row in csv.reader([line], delimiter=separator, skipinitialspace=True) for cell in row]
    grouped = len(cells) == _PAIR + 1 and _GROUPED.fullmatch(f"{cells[1]},{cells[2]}")
    return [cells[0], f"{cells[1]}, {cells[2]}"] if separator == "," and grouped else cells


async def count_stock(tx: Transaction, counts: dict[str, int], reason: str, now: datetime) -> Sequence[Counted]:
    """Set the units on hand to what was counted; return the products whose number differed.

    Raises DomainError: invalid (an unknown SKU), or as `adjust_stock` does.
    """
    try:
        found = await find_product_ids(tx, list(counts))
    except DomainError as error:
        raise invalid("lines", error.message) from error
    before = await stock_levels_of(tx, [key_form(sku) for sku in counts])
    compared = [
        Counted(sku, before.get(key_form(sku), StockLevel()).on_hand, units)
        for (_, sku), units in zip(found, counts.values(), strict=True)
    ]
    differing = [each for each in compared if each.difference]
    if differing:
        await adjust_stock(tx, [Adjustment(sku=each.sku, set=each.counted, reason=reason) for each in differing], now)
    return differing
