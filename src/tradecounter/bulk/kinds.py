"""What a kind of import is; the slices define theirs in their `importing.py` files."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, LiteralString

from psycopg.sql import SQL, Identifier

from tradecounter.bulk.rows import Shape
from tradecounter.bulk.values import RowNotes
from tradecounter.db.changes import Topic
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

Staged = tuple[str | None, dict[str, Any]]
Stage = Callable[[Shape, RowNotes], Iterable[Staged]]
Prepare = Callable[[Transaction], Awaitable[Stage[Shape]]]
Check = Statement[Any] | Callable[[Transaction], Awaitable[Iterable[tuple[int, str]]]]


@dataclass(frozen=True, slots=True)
class Removal:
    """What becomes of the records that a replacing file lacks: both statements see the staged rows.

    Attributes:
        statement: deactivates or deletes them.
        count: selects how many active records there are, of those that the statement may touch.
    """

    statement: Statement[Any]
    count: Statement[Any]


def by_row(stage: Stage[Shape]) -> Prepare[Shape]:
    """Return the preparation of a stage that needs nothing but the row."""

    async def prepare(_tx: Transaction) -> Stage[Shape]:
        return stage

    return prepare


def deactivation(table: str, key: str) -> Removal:
    """Return the removal that switches off the rows of a table."""
    names = {"table": Identifier(table), "key": Identifier(key)}
    return Removal(
        statement=Statement(
            SQL(
                "update {table} set active = false where active and {key}::text not in (select key from staged)"
            ).format(**names)
        ),
        count=Statement(SQL("select count(*) from {table} where active").format(**names)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportKind(Generic[Shape]):
    """How rows of one kind get into the database.

    Rows are staged in the temporary table `staged (line, key, row)`: `key` tells rows apart, and is null where it is at
    fault; `row` is JSON.

    Attributes:
        shape: what a row has to look like.
        key: the fields that name a record.
        prepare: looks up what staging needs, and returns the function that turns a row into what is staged: one or
            several pairs of key and JSON. That function notes what is wrong with the row.
        lock: a statement that keeps others from writing the same rows in another order, once all is staged.
        checks: statements that select (line, message) of bad staged rows, or functions that return them.
        warnings: statements that select (line, message) of staged rows that may be mistaken.
        merge: a statement that writes the staged rows and selects, per row written, whether it is new.
        after: statements that run after the merge and select the number of rows that only they changed.
        replaced: members that a row takes, when it lacks them, in a file that replaces everything.
        removal: what becomes of what such a file lacks; None: a file cannot replace.
        view: selects (key, row) of all records, to compare before and after; `row` has the names of the fields.
        topics: what changed, for the caches.
    """

    shape: type[Shape]
    key: tuple[str, ...]
    prepare: Prepare[Shape]
    lock: Statement[Any] | None = None
    checks: tuple[Check, ...] = ()
    warnings: tuple[Statement[Any], ...] = ()
    merge: Statement[Any]
    after: tuple[Statement[Any], ...] = ()
    replaced: Mapping[str, Any] = field(default_factory=dict)
    removal: Removal | None
    view: LiteralString
    topics: tuple[Topic, ...]
