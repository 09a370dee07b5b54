"""Runs an import of a file or of a request's body in one transaction, and rolls imports back."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import Form, opened_file
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.importing import announce, lock_records, remove_records, run_import
from tradecounter.bulk.price_figures import PriceFigures
from tradecounter.bulk.roll_back import ROLL_BACK_WITHIN, require_rollable
from tradecounter.bulk.rows import BadRow, Row, joined_key
from tradecounter.bulk.tables import ColumnOptions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.events.record import record_event
from tradecounter.imports.kinds import IMPORT_KINDS, ON_HAND
from tradecounter.imports.queries import (
    ImportRecord,
    add_import,
    changed_since_import,
    collect_undone,
    delete_old_changes,
    lock_import,
    remove_added_and_stage,
    restore,
    set_outcome,
    set_rolled_back,
)
from tradecounter.kit.actor import SYSTEM, Actor
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid, not_found, or_not_found
from tradecounter.kit.text import and_more
from tradecounter.prices.importing import PRICE_LIST
from tradecounter.prices.queries.importing import END_PRICES


async def import_and_commit(
    database: Database,
    kind: str,
    rows: Iterator[Row[Any] | BadRow[Any]],
    options: ImportOptions | None = None,
    *,
    now: datetime,
    on_hand: bool = False,
    actor: Actor = SYSTEM,
) -> ImportReport:
    """Import all rows in a transaction of its own; see `import_in_transaction`."""
    async with transaction(database, actor) as tx:
        return await import_in_transaction(tx, kind, rows, options or ImportOptions(), on_hand=on_hand, now=now)


async def import_in_transaction(
    tx: Transaction,
    kind: str,
    rows: Iterator[Row[Any] | BadRow[Any]],
    options: ImportOptions,
    *,
    now: datetime,
    on_hand: bool = False,
) -> ImportReport:
    """Import all rows. If errors prevent it, or for a dry run, the transaction will be rolled back.

    With `on_hand`, the file's stock levels include units that are allocated to orders. Raises DomainError.
    """
    if on_hand and kind not in ON_HAND:
        raise invalid("on_hand", f"is only for imports of {', '.join(ON_HAND)}")
    report = await run_import(
        tx,
        ON_HAND[kind] if on_hand else IMPORT_KINDS[kind],
        rows,
        options,
        begin_history=partial(add_import, kind=kind, at=now, by=tx.actor.full_name),
    )
    if report.id is None or report.is_rejected:
        tx.set_rollback()
    else:
        await _record(tx, report.id, kind, report, now, options.rule)
    return report


async def end_prices(tx: Transaction, sku_key: str, price_lists: Sequence[str], now: datetime) -> ImportReport:
    """Take a product off price lists, as an import of the lists without the product would."""
    keys = [key for name in price_lists if (key := joined_key(name, sku_key)) is not None]
    begin = partial(add_import, kind="price-list", at=now, by=tx.actor.full_name)
    report = await remove_records(tx, PRICE_LIST, keys, END_PRICES, begin)
    if report.id is not None:
        await _record(tx, report.id, "price-list", report, now)
    return report


async def _record(
    tx: Transaction, import_id: int, kind: str, report: ImportReport, now: datetime, rule: str = ""
) -> None:
    counts = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "deactivated")}
    if (follow := IMPORT_KINDS[kind].applied) is not None:
        await follow(tx, import_id, report.added + report.changed + report.deactivated, now)
    changes = {} if report.prices is None else report.prices.changes()
    set_outcome(tx, import_id, counts, changes)
    if report.skipped:
        counts["skipped"] = report.skipped
    data = {"import_id": import_id, "kind": kind, **counts}
    record_event(tx, "import.applied", f"import/{import_id}", now, None, data)
    audit(
        tx, "import.apply", f"import/{import_id}", now, after={"kind": kind, "rule": rule or None, **counts, **changes}
    )


MOST_BYTES = 500_000_000

FORMS: Mapping[str, Form] = {
    "application/x-ndjson": "JSON Lines",
    "application/jsonl": "JSON Lines",
    "text/csv": "CSV",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "XLSX",
}


class StoredBody(Struct, frozen=True):
    """A request's body on disk; `digest` is the hash of its bytes."""

    file: BinaryIO
    form: Form
    digest: bytes


@asynccontextmanager
async def stored_body(content_type: str, body: AsyncIterator[bytes]) -> AsyncIterator[StoredBody]:
    """Store a request's body on disk while the block runs, so that no transaction waits for it.

    Raises DomainError: unsupported media, too large.
    """
    form = FORMS.get(content_type.partition(";")[0].strip().lower())
    if form is None:
        raise DomainError(Kind.UNSUPPORTED_MEDIA, f"Content-Type must be one of {', '.join(FORMS)}")
    with tempfile.TemporaryFile() as file:
        yield StoredBody(file, form, await _store(body, file))


