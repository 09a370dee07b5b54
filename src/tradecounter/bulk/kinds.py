"""Import kinds; each slice defines its kinds in `importing.py`."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Generic, LiteralString

from msgspec import Struct, field
from psycopg.sql import SQL, Identifier

from tradecounter.bulk.price_figures import PriceFigures
from tradecounter.bulk.rows import RowNotes, Shape
from tradecounter.db.changes import Topic
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

Staged = tuple[str | None, dict[str, Any]]
Stage = Callable[[Shape, RowNotes], Iterable[Staged]]
Prepare = Callable[[Transaction], Awaitable[Stage[Shape]]]
Hook = Callable[[Transaction], Awaitable[Any]]
Undo = Statement[Any] | Callable[[Transaction, datetime], Awaitable[Any]]
Follow = Callable[[Transaction, int, int, datetime], Awaitable[None]]
Guard = Callable[[Transaction], Awaitable[PriceFigures]]
Check = Statement[Any] | Callable[[Transaction], Awaitable[Iterable[tuple[int, str, str]]]]


class Removal(Struct, frozen=True):
    """Statements for records that are missing from a file that replaces everything; both can read the staged rows.

    Attributes:
        statement: deactivates or deletes the missing records.
        count: selects the number of active records that the statement could affect with an empty file.
    """

    statement: Statement[Any]
    count: Statement[Any]


def by_row(stage: Stage[Shape]) -> Prepare[Shape]:
    """Return the `prepare` function of a kind whose staging needs only the row."""

    async def prepare(_tx: Transaction) -> Stage[Shape]:
        return stage

    return prepare


def deactivation(table: str, key: str) -> Removal:
    """Return the removal that sets `active` to false."""
    names = {"table": Identifier(table), "key": Identifier(key)}
    return Removal(
        statement=Statement(
            SQL(
                "update {table} set active = false where active and {key}::text not in (select key from staged)"
            ).format(**names)
        ),
        count=Statement(SQL("select count(*) from {table} where active").format(**names)),
    )


def deactivation_of_added(table: str, key: str) -> Statement[Any]:
    """Return the `undo` statement of a kind whose records have an `active` column."""
    sql = SQL(
        "update {table} set active = false"
        " where active and {key}::text in (select key from undone where before is null)"
    )
    return Statement(sql.format(table=Identifier(table), key=Identifier(key)))


class ImportKind(Struct, Generic[Shape], frozen=True, kw_only=True):
    """Defines how rows of one kind are imported.

    Rows are staged in the temporary table `staged (line, key, row)`: `key` is unique, or null if it has an error; `row`
    is JSON.

    Attributes:
        shape: the type of a row.
        area: the area of the scope that an import needs.
        hint: what a row is, and what people ask about it.
        key: the fields that identify a record.
        prepare: reads the data that staging needs. Returns the function that turns a row into one or several pairs of
            key and JSON, and notes the row's errors.
        table: the table of the records. It is locked against other writers before the merge, so that the history has
            what the import really replaced, and no two imports deadlock.
        checks: statements that select (line, message) of bad staged rows, or functions that return these.
        warnings: statements that select (line, message) of staged rows that may be mistaken.
        named: the field whose value every error and warning of a row names, beside the line.
        guard: measures what the staged rows do to prices, before they are merged; some changes want `force`.
        wants_force: the checks that find the rows with these changes. A partial import leaves them out.
        before_merge: takes locks that come before the table's, for an import and for its roll-back.
        merge: writes the staged rows and selects, for each row written, whether it is new.
        after_merge: lets other records follow, after an import and after its roll-back.
        after: statements that run after the merge and select the number of additional changed rows.
        replaced: defaults for members that are missing in a file that replaces everything.
        removal: for records that are missing from such a file; None if a file cannot replace everything.
        view: selects (key, row) of all records, for comparison; `row` has a member per field.
        whole: whether a row replaces all fields of its record, so that a roll-back restores all of them.
        moves: whether other steps move what the record counts, such as units of stock. A record that has again the
            values from before the import may then lack what the import brought, so a roll-back names it as changed.
        restored: the SQL expression for `staged.row` that restores a record from its `key`, `before` of the view, and
            its row now, `stored`; null if a record that is gone cannot be restored.
        undo: removes the records that an import added; `undone (line, key, before, after)` contains what is rolled
            back, with `before` null for added records.
        applied: records what an import did. It gets the import's id, the number of records that changed, and the time.
        rolled_back: records what a roll-back did, in the same way.
        topics: the topics whose versions are bumped.
    """

    shape: type[Shape]
    area: str
    hint: str
    key: tuple[str, ...]
    prepare: Prepare[Shape]
    table: str
    checks: tuple[Check, ...] = ()
    warnings: tuple[Statement[Any], ...] = ()
    named: str | None = None
    guard: Guard | None = None
    wants_force: tuple[Check, ...] = ()
    before_merge: Hook | None = None
    merge: Statement[Any]
    after_merge: Hook | None = None
    after: tuple[Statement[Any], ...] = ()
    replaced: Mapping[str, Any] = field(default_factory=dict)
    removal: Removal | None
    view: LiteralString
    whole: bool = False
    moves: bool = False
    restored: LiteralString = "stored || before"
    undo: Undo
    applied: Follow | None = None
    rolled_back: Follow | None = None
    topics: tuple[Topic, ...]
