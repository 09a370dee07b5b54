"""Running an import: one transaction, all or nothing; new stock serves waiting orders first."""

from collections.abc import Callable, Iterator
from typing import Any

from tradecounter.db.import_files import BadRow, Row
from tradecounter.db.importing import ImportReport, run_import
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.ordering.allocate_back_orders import allocate_back_orders, lock_waiting_orders


async def import_rows(
    database: Database,
    kind: str,
    rows: Iterator[Row[Any] | BadRow],
    *,
    dry_run: bool = False,
    replace: bool = False,
    progress: Callable[[int], None] = lambda _count: None,
) -> ImportReport:
    """Import a file's rows in one transaction, all or nothing; return what was done, or why nothing was."""
    async with transaction(database) as tx:
        report = await run_import(
            tx,
            IMPORT_KINDS[kind],
            rows,
            replace=replace,
            progress=progress,
            before_merge=lock_waiting_orders if kind == "stock" else None,
        )
        if kind == "stock" and not report.refused:
            await allocate_back_orders(tx)
        if dry_run or report.refused:
            tx.undo()
    return report
