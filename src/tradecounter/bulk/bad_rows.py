"""Leaves the bad rows out of a partial import, and makes a file of them, which people mend and import again."""

import csv
import io
from collections.abc import Awaitable, Callable, Iterable, Mapping

import msgspec

from tradecounter.bulk.files import ImportFile
from tradecounter.bulk.rows import RowMessage
from tradecounter.bulk.tables import FOUND_SEPARATORS, WHAT_IS_WRONG, ColumnOptions, normal_name
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.csv_text import LINE_END, cell_of, unguarded
from tradecounter.kit.errors import DomainError, Kind

_MOST_ROUNDS = 20

_LEAVE_OUT = Statement("delete from staged where key is null or line = any(:lines::integer[])")
_COUNT = Statement("select count(*) from staged")


async def leave_out_bad_rows(
    tx: Transaction, errors: list[RowMessage], check: Callable[[], Awaitable[None]]
) -> tuple[int, int]:
    """Delete staged rows with errors; `check` adds the errors of the rows that remain.

    A row may need another row of the file, so the rows are checked again after each deletion. Returns how many staged
    rows remain, and how many lines of the file are left out. Raises DomainError (invalid) if rows depend on each other
    too deeply.
    """
    for _ in range(_MOST_ROUNDS):
        await tx.execute(_LEAVE_OUT, lines=[error.line for error in errors if error.line is not None])
        known = len(errors)
        await check()
        if len(errors) == known:
            return int(await tx.fetch_value(_COUNT)), len({error.line for error in errors})
    raise DomainError(Kind.INVALID, "too many rows need others with errors: correct these first")


def messages_by_line(errors: Iterable[RowMessage]) -> dict[int, str]:
    """Return the errors of each line as a text, without those of the whole file."""
    messages: dict[int, str] = {}
    for error in errors:
        if error.line is not None:
            messages[error.line] = (
                f"{messages[error.line]}; {error.message}" if error.line in messages else error.message
            )
    return messages


def bad_rows_file(
    opened: ImportFile, shape: type[msgspec.Struct], options: ColumnOptions, messages: Mapping[int, str]
) -> str:
    """Return the header and the lines with `messages` as CSV, with the file's separator and a first column for these.

    Raises UnreadableFileError and UnreadableLineError.
    """
    lines = (line for line in opened.cells(shape, options) if any(line[1]))
    _, header = next(lines)
    places = [place for place, name in enumerate(header) if normal_name(str(name)) == WHAT_IS_WRONG]
    separator = opened.facts.separator or ","
    text = io.StringIO()
    if separator not in FOUND_SEPARATORS:
        text.write(f"sep={separator}{LINE_END}")
    writer = csv.writer(text, delimiter=separator, lineterminator=LINE_END)
    writer.writerow([WHAT_IS_WRONG, *_without(header, places)])
    for number, cells in lines:
        if number in messages:
            writer.writerow([messages[number], *_without(cells, places)])
    return text.getvalue()


def _without(cells: Iterable[object], places: Iterable[int]) -> list[str]:
    return [_guarded(value) for place, value in enumerate(cells) if place not in places]


def _guarded(value: object) -> str:
    """Return a cell as the file has it, also with what guards it; guarded if it is not."""
    return value if isinstance(value, str) and unguarded(value) != value else cell_of(value)
