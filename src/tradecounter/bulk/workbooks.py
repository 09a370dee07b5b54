"""Reading the lines of XLSX files: the cells of a workbook's first sheet, as text such as a CSV file would hold."""

import warnings
from collections.abc import Iterator
from datetime import datetime, time
from itertools import islice
from typing import Any, BinaryIO

from openpyxl import load_workbook

from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.tables import Line

_AT_ONCE = 1000
_SIGNIFICANT = ".15g"  # digits of a number: what a spreadsheet shows at most; the rest is left over from its arithmetic


class Workbook:
    """A workbook that is read from its first sheet, a thousand rows at a time."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            with warnings.catch_warnings(action="ignore"):  # they tell what would be lost if it were written again
                self._book = load_workbook(file, read_only=True, data_only=True)
                self._sheet: Any = self._book.worksheets[0]
                self._sheet.reset_dimensions()  # what a file says of its size is often wrong
        except Exception as error:  # the library raises whatever its parts do, on what is damaged
            raise UnreadableFileError("not an Excel workbook (.xlsx)") from error

    @property
    def sheet(self) -> str:
        """The name of the sheet that is read."""
        return str(self._sheet.title)

    def lines(self) -> Iterator[Line]:
        """Yield each row's number and cells. Raises UnreadableFileError."""
        rows, number = self._sheet.iter_rows(), 0
        while some := self._next(rows):
            for row in some:
                number += 1
                yield number, [_text(cell) for cell in row]

    @staticmethod
    def _next(rows: Iterator[Any]) -> list[Any]:
        try:
            with warnings.catch_warnings(action="ignore"):
                return list(islice(rows, _AT_ONCE))
        except Exception as error:
            raise UnreadableFileError(f"the workbook is damaged: {error}") from error


def _text(cell: Any) -> str:
    value = cell.value
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(value, cell.number_format or "")
    if isinstance(value, datetime):
        return str(value.date()) if value.time() == time() else value.isoformat(" ", "seconds")
    return str(value)


def _number(value: float, number_format: str) -> str:
    if "%" in number_format:
        return f"{value * 100:{_SIGNIFICANT}}%"
    return str(value) if isinstance(value, int) else f"{value:{_SIGNIFICANT}}"
