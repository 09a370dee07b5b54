"""Runs an import in one transaction, and allocates new stock to back-orders in it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from tradecounter.audit.record import audit
from tradecounter.bulk.importing import Hook, ImportOptions, ImportReport, run_import
from tradecounter.bulk.rows import BadRow, Row
from tradecounter.customers.change_account import record_customer_change
from tradecounter.customers.queries.importing import customers_written
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.events.record import record_event
from tradecounter.imports.kinds import IMPORT_KINDS, ON_HAND
from tradecounter.kit.actor import SYSTEM, Actor
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import invalid
from tradecounter.ordering.back_orders.allocate_back_orders import allocate_back_orders
from tradecounter.ordering.queries.back_orders import lock_waiting_orders


async def import_rows(
    database: Database,
    kind: str,
    rows: Iterator[Row[Any] | BadRow[Any]],
    options: ImportOptions | None = None,
    *,
    on_hand: bool = False,
    actor: Actor = SYSTEM,
    now: datetime | None = None,
) -> ImportReport:
    """Import all rows in one transaction, or no rows if the report has errors. Raises DomainError.

    With `on_hand`, the file's stock levels include units that are allocated to orders. `now` is the time of the import,
    the current time by default.
    """
    if on_hand and kind not in ON_HAND:
        raise invalid("on_hand", f"is only for imports of {', '.join(ON_HAND)}")
    options = options or ImportOptions()
    hooks: dict[str, Hook] = {}
    if kind == "stock":
        hooks = {"before_merge": lock_waiting_orders, "after_merge": allocate_back_orders}
    async with transaction(database, actor) as tx:
        report = await run_import(tx, ON_HAND[kind] if on_hand else IMPORT_KINDS[kind], rows, options, **hooks)
        if options.dry_run or report.errors:
            tx.set_rollback()
        else:
            await _record(tx, kind, report, now or SystemClock().now())
    return report


async def _record(tx: Transaction, kind: str, report: ImportReport, now: datetime) -> None:
    if kind == "customers":
        for customer_id in await customers_written(tx):
            record_customer_change(tx, customer_id, [], now)
    counts = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "deactivated")}
    record_event(tx, "import.applied", f"import/{kind}", now, None, {"kind": kind, **counts})
    audit(tx, "import.apply", f"import/{kind}", now, after=counts)
