"""Records what an import changes; the database compares the records before and after the import."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import msgspec
from msgspec import Struct
from psycopg.sql import SQL, Composable, Composed
from psycopg.sql import Literal as Quoted

from tradecounter.bulk.kinds import ImportKind
from tradecounter.bulk.price_figures import largest_change
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

Members = Mapping[str, Any]


class Change(Struct, frozen=True):
    """A change to one record.

    Attributes:
        line: the line that changes it; None if the change is due to its absence from the file.
        key: the values of its key fields.
        change: the kind of change.
        before: the changed members' old values; all members of a deleted record; None for a new record.
        after: the changed members' new values; all members of a new record; None for a deleted record.
        percent: the largest change of a price's breaks, in per cent; UNSET for other records.
    """

    line: int | None
    key: str
    change: Literal["added", "changed", "deactivated"]
    before: Members | None
    after: Members | None
    percent: Decimal | msgspec.UnsetType = msgspec.UNSET


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


async def store_changes(tx: Transaction, kind: ImportKind[Any], import_id: int, *, replace: bool) -> None:
    """Store the records that differ from their copies: a new or deleted one whole, otherwise the changed fields."""
    sql = SQL(
        """
        with compared as materialized (
            select s.line, key, b.row as before, a.row as after
            from before b full join ({records}) a using (key) {left} join staged s using (key)
            where b.row is distinct from a.row
        )
        insert into import_change (import_id, line, key, record, before, after)
        select {import_id}, line, key, concat_ws(' ', {key_fields}),
               case when after is null then before else {before} end,
               case when before is null then after else {after} end
        from compared {changed_fields}
        """
    ).format(
        records=_records(kind, replace=replace),
        left=SQL("left" if replace else ""),  # else only rows with errors, which are left out, are not staged
        import_id=Quoted(import_id),
        key_fields=SQL(", ").join(SQL("coalesce(after, before) ->> {}").format(Quoted(name)) for name in kind.key),
        **_kept_fields(kind),
    )
    await tx.execute(Statement(sql))
    await tx.execute(_DROP_BEFORE)


def _kept_fields(kind: ImportKind[Any]) -> dict[str, Composable]:
    if kind.whole:
        names = Quoted(list(kind.key))
        return {
            "before": SQL("before - {}::text[]").format(names),
            "after": SQL("after - {}::text[]").format(names),
            "changed_fields": SQL(""),
        }
    changed_fields = SQL(
        """
        left join lateral (
            select jsonb_object_agg(f.key, before -> f.key) as old, jsonb_object_agg(f.key, f.value) as new
            from jsonb_each(case when before is not null then after end) f
            where before -> f.key is distinct from f.value
        ) as fields on true
        """
    )
    return {"before": SQL("fields.old"), "after": SQL("fields.new"), "changed_fields": changed_fields}


_CHANGES = SQL("select line, record, before::text, after::text from import_change where import_id = {} order by {}")
_LAST_LINE = 2**31 - 1  # of records that are not in the file
_IN_ORDER = SQL("coalesce(line, {}), record").format(Quoted(_LAST_LINE))  # the first as import_change_of_import has it


async def stream_changes(tx: Transaction, import_id: int) -> AsyncIterator[Change]:
    """Yield all changes of an import in the file's line order."""
    async for row in tx.stream(Statement(_CHANGES.format(Quoted(import_id), _IN_ORDER))):
        yield _change(*row)


# An import may have 100,000 changes: only those of the page are read and converted to text.
_PAGE = Statement(
    SQL("""
        select line, record, before::text, after::text from (
            select line, record, before, after from import_change
            where import_id = :import_id and ({order}) > (:line, :record) order by {order} limit :most) found
        order by {order}
    """).format(order=_IN_ORDER)
)


async def changes_after(
    tx: Transaction, import_id: int, most: int, after: tuple[int | None, str] | None = None
) -> Sequence[Change]:
    """Return the first changes of an import in the file's line order, after the line and the key in `after`."""
    line, record = after or (-1, "")
    line = _LAST_LINE if line is None else line
    rows = await tx.fetch_raw(_PAGE, import_id=import_id, line=line, record=record, most=most)
    return await asyncio.to_thread(lambda: [_change(*row) for row in rows.between(0)])


_DIGEST = Statement("""
    select md5(string_agg(concat_ws(chr(31), key, before, after), chr(30) order by key))
    from import_change where import_id = :import_id
""")


async def digest_of_changes(tx: Transaction, import_id: int) -> str | None:
    """Return a digest of all changes of an import; None without any."""
    digest: str | None = await tx.fetch_value(_DIGEST, import_id=import_id)
    return digest


def _records(kind: ImportKind[Any], *, replace: bool) -> Composed:
    """Return the query for the records. Without `offset`, each row would be made into JSON as often as it is used."""
    only_staged: Composable = SQL("" if replace else "where v.key in (select key from staged)")
    return SQL("select v.key, v.row from ({}) v {} offset 0").format(SQL(kind.view), only_staged)


def _change(line: int | None, key: str, old: str | None, new: str | None) -> Change:
    before, after = _members(old), _members(new)
    if before is None:
        return Change(line, key, "added", before=None, after=after)
    change: Literal["changed", "deactivated"] = "changed" if line is not None else "deactivated"
    if after is None:
        return Change(line, key, change, before=before, after=None)
    names = [name for name in after if before.get(name) != after[name]]
    return Change(
        line,
        key,
        change,
        before={name: before.get(name) for name in names},
        after={name: after[name] for name in names},
        percent=largest_change(before, after),
    )


def _members(row: str | None) -> dict[str, Any] | None:
    return None if row is None else _decoder.decode(row)
