"""Reads the first sheet of XLSX files as lines of string cells, like a CSV file."""

import warnings
from collections.abc import Iterator
from datetime import datetime, time
from itertools import islice
from typing import Any, BinaryIO
from zipfile import ZipFile

from openpyxl import load_workbook

from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.tables import Line

_BATCH = 200  # rows
_LARGEST = 300_000_000  # bytes of all parts; a small malicious file can unpack to any size, and takes six times that
# The library fills gaps: with empty rows up to the next number, and with empty cells up to a row's last one.
_LAST_ROW = 1_048_576  # of Excel
_MOST_CELLS = 20_000_000
_SIGNIFICANT = ".15g"  # digits that spreadsheets show at most; further digits are rounding errors


class Workbook:
    """A workbook, whose first sheet is read in batches of rows."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            unpacked = sum(part.file_size for part in ZipFile(file).infolist())
        except Exception as error:  # the library raises many error types for damaged files
            raise UnreadableFileError("not an Excel workbook (.xlsx)") from error
        if unpacked > _LARGEST:
            raise UnreadableFileError(
                f"the workbook has more than {_LARGEST // 10**6} MB when it is unpacked: send it as CSV"
            )
        try:
            with warnings.catch_warnings(action="ignore"):  # warnings about content that would be lost when saving
                self._book = load_workbook(file, read_only=True, data_only=True)
                self._sheet: Any = self._book.worksheets[0]
                self._sheet.reset_dimensions()  # the stated size is often wrong
        except Exception as error:  # so does this library
            raise UnreadableFileError("not an Excel workbook (.xlsx)") from error

    @property
    def sheet(self) -> str:
        """The first sheet's name."""
        return str(self._sheet.title)

    def lines(self) -> Iterator[Line]:
        """Yield each row's number and cells. Raises UnreadableFileError."""
        rows, number, cells = self._sheet.iter_rows(), 0, 0
        while batch := self._next(rows, number):
            for row in batch:
                number += 1
                cells += len(row)
                if number > _LAST_ROW:
                    raise UnreadableFileError(f"the sheet has more than {_LAST_ROW:,} rows: send it as CSV")
                if cells > _MOST_CELLS:
                    raise UnreadableFileError(
                        f"the sheet has more than {_MOST_CELLS:,} cells up to row {number}: send it as CSV"
                    )
                yield number, [_text(cell) for cell in row]

    @staticmethod
    def _next(rows: Iterator[Any], number: int) -> list[Any]:
        try:
            with warnings.catch_warnings(action="ignore"):
                return list(islice(rows, _BATCH))
        except Exception as error:  # its text is about the library's code
            raise UnreadableFileError(f"the workbook is damaged after row {number}") from error


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
