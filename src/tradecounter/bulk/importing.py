"""Imports a file: checks rows while reading, stages them with COPY and merges them with a few statements.

The caller must roll back the transaction if the report has errors, so that a file is imported completely or not at all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, field
from psycopg.sql import SQL, Identifier

from tradecounter.bulk.bad_rows import leave_out_bad_rows
from tradecounter.bulk.differences import (
    Change,
    OnChange,
    first_changes,
    keep_records,
    store_changes,
    stream_changes,
)
from tradecounter.bulk.files import FileFacts
from tradecounter.bulk.kinds import ImportKind, Stage
from tradecounter.bulk.price_figures import GuardedPricesError, PriceFigures
from tradecounter.bulk.rows import BadRow, LineMessage, Row, RowNotes, Shape
from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.json_text import contains_nul

_ROWS_AT_ONCE = 100  # two milliseconds, after which the event loop runs, without waiting for the interpreter's lock
_WRITTEN_AT_ONCE = 2000
MOST_DIFFERENCES = 1000  # in a report
_MOST_REMOVED_ONE_IN = 5  # records may be removed without confirmation


class ImportReport(Struct):
    """The result of an import or a dry run; if it has errors and nothing is `skipped`, nothing is imported.

    `id` is the import's id in the history. `diff` has the first changes if they were asked for, and `diff_more` is
    whether there are more. `prices` is what the import does to prices, for kinds with a guard. `skipped` is how many
    rows a partial import has left out because of their errors.
    """

    id: int | None = None
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deactivated: int = 0
    skipped: int = 0
    errors: list[LineMessage] = field(default_factory=list)
    warnings: list[LineMessage] = field(default_factory=list)
    file: FileFacts | None = None
    diff: Sequence[Change] | msgspec.UnsetType = msgspec.UNSET
    diff_more: bool | msgspec.UnsetType = msgspec.UNSET
    prices: PriceFigures | None = None

    @property
    def is_rejected(self) -> bool:
        """Whether errors prevent the import."""
        return bool(self.errors) and not self.skipped


class ImportOptions(Struct, frozen=True, kw_only=True):
    """Options of an import.

    Attributes:
        dry_run: whether the caller rolls back the import.
        replace: whether records that are not in the file are deactivated.
        confirmed: whether `replace` may deactivate more than a fifth of the records.
        confirmed_by: how the caller confirms that, for messages.
        partial: whether rows with errors are left out, instead of preventing the import. The records that they name
            stay as they are; with `replace`, nothing is deactivated if the file has a row whose record is unknown.
        force: whether prices may be changed that the kind's guard finds.
        forced_by: how the caller forces that, for messages.
        progress: called with the number of rows read.
        on_change: called with each change, if given.
        diff: whether the report has the changes.
        rule: the rule that made the rows, in words, for the audit log.
    """

    dry_run: bool = False
    replace: bool = False
    confirmed: bool = False
    confirmed_by: str = "--yes"
    partial: bool = False
    force: bool = False
    forced_by: str = "--force"
    progress: Callable[[int], None] = lambda _count: None
    on_change: OnChange | None = None
    diff: bool = False
    rule: str = ""

    @property
    def keeps_changes(self) -> bool:
        """Whether the import stores what it changes; a dry run does so only to report it."""
        return not self.dry_run or self.diff or self.on_change is not None


# Joins of 100,000 rows, which would otherwise go through temporary files.
USE_MORE_MEMORY = Statement("set local work_mem = '64MB'")
_CREATE_STAGED = Statement("create temporary table staged (line integer, key text, row jsonb) on commit drop")
_INDEX_STAGED = Statement("create index on staged (key)")
_ANALYZE_STAGED = Statement("analyze staged")
_VALUES_OF_LINES = Statement("select line, row ->> :name from staged where line = any(:lines::integer[])")
_DROP_STAGED = Statement("drop table staged")


async def run_import(
    tx: Transaction,
    kind: ImportKind[Shape],
    rows: Iterator[Row[Shape] | BadRow[Shape]],
    options: ImportOptions,
    *,
    begin_history: Callable[[Transaction], Awaitable[int]],
) -> ImportReport:
    """Import rows in the caller's transaction, which the caller rolls back if the report has errors.

    `begin_history` returns the id for the changes. Raises DomainError.
    """
    if options.replace and kind.removal is None:
        raise DomainError(Kind.INVALID, "this kind of file cannot replace all records")
    report = ImportReport()
    await tx.execute(USE_MORE_MEMORY)
    await tx.execute(_CREATE_STAGED)
    found = _Findings(report)
    count = await _stage(tx, kind, rows, found, options)
    await tx.execute(_INDEX_STAGED)
    await tx.execute(_ANALYZE_STAGED)
    if options.replace and not count and not report.errors:
        raise DomainError(Kind.INVALID, "the file is empty: replacing with it would deactivate everything")
    # Locked only now, so that other transactions do not wait while rows are read.
    if kind.before_merge is not None:
        await kind.before_merge(tx)
    await lock_records(tx, kind)
    if options.keeps_changes:
        await keep_records(tx, kind, replace=options.replace)
    # Removals come first, so that the checks see only the remaining records.
    removed = await _remove(tx, kind) if options.replace and not found.hides_records else _Removed(0, 0)
    count = await _good_rows(tx, kind, found, options, count)
    if report.is_rejected:
        return report
    _limit_removal(removed, report, options)
    await _guard(tx, kind, report, options)
    await _merge(tx, kind, report, count)
    if options.keeps_changes:
        report.id = await begin_history(tx)
        await store_changes(tx, kind, report.id, replace=options.replace)
        await _report_changes(tx, report.id, report, options)
    # Only now, so that the history has the records as the file sets them: a roll-back sees what has changed since.
    if kind.after_merge is not None:
        await kind.after_merge(tx)
    await tx.execute(_DROP_STAGED)
    return report


async def _good_rows(
    tx: Transaction, kind: ImportKind[Shape], found: "_Findings", options: ImportOptions, count: int
) -> int:
    """Check the staged rows, and leave the bad ones of a partial import out; return how many rows remain."""
    report = found.report
    await _check(tx, kind, report)
    if report.errors and options.partial and not found.ends_file:
        count, skipped = await leave_out_bad_rows(tx, report.errors, partial(_check, tx, kind, report))
        report.skipped = skipped if count else 0
        if options.replace and found.hides_records:
            report.warnings.insert(0, LineMessage(None, _NOTHING_DEACTIVATED))
    return count


async def _guard(tx: Transaction, kind: ImportKind[Any], report: ImportReport, options: ImportOptions) -> None:
    """Measure what the import does to prices. Raises GuardedPricesError."""
    if kind.guard is None:
        return
    report.prices = await kind.guard(tx)
    if report.prices.want_force and not options.force and not options.dry_run:
        raise GuardedPricesError(report.prices, options.forced_by)


async def lock_records(tx: Transaction, kind: ImportKind[Any]) -> None:
    """Lock a kind's table against other writers until the transaction ends."""
    await tx.execute(Statement(SQL("lock table {} in share row exclusive mode").format(Identifier(kind.table))))


