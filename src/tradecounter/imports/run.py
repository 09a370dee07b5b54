"""Runs an import in one transaction."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from tradecounter.audit.record import audit
from tradecounter.bulk.importing import ImportOptions, ImportReport, run_import
from tradecounter.bulk.removing import remove_records
from tradecounter.bulk.rows import BadRow, Row
from tradecounter.bulk.values import joined_key
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.events.record import record_event
from tradecounter.imports.kinds import IMPORT_KINDS, ON_HAND
from tradecounter.imports.queries import add_import, set_counts, set_figures
from tradecounter.kit.actor import SYSTEM, Actor
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import invalid
from tradecounter.prices.importing import PRICE_LIST
from tradecounter.prices.queries.importing import END_PRICES


async def import_and_commit(
    database: Database,
    kind: str,
    rows: Iterator[Row[Any] | BadRow[Any]],
    options: ImportOptions | None = None,
    *,
    on_hand: bool = False,
    actor: Actor = SYSTEM,
) -> ImportReport:
    """Import all rows in a transaction of their own, now; see `import_in_transaction`."""
    async with transaction(database, actor) as tx:
        now = SystemClock().now()
        return await import_in_transaction(tx, kind, rows, options or ImportOptions(), on_hand=on_hand, now=now)


async def import_in_transaction(
    tx: Transaction,
    kind: str,
    rows: Iterator[Row[Any] | BadRow[Any]],
    options: ImportOptions,
    *,
    on_hand: bool,
    now: datetime,
) -> ImportReport:
    """Import all rows; if errors prevent it, or of a dry run, the transaction will be rolled back.

    With `on_hand`, the file's stock levels include units that are allocated to orders. Raises DomainError.
    """
    if on_hand and kind not in ON_HAND:
        raise invalid("on_hand", f"is only for imports of {', '.join(ON_HAND)}")
    report = await run_import(
        tx,
        ON_HAND[kind] if on_hand else IMPORT_KINDS[kind],
        rows,
        options,
        begin_history=partial(add_import, kind=kind, at=now, by=_name_of(tx.actor)),
    )
    if report.id is None or report.is_rejected:
        tx.set_rollback()
    else:
        await _record(tx, report.id, kind, report, now, options.rule)
    return report


async def end_prices(tx: Transaction, sku_key: str, price_lists: Sequence[str], now: datetime) -> ImportReport:
    """Take a product off price lists, as an import of these lists without it would."""
    keys = [key for name in price_lists if (key := joined_key(name, sku_key)) is not None]
    begin = partial(add_import, kind="price-list", at=now, by=_name_of(tx.actor))
    report = await remove_records(tx, PRICE_LIST, keys, END_PRICES, begin)
    if report.id is not None:
        await _record(tx, report.id, "price-list", report, now)
    return report


def _name_of(actor: Actor) -> str:
    return actor.name if actor.acting_user is None else f"{actor.name} ({actor.acting_user})"


async def _record(
    tx: Transaction, import_id: int, kind: str, report: ImportReport, now: datetime, rule: str = ""
) -> None:
    counts = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "deactivated")}
    set_counts(tx, import_id, counts)
    if (follow := IMPORT_KINDS[kind].applied) is not None:
        await follow(tx, import_id, report.added + report.changed + report.deactivated, now)
    changes = {} if report.prices is None else report.prices.changes()
    if changes:
        set_figures(tx, import_id, changes)
    if report.skipped:
        counts["skipped"] = report.skipped
    data = {"import_id": import_id, "kind": kind, **counts}
    record_event(tx, "import.applied", f"import/{import_id}", now, None, data)
    audit(
        tx, "import.apply", f"import/{import_id}", now, after={"kind": kind, "rule": rule or None, **counts, **changes}
    )
