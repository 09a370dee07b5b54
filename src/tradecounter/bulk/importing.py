"""Imports a file: checks rows while reading, stages them with COPY and merges them with a few statements.

The caller must roll back the transaction if the report has errors, so that a file is imported completely or not at all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace
from psycopg.errors import LockNotAvailable
from psycopg.sql import SQL, Identifier

from tradecounter.bulk.bad_rows import leave_out_bad_rows
from tradecounter.bulk.differences import changes_after, digest_of_changes, keep_records, store_changes, stream_changes
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.kinds import ImportKind
from tradecounter.bulk.price_figures import GuardedPricesError
from tradecounter.bulk.rows import BadRow, Row, RowMessage, Shape
from tradecounter.bulk.stage_rows import Findings, naming_record, stage_rows
from tradecounter.db.changes import bump
from tradecounter.db.statement import FORGET_PLANS, RawRows, Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind

_WRITTEN_AT_ONCE = 2000
MOST_DIFFERENCES = 1000  # in a report
_RETRY_SECONDS = 5
_MOST_REMOVED_ONE_IN = 5  # records may be removed without confirmation


# Joins of 100,000 rows, which would otherwise go through temporary files.
_USE_MORE_MEMORY = Statement("set local work_mem = '64MB'")
_CREATE_STAGED = Statement("create temporary table staged (line integer, key text, row jsonb) on commit drop")
_INDEX_STAGED = Statement("create index on staged (key)")
_ANALYZE_STAGED = Statement("analyze staged")
_VALUES_OF_LINES = Statement("select line, row ->> :name from staged where line = any(:lines::integer[])")
_DROP_STAGED = Statement("drop table staged")

_STAGE_KEYS = Statement("""
    create temporary table staged on commit drop as
    select null::integer as line, key, '{}'::jsonb as row from unnest(:keys::text[]) as named (key)
""")
_EMPTY_STAGED = Statement("truncate staged")


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
    await expect_many_records(tx)
    await tx.execute(_CREATE_STAGED)
    findings = Findings(report)
    count = await stage_rows(tx, kind, rows, findings, options)
    await tx.execute(_INDEX_STAGED)
    await tx.execute(_ANALYZE_STAGED)
    if options.replace and not count and not report.errors:
        raise DomainError(Kind.INVALID, "the file is empty: replacing with it would deactivate everything")
    # Locked only now, so that other transactions do not wait while rows are read.
    await lock_records(tx, kind)
    if options.keeps_changes:
        await keep_records(tx, kind, replace=options.replace)
    # Removals come first, so that the checks see only the remaining records.
    removed = of = 0
    if options.replace and kind.removal is not None and not findings.hides_records:
        of = await tx.fetch_value(kind.removal.count)
        removed = await tx.execute(kind.removal.statement)
    count = await _good_rows(tx, kind, findings, options, count)
    await _warn(tx, kind, report)
    if report.is_rejected:
        return report
    _limit_removal(removed, of, report, options)
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
    tx: Transaction, kind: ImportKind[Shape], findings: Findings, options: ImportOptions, count: int
) -> int:
    """Check the staged rows, and leave the bad ones of a partial import out; return how many rows remain."""
    report = findings.report
    if options.partial and not options.force:
        kind = replace(kind, checks=(*kind.checks, *kind.wants_force))
    await check_staged(tx, kind, report)
    if report.errors and options.partial and not findings.ends_file:
        count, skipped = await leave_out_bad_rows(tx, report.errors, partial(check_staged, tx, kind, report))
        report.skipped = skipped if count else 0
        if options.replace and findings.hides_records:
            report.warnings.insert(0, RowMessage(None, "", _NOTHING_DEACTIVATED))
    return count


async def _guard(tx: Transaction, kind: ImportKind[Any], report: ImportReport, options: ImportOptions) -> None:
    """Measure the import's effect on prices. Raises GuardedPricesError."""
    if kind.guard is None:
        return
    report.prices = await kind.guard(tx)
    if report.prices.want_force and not options.force and not options.dry_run:
        raise GuardedPricesError(report.prices, options.forced_by)


async def expect_many_records(tx: Transaction) -> None:
    """Have the transaction's joins be in memory, and triggers plan for the records that the next statement changes."""
    await tx.execute(_USE_MORE_MEMORY)
    await tx.execute(FORGET_PLANS)


