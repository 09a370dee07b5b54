"""Importing a file in bulk: rows are checked as they stream in, staged by COPY, and merged by a few statements.

All or nothing: one bad row and the caller's transaction has to be undone (`ImportReport.refused`). Every kind of import
is an `ImportKind`; the slices define theirs in their `importing.py` files.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, LiteralString, TypeVar

import msgspec
from psycopg.sql import SQL, Composed, Identifier, Literal
from psycopg.types.json import Jsonb

from tradecounter.db.changes import Topic, bump
from tradecounter.db.import_files import BadRow, Row
from tradecounter.db.rows import Statement, execute, fetch_tuples, fetch_value
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.rest.json_text import holds_nul

Shape = TypeVar("Shape", bound=msgspec.Struct)
Staged = tuple[str, dict[str, Any]]

_REPORT_EVERY = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportKind(Generic[Shape]):
    """How rows of one kind get into the database.

    Rows are staged in the temporary table `staged (line, key, row)`; `key` tells rows apart and names them in
    messages, `row` is JSON.

    Attributes:
        shape: what a row has to look like.
        staged: turns a row into what is staged, one or several pairs of key and JSON; may raise DomainError.
        lock: a statement that keeps others from writing the same rows in another order, once all is staged.
        checks: statements that select (line, message) of bad staged rows.
        merge: a statement that writes the staged rows and selects, per row written, whether it is new.
        after: statements that run after the merge and select the number of rows that only they changed.
        replaced: members that a row takes, when it lacks them, in a file that replaces everything.
        remove: a statement that deactivates what such a file lacks, one row for each; None: not possible.
        topics: what changed, for the caches.
    """

    shape: type[Shape]
    staged: Callable[[Shape], Iterable[Staged]]
    lock: LiteralString | None = None
    checks: tuple[LiteralString, ...] = ()
    merge: Statement
    after: tuple[LiteralString, ...] = ()
    replaced: Mapping[str, Any] = field(default_factory=dict)
    remove: LiteralString | None
    topics: tuple[Topic, ...]


@dataclass(slots=True)
class ImportReport:
    """What an import did, or would do."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    deactivated: int = 0
    errors: list[BadRow] = field(default_factory=list)

    @property
    def refused(self) -> bool:
        """Whether a bad row forbids the whole import."""
        return bool(self.errors)


async def run_import(
    tx: Transaction,
    kind: ImportKind[Shape],
    rows: Iterator[Row[Shape] | BadRow],
    *,
    replace: bool = False,
    progress: Callable[[int], None] = lambda _count: None,
    before_merge: Callable[[Transaction], Awaitable[None]] | None = None,
) -> ImportReport:
    """Import rows in the caller's transaction, which has to be undone when the report is refused.

    `replace` also deactivates what the file lacks; `progress` hears how many rows were read;
    `before_merge` runs once all are staged.
    """
    if replace and kind.remove is None:
        raise DomainError(Kind.INVALID, "this kind of file cannot replace what is there")
    report = ImportReport()
    await execute(tx, "create temporary table staged (line integer, key text, row jsonb) on commit drop")
    count = await _stage(tx, kind, rows, report.errors, progress, kind.replaced if replace else {})
    await execute(tx, "create index on staged (key)")
    await execute(tx, "analyze staged")
    if replace and not count and not report.errors:
        raise DomainError(Kind.INVALID, "the file is empty: replacing with it would deactivate everything")
    # Nobody is kept waiting while the rows stream in.
    if before_merge is not None:
        await before_merge(tx)
    if kind.lock is not None:
        await execute(tx, kind.lock)
    # What goes, goes first: the checks judge what will be there.
    removed = await execute(tx, kind.remove) if replace and kind.remove is not None else 0
    for check in kind.checks:
        report.errors += [BadRow(*found) for found in await fetch_tuples(tx, check)]
    report.errors.sort(key=lambda bad: bad.line)
    if report.refused:
        return report
    written = await fetch_tuples(tx, kind.merge)
    report.added = sum(1 for (is_new,) in written if is_new)
    report.changed = len(written) - report.added
    for statement in kind.after:
        report.changed += await fetch_value(tx, statement)
    report.unchanged = count - report.added - report.changed
    report.deactivated = removed
    if report.added or report.changed or report.deactivated:
        for topic in kind.topics:
            await bump(tx, topic)
    await execute(tx, "drop table staged")
    return report


async def _stage(
    tx: Transaction,
    kind: ImportKind[Shape],
    rows: Iterator[Row[Shape] | BadRow],
    errors: list[BadRow],
    progress: Callable[[int], None],
    missing: Mapping[str, Any],
) -> int:
    """Copy the rows into `staged`; collect the bad ones; return how many were staged."""
    line_of_key: dict[str, int] = {}
    connection = await tx.connection()
    async with connection.cursor() as cursor, cursor.copy("copy staged (line, key, row) from stdin") as copy:
        for count, row in enumerate(rows, start=1):
            if count % _REPORT_EVERY == 0:
                progress(count)
            if isinstance(row, BadRow):
                errors.append(row)
                continue
            try:
                staged = list(kind.staged(row.values))
            except DomainError as error:
                errors.append(BadRow(row.line, error.message))
                continue
            for key, values in staged:
                if key in line_of_key:
                    errors.append(BadRow(row.line, f"repeats what is on line {line_of_key[key]}"))
                    continue
                line_of_key[key] = row.line
                encoded = msgspec.json.encode({**missing, **values})
                if "\x00" in key or holds_nul(encoded):
                    errors.append(BadRow(row.line, "holds a NUL character"))
                    continue
                await copy.write_row((row.line, key, encoded.decode()))
    return len(line_of_key)


def given(row: msgspec.Struct) -> dict[str, Any]:
    """Return the members that a row holds, as JSON has them; what it left out is absent."""
    values: dict[str, Any] = msgspec.to_builtins(row)
    return values


def merge_statement(
    table: str, key: str, columns: Sequence[str], defaults: Mapping[str, Any], *, key_type: LiteralString = "text"
) -> Composed:
    """Return the statement that merges staged rows into a table, by the column that holds their key.

    Members that a row lacks leave what is there; a new row takes the defaults for them. Materialized, since each column
    read of `r` would otherwise put the whole row together again.
    """
    names = SQL(", ").join(Identifier(column) for column in columns)
    return SQL(
        """
        with merged as materialized (
            select s.line, s.key, jsonb_populate_record(
                coalesce(t, jsonb_populate_record(null::{table}, {defaults})), s.row
            ) as r
            from staged s left join {table} t on t.{key} = s.key::{key_type}
        )
        insert into {table} ({key}, {names})
        select key::{key_type}, {values} from merged order by line
        on conflict ({key}) do update set {assignments}
        where ({old}) is distinct from ({new})
        returning xmax = 0
        """
    ).format(
        table=Identifier(table),
        key=Identifier(key),
        key_type=SQL(key_type),
        names=names,
        defaults=Literal(Jsonb(dict(defaults))),
        values=SQL(", ").join(SQL("(r).{}").format(Identifier(c)) for c in columns),
        assignments=SQL(", ").join(SQL("{0} = excluded.{0}").format(Identifier(c)) for c in columns),
        old=SQL(", ").join(Identifier(table, c) for c in columns),
        new=SQL(", ").join(Identifier("excluded", c) for c in columns),
    )
