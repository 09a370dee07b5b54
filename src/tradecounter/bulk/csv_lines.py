"""Reads lines of CSV files, with cells separated by commas, semicolons or tabs."""

import csv
import re
from collections.abc import Iterator
from typing import TextIO

import msgspec

from tradecounter.bulk.columns import ColumnOptions, known_columns
from tradecounter.bulk.tables import Line, UnreadableLineError

_SEPARATORS = (",", ";", "\t")
# Excel reads this line before the header.
_STATED = re.compile(r'"?sep=(?P<separator>[^\r\n"])"?\s*', re.IGNORECASE)


def separator_of(file: TextIO, shape: type[msgspec.Struct], options: ColumnOptions) -> tuple[str, int]:
    """Return the file's separator and the number of lines before its header.

    Without a `sep=` line, returns the separator that yields the most known columns, then the most columns.
    """
    line, skipped = file.readline(), 0
    while line and not line.strip():
        line, skipped = file.readline(), skipped + 1
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
