"""Reads the first visible sheet of XLSX files as lines of cells."""

from collections.abc import Iterator
from typing import BinaryIO
from zipfile import ZipFile

from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.sheet_rows import SheetReader
from tradecounter.bulk.tables import Line
from tradecounter.bulk.workbook_parts import read_parts

_LARGEST = 300_000_000  # bytes of all parts; a small malicious file can unpack to any size
_LAST_ROW = 1_048_576  # of Excel
_MOST_CELLS = 20_000_000  # with the empty ones up to a row's last one


class Workbook:
    """A workbook, whose first visible sheet is read row by row."""

    def __init__(self, file: BinaryIO) -> None:
        try:
            self._archive = ZipFile(file)
            unpacked = sum(part.file_size for part in self._archive.infolist())
        except Exception as error:  # the library raises many error types for damaged files
            raise UnreadableFileError("not an Excel workbook (.xlsx)") from error
        if unpacked > _LARGEST:
            raise UnreadableFileError(
                f"the workbook has more than {_LARGEST // 10**6} MB when it is unpacked: send it as CSV"
            )
        try:
            self._parts = read_parts(self._archive)
        except Exception as error:
            raise UnreadableFileError("not an Excel workbook (.xlsx)") from error

    @property
    def sheet(self) -> str:
        """The sheet's name."""
        return self._parts.sheet

    def lines(self) -> Iterator[Line]:
        """Yield each row's number and cells, without rows that the file does not have. Raises UnreadableFileError."""
        reader = SheetReader(self._parts)
        number = cells = 0
        try:
            with self._archive.open(self._parts.part) as stream:
                for number, row in reader.rows(stream):
                    cells += len(row)
                    _limit(number, cells)
                    yield number, row
        except UnreadableFileError:
            raise
        except Exception as error:  # of the archive or the XML; its text is about the library's code
            raise UnreadableFileError(f"the workbook is damaged after row {number}") from error


def _limit(row: int, cells: int) -> None:
    if row > _LAST_ROW:
        raise UnreadableFileError(f"the sheet has more than {_LAST_ROW:,} rows: send it as CSV")
    if cells > _MOST_CELLS:
        raise UnreadableFileError(f"the sheet has more than {_MOST_CELLS:,} cells up to row {row}: send it as CSV")
