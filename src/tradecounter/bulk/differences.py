"""Reports the records that an import changes; the database compares them before and after the import."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

import msgspec
from psycopg.sql import SQL, Composable, Composed

from tradecounter.bulk.kinds import ImportKind
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

Members = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Change:
    """A change to one record.

    Attributes:
        line: the line that changes it; None if the change is due to its absence from the file.
        key: the values of its key fields.
        change: the kind of change.
        before: the changed members' old values; all members of a deleted record; None for a new record.
        after: the changed members' new values; all members of a new record; None for a deleted record.
    """

    line: int | None
    key: str
    change: Literal["added", "changed", "deactivated"]
    before: Members | None
    after: Members | None


OnChange = Callable[[Change], None]

_decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)

_INDEX_BEFORE = Statement("create index on before (key)")
_ANALYZE_BEFORE = Statement("analyze before")
_DROP_BEFORE = Statement("drop table before")


async def keep_records(tx: Transaction, kind: ImportKind[Any], *, replace: bool) -> None:
    """Copy the records that an import may change."""
    await tx.execute(
        Statement(SQL("create temporary table before on commit drop as {}").format(_records(kind, replace=replace)))
    )
    await tx.execute(_INDEX_BEFORE)
    await tx.execute(_ANALYZE_BEFORE)


async def report_changes(tx: Transaction, kind: ImportKind[Any], on_change: OnChange, *, replace: bool) -> None:
    """Call `on_change` for each record that differs from its copy, in the file's line order."""
    compared = SQL(
        """
        select s.line, b.row::text, a.row::text
        from before b full join ({}) a using (key) left join staged s using (key)
        where b.row is distinct from a.row
        order by s.line nulls last, key
        """
    ).format(_records(kind, replace=replace))
    async for line, before, after in tx.stream(Statement(compared)):
        on_change(_change(kind, line, _members(before), _members(after)))
    await tx.execute(_DROP_BEFORE)


def _records(kind: ImportKind[Any], *, replace: bool) -> Composed:
    only_staged: Composable = SQL("" if replace else "where v.key in (select key from staged)")
    return SQL("select v.key, v.row from ({}) v {}").format(SQL(kind.view), only_staged)


def _members(row: str | None) -> dict[str, Any] | None:
    return None if row is None else _decoder.decode(row)


def _change(
    kind: ImportKind[Any], line: int | None, before: dict[str, Any] | None, after: dict[str, Any] | None
) -> Change:
    record = after or before or {}
    key = " ".join(str(record[name]) for name in kind.key if record[name] is not None)
    if before is None:
        return Change(line, key, "added", None, after)
    change: Literal["changed", "deactivated"] = "changed" if line is not None else "deactivated"
    if after is None:
        return Change(line, key, change, before, None)
    names = [name for name in after if before.get(name) != after[name]]
    return Change(line, key, change, {n: before.get(n) for n in names}, {n: after[n] for n in names})