async def _report_changes(tx: Transaction, import_id: int, report: ImportReport, options: ImportOptions) -> None:
    if options.on_change is not None:
        async for change in stream_changes(tx, import_id):
            options.on_change(change)
    if options.diff:
        found = await first_changes(tx, import_id, MOST_DIFFERENCES + 1)
        report.diff = found[:MOST_DIFFERENCES]
        report.diff_more = len(found) > MOST_DIFFERENCES
    if options.dry_run:
        report.id = None


async def _stage(
    tx: Transaction,
    kind: ImportKind[Shape],
    rows: Iterator[Row[Shape] | BadRow[Shape]],
    found: "_Findings",
    options: ImportOptions,
) -> int:
    """Copy rows to `staged`, without their invalid fields; return the number of staged rows.

    A thread reads and checks the rows, so that the event loop stays free.
    """
    stage = await kind.prepare(tx)
    missing = kind.replaced if options.replace else {}
    batches = _batches(rows, stage, missing, kind.named, found)
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


class _Findings(Struct):
    """What reading a file finds: its report, and whether it could be read to its end and tells all its records."""

    report: ImportReport
    ends_file: bool = False
    hides_records: bool = False


_NOTHING_DEACTIVATED = "nothing is deactivated, because it is unknown which records the rows with errors are"


class _Batch(NamedTuple):
    """Rows that were read: how many, how many of them name their record, and their lines of PostgreSQL's COPY."""

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
    named: str | None,
    found: _Findings,
) -> Iterator[_Batch]:
    """Yield rows as lines, keys and values to stage; add the errors and warnings of all rows to the report."""
    report = found.report
    line_of_key: dict[str, int] = {}
    while batch := list(islice(rows, _ROWS_AT_ONCE)):
        staged: list[str] = []
        records = 0
        for row in batch:
            examined = _examined(row, stage, missing, named, report)
            found.ends_file |= isinstance(row, BadRow) and row.ends_file
            found.hides_records |= not examined or any(key is None for key, _ in examined)
            for key, text in examined:
                if key is not None and key in line_of_key:
                    report.errors.append(_about(row, named, f"repeats line {line_of_key[key]}"))
                    continue
                if key is not None:
                    line_of_key[key] = row.line
                    records += 1
                staged.append(_copy_line(row.line, key, text))
        yield _Batch(len(batch), records, "".join(staged))


