"""Removes single records of a kind of import, with the history of an import, so that it can be rolled back."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tradecounter.bulk.differences import keep_records, store_changes
from tradecounter.bulk.import_options import ImportReport
from tradecounter.bulk.importing import announce, lock_records
from tradecounter.bulk.kinds import ImportKind
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

_STAGE = Statement("""
    create temporary table staged on commit drop as
    select null::integer as line, key, '{}'::jsonb as row from unnest(:keys::text[]) as named (key)
""")
_EMPTY_STAGED = Statement("truncate staged")
_DROP_STAGED = Statement("drop table staged")


async def remove_records(
    tx: Transaction,
    kind: ImportKind[Any],
    keys: Sequence[str],
    statement: Statement[Any],
    begin_history: Callable[[Transaction], Awaitable[int]],
) -> ImportReport:
    """Delete the records with these keys by a statement; return the report, as of an import."""
    await lock_records(tx, kind)
    await tx.execute(_STAGE, keys=list(keys))
    await keep_records(tx, kind, replace=False)
    await tx.execute(statement, keys=list(keys))
    import_id = await begin_history(tx)
    await store_changes(tx, kind, import_id, replace=False)
    await tx.execute(_EMPTY_STAGED)
    figures = None if kind.guard is None else await kind.guard(tx)
    await tx.execute(_DROP_STAGED)
    await announce(tx, kind)
    return ImportReport(id=import_id, deactivated=len(keys), prices=figures)
