"""The history of imports, and the restoring of the records that an import changed."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct
from psycopg.sql import SQL, Literal

from tradecounter.bulk.import_options import ImportReport
from tradecounter.bulk.importing import check_staged, expect_many_records, merge_staged
from tradecounter.bulk.kinds import ImportKind
from tradecounter.bulk.price_figures import PriceChanges, PriceFigures
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.wire import Moment, Timed, made_from


class ImportRecord(Timed, Struct, frozen=True, kw_only=True):
    """An import in the history; the counts and figures are those of its report, null for kinds without prices."""

    id: int
    kind: str
    at: Moment
    by: str
    added: int
    changed: int
    unchanged: int
    deactivated: int
    rolled_back_at: Moment | None
    raised: int | None
    lowered: int | None
    largest_rise: Decimal | None
    largest_fall: Decimal | None
    customers: int | None

    @property
    def prices(self) -> PriceChanges | None:
        """The effect on prices; None for kinds without prices."""
        return None if self.raised is None else made_from(self, PriceChanges)


_ADD = Statement("insert into import_run (kind, at, made_by) values (:kind, :at, :by) returning id")

_SET_OUTCOME = Statement("""
    update import_run set added = :added, changed = :changed, unchanged = :unchanged, deactivated = :deactivated,
                          raised = :raised, lowered = :lowered, largest_rise = :largest_rise,
                          largest_fall = :largest_fall, customers = :customers
    where id = :id
""")


async def add_import(tx: Transaction, kind: str, at: datetime, by: str) -> int:
    """Add an import to the history and return its id."""
    import_id: int = await tx.fetch_value(_ADD, kind=kind, at=at, by=by)
    return import_id


def set_outcome(tx: Transaction, import_id: int, counts: Mapping[str, int], changes: dict[str, Any]) -> None:
    """Store an import's counts, and its effect on prices: the members of PriceChanges, or none."""
    tx.queue(_SET_OUTCOME, id=import_id, **counts, **(dict.fromkeys(PriceChanges.__struct_fields__) | changes))


_RECORD = SQL(
    "select id, kind, at, made_by as by, added, changed, unchanged, deactivated, rolled_back_at,"
    " raised, lowered, largest_rise, largest_fall, customers from import_run where "
)
_IMPORTS = Statement(
    SQL(
        "{} (:kinds::text[] is null or kind = any(:kinds)) and (:older_than::bigint is null or id < :older_than)"
        " and (:changed_since::timestamptz is null or greatest(at, rolled_back_at) >= :changed_since)"
        " order by id desc limit :most"
    ).format(_RECORD),
    ImportRecord,
)
_LOCK_IMPORT = Statement(SQL("{} id = :id for update").format(_RECORD), ImportRecord)


_FIND_IMPORT = Statement(SQL("{} id = :id").format(_RECORD), ImportRecord)


async def find_import(tx: Transaction, import_id: int) -> ImportRecord | None:
    """Return an import, or None."""
    return await tx.find_row(_FIND_IMPORT, id=import_id)


async def list_imports(
    tx: Transaction,
    most: int,
    *,
    older_than: int | None = None,
    kinds: Collection[str] | None = None,
    changed_since: datetime | None = None,
) -> list[ImportRecord]:
    """Return imports, newest first; only those with a lower id than `older_than`, and of some kinds.

    With `changed_since`, those that were made or rolled back then or later.
    """
    wanted = None if kinds is None else list(kinds)
    return await tx.fetch_all(_IMPORTS, most=most, older_than=older_than, kinds=wanted, changed_since=changed_since)


async def lock_import(tx: Transaction, import_id: int) -> ImportRecord | None:
    """Return an import, locked until the transaction ends."""
    return await tx.find_row(_LOCK_IMPORT, id=import_id)


