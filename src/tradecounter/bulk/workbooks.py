"""Reads the first visible sheet of XLSX files as lines of cells, while its XML is parsed (ECMA-376 part 1, 18.3.1)."""

import re
from collections.abc import Iterator
from typing import IO, BinaryIO
from xml.parsers.expat import ExpatError
from zipfile import ZipFile

from tradecounter.bulk.cells import Cell
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.tables import Line
from tradecounter.bulk.workbook_cells import BadCell, NumberCell, TruthCell, as_number, iso_moment_cell, moment_cell
from tradecounter.bulk.workbook_parts import Attributes, BookParts, DamagedPartError, XmlReader, decoded, read_parts

SheetRow = tuple[int, list[Cell]]

_REFERENCE = re.compile(r"([A-Z]{1,3})([1-9][0-9]*)")
_LAST_COLUMN = 16_384  # of Excel
# What the elements of the data may contain, so that no cell is passed over.
_PARTS = {
    "sheetData": {"row"},
    "row": {"c", "extLst"},
    "c": {"f", "v", "is", "extLst"},
    "is": {"t", "r", "rPh", "phoneticPr"},
    "r": {"t", "rPr"},
}
_EMPTY_TEXT = {"str", "s", "inlineStr"}


class SheetReader(XmlReader):
    """Reads a sheet's rows; cells that are not text are typed cells."""

    def __init__(self, parts: BookParts) -> None:
        super().__init__()
        self._parts = parts
        self._rows: list[SheetRow] = []
        self._row = 0
        self._cells: list[Cell] = []
        self._attributes: Attributes = {}
        self._formula: str | None = None
        self._value: str | None = None
        self._within = 0  # elements of the data, from `sheetData` on

    def rows(self, stream: IO[bytes]) -> Iterator[SheetRow]:
        """Yield the numbers and cells of the rows that the file has. Raises DamagedPartError and errors of XML."""
        try:
            for _ in self.read(stream):
                yield from self._rows
                self._rows.clear()
        except (DamagedPartError, ExpatError):
            yield from self._rows
            raise

    def started(self, name: str, attributes: Attributes) -> None:
        """Begin a row or a cell. Raises DamagedPartError."""
        if not self._within:
            self._within = int(name == "sheetData")
            return
        self._within += 1
        allowed = _PARTS.get(self.path[-2])
        if allowed is not None and "extLst" not in self.path and name not in allowed:
            raise DamagedPartError(f"{name} in {self.path[-2]}")
        match self._within, name:
            case 2, "row":
                self._start_row(attributes)
            case 3, "c":
                self._start_cell(attributes)
            case 4, "f" | "v":
                self.text = []
            case (5, "t") | (6, "t") if self.path[-2] in {"is", "r"}:
                self._value = self._value or ""
                self.text = []

    def ended(self, name: str) -> None:
        """End a row, a cell, or a part of one."""
        if not self._within:
            return
        match self._within, name:
            case 2, "row":
                self._rows.append((self._row, self._cells))
            case 3, "c":
                self._cells.append(self._cell())
            case 4, "f":
                self._formula = "".join(self.text or ())
                self.text = None
            case 4, "v":
                self._value = "".join(self.text or ())
                self.text = None
            case ((5 | 6), "t") if self.text is not None:
                self._value = (self._value or "") + "".join(self.text)
                self.text = None
        self._within -= 1

    def _start_row(self, attributes: Attributes) -> None:
        number = int(attributes["r"]) if "r" in attributes else self._row + 1
        if number <= self._row:
            raise DamagedPartError(f"row {number} follows row {self._row}")
        self._row = number
        self._cells = []

    def _start_cell(self, attributes: Attributes) -> None:
        if "r" in attributes:
            column = _column(attributes["r"])
            if column < len(self._cells):
                raise DamagedPartError(f"{attributes['r']} follows a later cell")
            self._cells += [""] * (column - len(self._cells))
        self._attributes = attributes
        self._formula = None
        self._value = None

    def _cell(self) -> Cell:
        kind = self._attributes.get("t", "n")
        value = self._value
        if not value:
            if self._formula is not None and (value is None or kind not in _EMPTY_TEXT):
                formula = f"the formula ={self._formula[:40]}" if self._formula else "the formula"
                return BadCell(f"{formula} has no stored result: open and save the file in the spreadsheet program")
            return ""
        return self._of_type(kind, value)

    def _of_type(self, kind: str, value: str) -> Cell:
        match kind:
            case "s":
                return self._parts.texts[int(value)]
            case "str" | "inlineStr":
                return decoded(value)
            case "n":
                return self._numeric(value)
            case "b" if value in {"0", "1"}:
                return TruthCell(value == "1")
            case "d":
                return iso_moment_cell(value)
            case "e":
                return BadCell(f"contains the spreadsheet error {value[:40]}")
        raise DamagedPartError(f"a cell of type {kind}")

    def _numeric(self, value: str) -> Cell:
        number_format = self._parts.formats[int(self._attributes.get("s", "0"))]
        try:
            number = as_number(value.strip())
        except ValueError:
            return BadCell(f"contains the unreadable number {value[:40]!r}")
        if number_format.moment is not None:
            return moment_cell(number, self._parts.epoch, with_date=number_format.moment == "date")
        return NumberCell(number, number_format)


def _column(reference: str) -> int:
    """Return the column of a cell such as `B2`, counted from 0."""
    match, number = _REFERENCE.fullmatch(reference), 0
    for letter in match[1] if match else "":
        number = number * 26 + ord(letter) - ord("A") + 1
    if not 0 < number <= _LAST_COLUMN:
        raise DamagedPartError(f"the cell {reference!r}")
    return number - 1


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
