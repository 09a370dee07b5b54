"""The rows of a table that have errors, as a file of their own: people mend it and import it again."""

import csv
import io
from collections.abc import Iterable, Mapping

import msgspec

from tradecounter.bulk.columns import WHAT_IS_WRONG, ColumnOptions, normal_name
from tradecounter.bulk.files import ImportFile
from tradecounter.bulk.rows import LineMessage
from tradecounter.kit.csv_text import LINE_END, cell_of


def messages_by_line(errors: Iterable[LineMessage]) -> dict[int, str]:
    """Return the errors of each line as a text, without those of the whole file."""
    found: dict[int, str] = {}
    for error in errors:
        if error.line is not None:
            found[error.line] = f"{found[error.line]}; {error.message}" if error.line in found else error.message
    return found


def bad_rows_file(
    opened: ImportFile, shape: type[msgspec.Struct], options: ColumnOptions, messages: Mapping[int, str]
) -> str:
    """Return the header and the lines with `messages` as CSV, with the file's separator and a first column for these.

    Raises UnreadableFileError and UnreadableLineError.
    """
    lines = (line for line in opened.cells(shape, options) if any(line[1]))
    _, header = next(lines)
    places = [place for place, name in enumerate(header) if normal_name(str(name)) == WHAT_IS_WRONG]
    text = io.StringIO()
    writer = csv.writer(text, delimiter=opened.facts.separator or ",", lineterminator=LINE_END)
    writer.writerow([WHAT_IS_WRONG, *_without(header, places)])
    for number, cells in lines:
        if number in messages:
            writer.writerow([messages[number], *_without(cells, places)])
    return text.getvalue()


def _without(cells: Iterable[object], places: Iterable[int]) -> list[str]:
    return [cell_of(value) for place, value in enumerate(cells) if place not in places]