# Of an added record, `before` is null; of a deleted one, `after`. An unchanged record needs no restoring, unless
# what the import had added was moved away.
_COMPARE = SQL("""
    create temporary table undone on commit drop as
    with compared as (
        select c.line, c.key, c.record, c.before, c.after, v.row as stored, v.row is not null as present,
               v.row is not null and not exists (
                   select from jsonb_each(c.after) f where v.row -> f.key is distinct from f.value) as as_imported,
               v.row is not null and not exists (
                   select from jsonb_each(c.before) f where v.row -> f.key is distinct from f.value) as as_before
        from import_change c left join ({view}) v on v.key = c.key
        where c.import_id = {import_id}
    )
    select line, key, record, before, after, stored,
           case when after is null then present else not as_imported end as changed_since
    from compared
    where case when before is null then present else not as_before or ({moves} and not as_imported) end
""")
_INDEX = Statement("create index on undone (key)")
_ANALYZE = Statement("analyze undone")
_CHANGED_SINCE = Statement("select record from undone where changed_since order by line nulls last, record")
_STAGE = SQL("""
    create temporary table staged on commit drop as
    select * from (select coalesce(line, 0) as line, key, {restored} as row from undone where before is not null) r
    where row is not null
""")
_ANALYZE_STAGED = Statement("analyze staged")
# Some records stay without being in use: inactive ones, and levels without units.
_KEPT = SQL("""
    select u.record from undone u left join ({view}) v on v.key = u.key
    where case when u.before is not null then v.row is null
          else v.row is not null and v.row -> 'active' is distinct from 'false'
            and v.row -> 'available' is distinct from '0' end
    order by u.line nulls last, u.record
""")
_RECORDS_OF_LINES = Statement("select line, record from undone where line = any(:lines::integer[])")
_MOST_NAMED = 20


async def collect_undone(tx: Transaction, kind: ImportKind[Any], import_id: int) -> int:
    """Create `undone`, the records that a roll-back restores or removes; return their number."""
    await expect_many_records(tx)
    sql = _COMPARE.format(view=SQL(kind.view), import_id=Literal(import_id), moves=Literal(kind.moves))
    count = await tx.execute(Statement(sql))
    await tx.execute(_INDEX)
    await tx.execute(_ANALYZE)
    return count


async def changed_since_import(tx: Transaction) -> Sequence[str]:
    """Return the records in `undone` that have changed since the import."""
    return [record for (record,) in await tx.fetch_all(_CHANGED_SINCE)]


async def remove_added_and_stage(tx: Transaction, kind: ImportKind[Any], now: datetime) -> PriceFigures | None:
    """Remove the added records in `undone`, and stage the others as they were; return the effect on prices."""
    await tx.execute(Statement(_STAGE.format(restored=SQL(kind.restored))))
    await tx.execute(_ANALYZE_STAGED)
    if callable(kind.undo):
        await kind.undo(tx, now)
    else:
        await tx.execute(kind.undo)
    return None if kind.guard is None else await kind.guard(tx)


async def restore(tx: Transaction, kind: ImportKind[Any]) -> Sequence[str]:
    """Restore the staged records; return those that are gone, and added ones that cannot be removed as they are in use.

    Raises DomainError (conflict) if the roll-back does not fit what has changed since: two attributes would
    have the same name.
    """
    report = ImportReport()
    await check_staged(tx, kind, report)
    if report.errors:
        lines = [error.line for error in report.errors]
        records = dict(await tx.fetch_all(_RECORDS_OF_LINES, lines=lines))
        named = [f"{records.get(each.line, 'a deactivated record')}: {each.message}" for each in report.errors]
        raise DomainError(
            Kind.CONFLICT, f"the roll-back does not fit what has changed since: {'; '.join(named[:_MOST_NAMED])}"
        )
    await merge_staged(tx, kind)
    return [record for (record,) in await tx.fetch_all(Statement(_KEPT.format(view=SQL(kind.view))))]


_SET_ROLLED_BACK = Statement("update import_run set rolled_back_at = :at where id = :id")


def set_rolled_back(tx: Transaction, import_id: int, at: datetime) -> None:
    """Mark an import as rolled back."""
    tx.queue(_SET_ROLLED_BACK, id=import_id, at=at)


_DELETE_OLD_CHANGES = Statement("""
    delete from import_change where import_id = (
        select id from import_run where id = (select min(import_id) from import_change) and at < :before)
""")


async def delete_old_changes(tx: Transaction, before: datetime) -> int:
    """Delete the changes of the first import that has some if it ran before a time; return their number."""
    return await tx.execute(_DELETE_OLD_CHANGES, before=before)


_decoder = msgspec.json.Decoder(dict[str, Any], float_hook=Decimal)
_ROWS_AT_ONCE = 500


async def stored_rows(tx: Transaction, kind: ImportKind[Any]) -> AsyncIterator[dict[str, Any]]:
    """Yield all records of a kind in the order of their keys, with a member for each field.

    Numbers with a point are decimals.
    """
    statement = Statement(SQL("select v.row::text from ({}) v order by v.key").format(SQL(kind.view)))
    async for (row,) in tx.stream(statement, _ROWS_AT_ONCE):
        yield _decoder.decode(row)