async def import_body(
    tx: Transaction,
    kind: str,
    body: StoredBody,
    options: ImportOptions,
    *,
    now: datetime,
    columns: ColumnOptions | None = None,
    on_hand: bool = False,
) -> ImportReport:
    """Import a request's body and return the report, with the facts of the file.

    Raises DomainError: not found (the kind), invalid (an unreadable file) and those of `import_in_transaction`.
    """
    if kind not in IMPORT_KINDS:
        raise not_found("import kind", kind)
    try:
        opened = await asyncio.to_thread(opened_file, body.file, body.form)
        rows = opened.rows(IMPORT_KINDS[kind].shape, columns)
        report = await import_in_transaction(tx, kind, rows, options, on_hand=on_hand, now=now)
    except UnreadableFileError as error:
        raise DomainError(Kind.INVALID, f"the body is unreadable: {error}") from error
    report.file = opened.facts
    return report


async def _store(body: AsyncIterator[bytes], file: BinaryIO) -> bytes:
    size, digest = 0, hashlib.sha256()
    async for chunk in body:
        size += len(chunk)
        if size > MOST_BYTES:
            raise DomainError(Kind.TOO_LARGE, f"the body is longer than {MOST_BYTES} bytes")
        digest.update(chunk)
        await asyncio.to_thread(file.write, chunk)
    file.seek(0)
    return digest.digest()


_MOST_NAMED = 20
_MOST_LISTED = 1000


class RolledBackImport(ImportRecord, frozen=True, kw_only=True):
    """An import after its roll-back; the figures of prices are those of the roll-back.

    Attributes:
        restored: the number of records that became what they were, or were removed.
        overwritten: the keys of those that had changed since the import.
        kept: the keys of added records that cannot be removed because they are in use, such as customers with orders,
            and of customers that have another e-mail address now.
    """

    restored: int
    overwritten: Sequence[str]
    kept: Sequence[str]


async def roll_back_import(tx: Transaction, import_id: int, now: datetime, *, force: bool = False) -> RolledBackImport:
    """Restore the records that an import changed; with `force`, also those that have changed since.

    Locks are taken in the order of an import: for stock, back-orders and waiting orders; then the kind's table.

    Raises DomainError: not found, conflict (rolled back already, too old, records have changed since, or the roll-back
    does not fit what has changed since).
    """
    done = await _rollable(tx, import_id, now)
    kind = IMPORT_KINDS[done.kind]
    await lock_records(tx, kind)
    count = await collect_undone(tx, kind, import_id)
    changed = await changed_since_import(tx)
    if changed and not force:
        raise _conflict(changed, "has changed since", "have changed since")
    figures = await remove_added_and_stage(tx, kind, now)
    kept = await restore(tx, kind)
    if kept and not force:
        raise _conflict(kept, "is in use and cannot be removed", "are in use and cannot be removed")
    if kind.after_merge is not None:
        await kind.after_merge(tx)
    await announce(tx, kind)
    in_use = set(kept)
    overwritten = [record for record in changed if record not in in_use]
    restored = count - len(kept)
    if kind.rolled_back is not None:
        await kind.rolled_back(tx, import_id, restored, now)
    set_rolled_back(tx, import_id, now)
    counts = {"restored": restored, "overwritten": len(overwritten), "kept": len(kept)}
    subject = f"import/{import_id}"
    audit(tx, "import.roll_back", subject, now, after={"kind": done.kind, **counts})
    record_event(tx, "import.rolled_back", subject, now, None, {"import_id": import_id, "kind": done.kind, **counts})
    values = {**asdict(done), **({} if figures is None else figures.changes()), "rolled_back_at": now}
    return RolledBackImport(**values, restored=restored, overwritten=overwritten, kept=kept)


async def measure_roll_back(tx: Transaction, import_id: int, now: datetime) -> PriceFigures | None:
    """Return the effect of a roll-back on prices; the transaction will be rolled back.

    Raises DomainError: not found, conflict (rolled back already, too old).
    """
    kind = IMPORT_KINDS[(await _rollable(tx, import_id, now)).kind]
    if kind.guard is None:
        return None
    tx.set_rollback()
    await collect_undone(tx, kind, import_id)
    return await remove_added_and_stage(tx, kind, now)


async def _rollable(tx: Transaction, import_id: int, now: datetime) -> ImportRecord:
    record = or_not_found(await lock_import(tx, import_id), "import", import_id)
    require_rollable(f"import {import_id}", record.at, record.rolled_back_at, now)
    return record


def _conflict(records: Sequence[str], what_one_does: str, what_many_do: str) -> DomainError:
    what = f"record {what_one_does}" if len(records) == 1 else f"records {what_many_do}"
    return DomainError(
        Kind.CONFLICT,
        f"{len(records)} {what}: {and_more(records, _MOST_NAMED)}; force the roll-back to overwrite what can be",
        field_errors=[FieldError(record, what_one_does) for record in records[:_MOST_LISTED]],
    )


async def forget_changes(tx: Transaction, now: datetime) -> int:
    """Delete the stored changes of an import that is too old to be rolled back; return their number."""
    return await delete_old_changes(tx, now - ROLL_BACK_WITHIN)
