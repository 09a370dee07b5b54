"""Reads and checks the rows of a file, and copies them to the table `staged`."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.kinds import ImportKind, Stage
from tradecounter.bulk.rows import BadRow, Row, RowMessage, RowNotes, Shape
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import FieldError
from tradecounter.kit.json_text import contains_nul

MOST_MESSAGES = 100_000  # errors, and warnings, that are kept in memory
_ROWS_AT_ONCE = 100  # two milliseconds, after which the event loop runs, without waiting for the interpreter's lock


class Findings(Struct):
    """What reading a file finds.

    Attributes:
        report: gets the errors and warnings of the rows.
        ends_file: whether a bad row, or too many of them, ended the file, so that the rows after it are unknown.
        hides_records: whether it is unknown which record a row is about.
    """

    report: ImportReport
    ends_file: bool = False
    hides_records: bool = False


async def stage_rows(
    tx: Transaction,
    kind: ImportKind[Shape],
    rows: Iterator[Row[Shape] | BadRow[Shape]],
    findings: Findings,
    options: ImportOptions,
) -> int:
    """Copy rows to `staged`, without their invalid fields; return the number of staged rows.

    A thread reads and checks the rows, so that the event loop stays free.
    """
    stage = await kind.prepare(tx)
    missing = kind.replaced if options.replace else {}
    batches = _batches(rows, stage, missing, kind.named, findings)
    count = staged = 0
    connection = await tx.connection()
    async with connection.cursor() as cursor, cursor.copy("copy staged (line, key, row) from stdin") as copy:
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:
            if batch.staged:
                await copy.write(batch.staged)
            await asyncio.sleep(0)
            count += batch.rows
            staged += batch.records
            options.progress(count)
    return staged


class _Batch(Struct, frozen=True):
    """Rows that were read: how many rows, how many records they name, and their lines for PostgreSQL's COPY."""

    rows: int
    records: int
    staged: str


_COPY_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def _copy_line(line: int, key: str | None, row: str) -> str:
    stored = r"\N" if key is None else key.translate(_COPY_ESCAPES)
    return f"{line}\t{stored}\t{row.translate(_COPY_ESCAPES)}\n"


def _batches(
    rows: Iterator[Row[Shape] | BadRow[Shape]],
    stage: Stage[Shape],
    missing: Mapping[str, Any],
    named_field: str | None,
    findings: Findings,
) -> Iterator[_Batch]:
    """Yield rows as lines, keys and values to stage; add the errors and warnings of all rows to the report.

    After MOST_MESSAGES errors, the rest of the file is not read; further warnings are left out.
    """
    report = findings.report
    line_of_key: dict[str, int] = {}
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        staged: list[str] = []
        records = 0
        for row in batch:
            examined = _examined(row, stage, missing, named_field, report)
            findings.ends_file |= isinstance(row, BadRow) and row.ends_file
            findings.hides_records |= not examined or any(key is None for key, _ in examined)
            for key, text in examined:
                if key is not None and key in line_of_key:
                    repeats = FieldError("", f"repeats line {line_of_key[key]}")
                    report.errors.append(_about(row, named_field, repeats))
                    continue
                if key is not None:
                    line_of_key[key] = row.line
                    records += 1
                staged.append(_copy_line(row.line, key, text))
        yield _Batch(len(batch), records, "".join(staged))
        del report.warnings[MOST_MESSAGES:]
        if len(report.errors) > MOST_MESSAGES:
            findings.ends_file = True
            report.errors.append(
                RowMessage(None, "", f"there are too many errors: only {batch[-1].line} lines are read")
            )
            return


def _examined(
    row: Row[Shape] | BadRow[Shape],
    stage: Stage[Shape],
    missing: Mapping[str, Any],
    named_field: str | None,
    report: ImportReport,
) -> Sequence[tuple[str | None, str]]:
    """Return a row's keys and values to stage, as JSON; add its errors and warnings to the report."""
    errors: tuple[FieldError, ...] = row.errors if isinstance(row, BadRow) else ()
    staged: list[tuple[str | None, str]] = []
    if row.values is not None:
        notes = RowNotes()
        for key, values in stage(row.values, notes):
            good = {n: v for n, v in values.items() if v is not msgspec.UNSET} if errors or notes.errors else values
            encoded = msgspec.json.encode({**missing, **good})
            if (key is not None and "\x00" in key) or contains_nul(encoded):
                errors = (*errors, FieldError("", "contains a NUL character"))
            else:
                staged.append((key, encoded.decode()))
        errors = (*errors, *notes.errors)
        report.warnings += [_about(row, named_field, warning) for warning in notes.warnings]
    report.errors += [_about(row, named_field, error) for error in errors]
    return staged


def _about(row: Row[Any] | BadRow[Any], named_field: str | None, found: FieldError) -> RowMessage:
    """Return a message about a row; it has the row's value of the field `named_field`."""
    value = getattr(row.values, named_field, None) if named_field is not None else None
    return naming_record(RowMessage(row.line, found.field, found.message), named_field, value)


def naming_record(message: RowMessage, named_field: str | None, value: object) -> RowMessage:
    """Return a message with the value of the row's field `named_field`, unless the message is about that field."""
    if not isinstance(value, str) or message.column == named_field:
        return message
    return replace(message, record=f"{named_field} {value}")
