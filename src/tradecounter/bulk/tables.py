"""Reads rows of tables (CSV and XLSX files): a header, then lines of cells, none of which is lost."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

import msgspec

from tradecounter.bulk.cells import Cell, UnreadableCellError
from tradecounter.bulk.columns import ColumnOptions, Header, known_columns, read_header
from tradecounter.bulk.rows import BadRow, Row, Shape, bad_row

Line = tuple[int, Sequence[Cell]]


class UnreadableLineError(Exception):
    """A table cannot be read from `line` on; the message has the reason."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


def table_rows(
    lines: Iterable[Line], shape: type[Shape], options: ColumnOptions, unknown: list[str], *, commas: bool = True
) -> Iterator[Row[Shape] | BadRow[Shape]]:
    """Yield a table's rows; the first line is the header, and empty lines are skipped.

    Adds the names of columns without a field to `unknown`. A line may have fewer cells than the header: the rest is
    empty, as in files whose program leaves out empty cells at the end. Without `commas`, numbers have none.
    """
    rest = ((number, cells) for number, cells in lines if any(cells))
    try:
        number, heading = next(rest, (1, ()))
        names = list(map(str, heading))
        header = read_header(names, shape, options, commas=commas)
        unknown += header.unknown
        if header.errors:
            yield BadRow(number, tuple(header.errors), ends_file=True)
            return
        width = len(names)
        for number, cells in rest:
            if len(cells) != width:
                fitted = _fitted(cells, width)
                if fitted is None:
                    yield BadRow(number, (f"has {len(cells)} cells where the header has {width}",))
                    continue
                cells = fitted  # noqa: PLW2901 the same line, with the header's width
            yield _row(number, cells, header, shape, options)
    except UnreadableLineError as error:
        yield BadRow(error.line, (str(error),), ends_file=True)


def _fitted(cells: Sequence[Cell], width: int) -> Sequence[Cell] | None:
    """Return as many cells as the header has, or None if that would drop a value."""
    return None if any(cells[width:]) else [*cells[:width], *[""] * (width - len(cells))]


def _row(
    number: int, cells: Sequence[Cell], header: Header, shape: type[Shape], options: ColumnOptions
) -> Row[Shape] | BadRow[Shape]:
    if header.unnamed and not options.ignore_unknown:
        stray = [place + 1 for place in header.unnamed if str(cells[place]).strip()]
        if stray:
            return BadRow(number, tuple(f"cell {place} has a value, but its column has no name" for place in stray))
    try:
        read = {column.name: column.read(cells[column.place]) for column in header.columns}
        return Row(number, msgspec.convert(_given(read), shape))
    except (msgspec.ValidationError, UnreadableCellError):
        return _bad_row(number, cells, header, shape)


def _given(read: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in read.items() if value is not msgspec.UNSET}


def _bad_row(number: int, cells: Sequence[Cell], header: Header, shape: type[Shape]) -> BadRow[Shape]:
    read: dict[str, Any] = {}
    unreadable: dict[str, str] = {}
    for column in header.columns:
        try:
            read[column.name] = column.read(cells[column.place])
        except UnreadableCellError as error:
            unreadable[column.name] = str(error)
    bad = bad_row(number, _given(read), shape, unreadable=unreadable)
    return BadRow(number, tuple(map(_reworded_for_cells, bad.errors)), bad.values)


def _reworded_for_cells(error: str) -> str:
    """Reword an error for cells, which are all strings and may have dates written day first."""
    return error.removesuffix(", not text").replace("(YYYY-MM-DD)", "(YYYY-MM-DD or DD/MM/YYYY)")


_SEPARATORS = (",", ";", "\t")
# Excel reads this line before the header.
_STATED = re.compile(r'"?sep=(?P<separator>[^\r\n"])"?\s*', re.IGNORECASE)


def separator_of(file: TextIO, shape: type[msgspec.Struct], options: ColumnOptions) -> tuple[str, int]:
    """Return the file's separator and the number of lines before its header.

    Without a `sep=` line, returns the separator that yields the most known columns, then the most columns.
    """
    line = file.readline()
    skipped = 0
    while line and not line.strip():
        line = file.readline()
        skipped += 1
    stated = _STATED.fullmatch(line)
    if stated is not None:
        return stated["separator"], skipped + 1
    file.seek(0)

    def columns(separator: str) -> tuple[int, int]:
        try:
            names = next(csv.reader([line], delimiter=separator), [])
        except csv.Error:  # an endless cell; reading the line reports it
            return 0, 0
        return known_columns(names, shape, options), len(names)

    return max(_SEPARATORS, key=columns), 0


def csv_lines(file: TextIO, separator: str, skipped: int) -> Iterator[Line]:
    """Yield each line's number and cells after the first `skipped` lines. Raises UnreadableLineError."""
    reader = csv.reader(file, delimiter=separator, strict=True)
    start = skipped + 1
    try:
        for cells in reader:
            yield start, cells
            start = skipped + reader.line_num + 1
    except csv.Error as error:
        raise UnreadableLineError(start, f"not CSV: {error}") from error
