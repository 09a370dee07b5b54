"""Reading the lines of CSV files: cells separated by commas, semicolons or tabs, in any of the known encodings."""

import csv
import re
from collections.abc import Iterator
from typing import TextIO

import msgspec

from tradecounter.bulk.columns import ColumnOptions, known_columns
from tradecounter.bulk.tables import Line, UnreadableLineError

_SEPARATORS = (",", ";", "\t")
_STATED = re.compile(r"sep=(?P<separator>.)\s*", re.IGNORECASE)  # how Excel is told, on a line of its own


def separator_of(file: TextIO, shape: type[msgspec.Struct], options: ColumnOptions) -> tuple[str, int]:
    """Return what separates a file's cells, and how many lines were read before its header.

    It is what the file states, else what makes the most known columns of its header, or the most columns.
    """
    line, skipped = file.readline(), 0
    while line and not line.strip():
        line, skipped = file.readline(), skipped + 1
    stated = _STATED.fullmatch(line)
    if stated is not None:
        return stated["separator"], skipped + 1
    file.seek(0)

    def columns(separator: str) -> tuple[int, int]:
        names = next(csv.reader([line], delimiter=separator), [])
        return known_columns(names, shape, options), len(names)

    return max(_SEPARATORS, key=columns), 0


def csv_lines(file: TextIO, separator: str, skipped: int) -> Iterator[Line]:
    """Yield each line's number and cells; so many lines were read before. Raises UnreadableLineError."""
    reader = csv.reader(file, delimiter=separator, strict=True)
    start = skipped + 1
    try:
        for cells in reader:
            yield start, cells
            start = skipped + reader.line_num + 1
    except csv.Error as error:
        raise UnreadableLineError(start, f"not CSV: {error}") from error