def _examined(
    row: Row[Shape] | BadRow[Shape],
    stage: Stage[Shape],
    missing: Mapping[str, Any],
    named: str | None,
    report: ImportReport,
) -> Sequence[tuple[str | None, str]]:
    """Return a row's keys and values to stage, as JSON; add its errors and warnings to the report."""
    errors: tuple[str, ...] = row.errors if isinstance(row, BadRow) else ()
    staged: list[tuple[str | None, str]] = []
    if row.values is not None:
        notes = RowNotes()
        for key, values in stage(row.values, notes):
            good = {n: v for n, v in values.items() if v is not msgspec.UNSET} if errors or notes.errors else values
            encoded = msgspec.json.encode({**missing, **good})
            if (key is not None and "\x00" in key) or contains_nul(encoded):
                errors = (*errors, "contains a NUL character")
            else:
                staged.append((key, encoded.decode()))
        errors = (*errors, *notes.errors)
        report.warnings += [_about(row, named, warning) for warning in notes.warnings]
    report.errors += [_about(row, named, error) for error in errors]
    return staged


def _about(row: Row[Any] | BadRow[Any], named: str | None, message: str) -> LineMessage:
    """Return a message about a row, which names the row's value of the field `named`."""
    value = getattr(row.values, named, None) if named is not None else None
    return _naming(LineMessage(row.line, message), named, value)


def _naming(found: LineMessage, named: str | None, value: object) -> LineMessage:
    if not isinstance(value, str) or _field(found.message) == named:
        return found
    return LineMessage(found.line, f"{found.message} ({named} {value})")


async def _check(tx: Transaction, kind: ImportKind[Shape], report: ImportReport) -> None:
    """Run the database's checks and add their errors and warnings to the report, in line order."""
    known = {(error.line, _field(error.message)) for error in report.errors}
    for check in kind.checks:
        rows = await check(tx) if callable(check) else await tx.fetch_all(check)
        found = await _named(tx, kind, [LineMessage(*row) for row in rows])
        # The checks see fields with errors as missing.
        report.errors += [error for error in found if (error.line, _field(error.message)) not in known]
    for statement in kind.warnings:
        report.warnings += [LineMessage(*row) for row in await tx.fetch_all(statement)]
    report.errors.sort(key=lambda error: error.line or 0)
    report.warnings.sort(key=lambda warning: warning.line or 0)


async def _named(tx: Transaction, kind: ImportKind[Any], found: list[LineMessage]) -> list[LineMessage]:
    """Return messages about staged rows, which name the rows' values of the field `named`."""
    if kind.named is None or not found:
        return found
    values = dict(await tx.fetch_all(_VALUES_OF_LINES, name=kind.named, lines=[message.line for message in found]))
    return [_naming(message, kind.named, values.get(message.line)) for message in found]


def _field(message: str) -> str:
    return message.partition(":")[0].partition("[")[0]


class _Removed(NamedTuple):
    records: int
    of: int


async def _remove(tx: Transaction, kind: ImportKind[Shape]) -> _Removed:
    if kind.removal is None:
        return _Removed(0, 0)
    of = await tx.fetch_value(kind.removal.count)
    return _Removed(await tx.execute(kind.removal.statement), of)


def _limit_removal(removed: _Removed, report: ImportReport, options: ImportOptions) -> None:
    """Raise DomainError if the removal of more than a fifth is unconfirmed, because the file may be truncated."""
    report.deactivated = removed.records
    if options.confirmed or removed.records * _MOST_REMOVED_ONE_IN <= removed.of:
        return
    found = f"replacing would deactivate {removed.records} of {removed.of}, more than a fifth"
    if not options.dry_run:
        raise DomainError(Kind.CONFLICT, f"{found}: confirm it with {options.confirmed_by}")
    report.warnings.insert(0, LineMessage(None, f"{found}: this requires {options.confirmed_by}"))


async def _merge(tx: Transaction, kind: ImportKind[Shape], report: ImportReport, count: int) -> None:
    """Merge the staged rows, count the changes and notify the caches."""
    written = await tx.fetch_raw(kind.merge)
    for start in range(0, len(written), _WRITTEN_AT_ONCE):
        report.added += sum(is_new for (is_new,) in written.between(start, start + _WRITTEN_AT_ONCE))
        await asyncio.sleep(0)  # lets requests go on
    report.changed = len(written) - report.added
    for statement in kind.after:
        report.changed += await tx.fetch_value(statement)
    report.unchanged = count - report.added - report.changed
    if report.added or report.changed or report.deactivated:
        await announce(tx, kind)


async def announce(tx: Transaction, kind: ImportKind[Any]) -> None:
    """Notify the caches of a change of a kind's records."""
    for topic in kind.topics:
        await bump(tx, topic)
