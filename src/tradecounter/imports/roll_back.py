"""Rolls an import back: restores what it changed.

Locks are taken in the order of an import: for stock, back-orders and waiting orders; then the kind's table.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.bulk.importing import USE_MORE_MEMORY, announce, lock_records
from tradecounter.bulk.price_figures import PriceFigures
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.queries import (
    ImportRecord,
    compare_with_present,
    count_restored,
    delete_old_changes,
    drop_restored,
    lock_import,
    restore,
    set_rolled_back,
    undo_added,
)
from tradecounter.kit.errors import DomainError, FieldError, Kind, not_found

KEEP_CHANGES = timedelta(days=90)
_MOST_NAMED = 20
_MOST_LISTED = 1000


class RolledBackImport(ImportRecord, frozen=True, kw_only=True):
    """An import after its roll-back; the figures of prices are those of the roll-back.

    Attributes:
        restored: the number of records that became what they were, or were removed.
        overwritten: the keys of those that had changed since the import.
        kept: the keys of added records that cannot be removed because they are in use, such as customers with orders.
    """

    restored: int
    overwritten: Sequence[str]
    kept: Sequence[str]


async def roll_back_import(tx: Transaction, import_id: int, now: datetime, *, force: bool = False) -> RolledBackImport:
    """Restore the records that an import changed, or with `force` also those that have changed since.

    Raises DomainError: not found, conflict (rolled back already, too old, or records have changed since).
    """
    done = await _rollable(tx, import_id, now)
    kind = IMPORT_KINDS[done.kind]
    if kind.before_merge is not None:
        await kind.before_merge(tx)
    await lock_records(tx, kind)
    await tx.execute(USE_MORE_MEMORY)
    changed = await compare_with_present(tx, kind, import_id)
    if changed and not force:
        raise _conflict(changed, "has changed since", "have changed since")
    figures = await undo_added(tx, kind, now)
    kept = await restore(tx, kind)
    if kept and not force:
        raise _conflict(kept, "is in use and cannot be removed", "are in use and cannot be removed")
    if kind.after_merge is not None:
        await kind.after_merge(tx)
    await announce(tx, kind)
    in_use = set(kept)
    overwritten = [record for record in changed if record not in in_use]
    restored = await count_restored(tx) - len(kept)
    if kind.rolled_back is not None:
        await kind.rolled_back(tx, import_id, restored, now)
    await drop_restored(tx)
    set_rolled_back(tx, import_id, now)
    counts = {"restored": restored, "overwritten": len(overwritten), "kept": len(kept)}
    subject = f"import/{import_id}"
    audit(tx, "import.roll_back", subject, now, after={"kind": done.kind, **counts})
    record_event(tx, "import.rolled_back", subject, now, None, {"import_id": import_id, "kind": done.kind, **counts})
    values = {**asdict(done), **({} if figures is None else figures.changes()), "rolled_back_at": now}
    return RolledBackImport(**values, restored=restored, overwritten=overwritten, kept=kept)


async def measure_roll_back(tx: Transaction, import_id: int, now: datetime) -> PriceFigures | None:
    """Return what a roll-back would do to prices; the caller rolls back the transaction.

    Raises DomainError: not found, conflict (rolled back already, too old).
    """
    kind = IMPORT_KINDS[(await _rollable(tx, import_id, now)).kind]
    if kind.guard is None:
        return None
    await tx.execute(USE_MORE_MEMORY)
    await compare_with_present(tx, kind, import_id)
    return await undo_added(tx, kind, now)


async def _rollable(tx: Transaction, import_id: int, now: datetime) -> ImportRecord:
    found = await lock_import(tx, import_id)
    if found is None:
        raise not_found("import", import_id)
    if found.rolled_back_at is not None:
        raise DomainError(Kind.CONFLICT, f"import {import_id} is already rolled back")
    if found.at < now - KEEP_CHANGES:
        raise DomainError(
            Kind.CONFLICT, f"import {import_id} is over {KEEP_CHANGES.days} days old: too old to roll back"
        )
    return found


def _conflict(records: Sequence[str], what_one_does: str, what_many_do: str) -> DomainError:
    what = f"record {what_one_does}" if len(records) == 1 else f"records {what_many_do}"
    more = len(records) - _MOST_NAMED
    named = ", ".join(records[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return DomainError(
        Kind.CONFLICT,
        f"{len(records)} {what}: {named}; force the roll-back to overwrite what can be",
        field_errors=[FieldError(record, what_one_does) for record in records[:_MOST_LISTED]],
    )


async def forget_changes(tx: Transaction, now: datetime) -> int:
    """Delete the stored changes of an import that is too old to be rolled back; return their number."""
    return await delete_old_changes(tx, now - KEEP_CHANGES)