async def lock_records(tx: Transaction, kind: ImportKind[Any]) -> None:
    """Lock a kind's table, and what comes before it, against other writers until the transaction ends.

    Raises DomainError (unavailable) if another transaction, such as that of a long import, has the lock for too long.
    """
    try:
        if kind.before_merge is not None:
            await kind.before_merge(tx)
        await tx.execute(Statement(SQL("lock table {} in share row exclusive mode").format(Identifier(kind.table))))
    except LockNotAvailable:
        raise DomainError(
            Kind.UNAVAILABLE,
            "another import or change of the same or related records is under way; try again when it has ended",
            retry_after=_RETRY_SECONDS,
        ) from None


async def _report_changes(tx: Transaction, import_id: int, report: ImportReport, options: ImportOptions) -> None:
    if options.on_change is not None:
        async for change in stream_changes(tx, import_id):
            options.on_change(change)
    if options.diff:
        changes = await changes_after(tx, import_id, MOST_DIFFERENCES + 1)
        report.diff = changes[:MOST_DIFFERENCES]
        report.diff_more = len(changes) > MOST_DIFFERENCES
    if options.rule:
        report.digest = await digest_of_changes(tx, import_id)
    if options.dry_run:
        report.id = None


_NOTHING_DEACTIVATED = "nothing is deactivated, because it is unknown which records the rows with errors are"


async def check_staged(tx: Transaction, kind: ImportKind[Any], report: ImportReport) -> None:
    """Run the database's checks and add their errors to the report, in line order."""
    known = {(error.line, error.column) for error in report.errors if error.column}
    for check in kind.checks:
        rows = await check(tx) if callable(check) else await tx.fetch_all(check)
        errors = await _name_records(tx, kind, [RowMessage(*row) for row in rows])
        # The checks see fields with errors as missing.
        report.errors += [error for error in errors if (error.line, error.column) not in known]
    report.errors.sort(key=lambda error: error.line or 0)


async def _warn(tx: Transaction, kind: ImportKind[Any], report: ImportReport) -> None:
    """Add the database's warnings about the rows that remain to the report, in line order."""
    for statement in kind.warnings:
        report.warnings += [RowMessage(*row) for row in await tx.fetch_all(statement)]
    report.warnings.sort(key=lambda warning: warning.line or 0)


async def _name_records(tx: Transaction, kind: ImportKind[Any], messages: list[RowMessage]) -> list[RowMessage]:
    """Return messages about staged rows, with the rows' values of the field `named` of the kind."""
    if kind.named is None or not messages:
        return messages
    values = dict(await tx.fetch_all(_VALUES_OF_LINES, name=kind.named, lines=[message.line for message in messages]))
    return [naming_record(message, kind.named, values.get(message.line)) for message in messages]


def _limit_removal(removed: int, of: int, report: ImportReport, options: ImportOptions) -> None:
    """Raise DomainError if the removal of more than a fifth is unconfirmed, because the file may be truncated."""
    report.deactivated = removed
    if options.confirmed or removed * _MOST_REMOVED_ONE_IN <= of:
        return
    problem = f"replacing would deactivate {removed} of {of}, more than a fifth"
    if not options.dry_run:
        raise DomainError(Kind.CONFLICT, f"{problem}: confirm it with {options.confirmed_by}")
    report.warnings.insert(0, RowMessage(None, "", f"{problem}: this requires {options.confirmed_by}"))


async def merge_staged(tx: Transaction, kind: ImportKind[Any]) -> RawRows[Any]:
    """Write the staged rows; return for each row written whether it is new."""
    await tx.execute(FORGET_PLANS)
    return await tx.fetch_raw(kind.merge)


async def _merge(tx: Transaction, kind: ImportKind[Shape], report: ImportReport, count: int) -> None:
    """Merge the staged rows, count the changes and notify the caches."""
    written = await merge_staged(tx, kind)
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


async def remove_records(
    tx: Transaction,
    kind: ImportKind[Any],
    keys: Sequence[str],
    statement: Statement[Any],
    begin_history: Callable[[Transaction], Awaitable[int]],
) -> ImportReport:
    """Delete the records with these keys by a statement, with the history of an import; return its report."""
    await lock_records(tx, kind)
    await tx.execute(_STAGE_KEYS, keys=list(keys))
    await keep_records(tx, kind, replace=False)
    await tx.execute(statement, keys=list(keys))
    import_id = await begin_history(tx)
    await store_changes(tx, kind, import_id, replace=False)
    await tx.execute(_EMPTY_STAGED)
    figures = None if kind.guard is None else await kind.guard(tx)
    await tx.execute(_DROP_STAGED)
    await announce(tx, kind)
    return ImportReport(id=import_id, deactivated=len(keys), prices=figures)
