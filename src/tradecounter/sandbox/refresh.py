"""Copies what a sandbox shows from the live database: products, prices, stock, shipping and customers' terms.

Nothing of a customer that names a person or a firm is read: no names, addresses, passwords, keys, orders or money. What
the sandbox has of its own stays: keys, users, addresses, webhooks, orders and what they owe.
"""

from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.db.changes import bump
from tradecounter.db.installation import is_sandbox, mark_as_sandbox
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.queries.back_orders import lock_waiting_orders
from tradecounter.orders.serve_back_orders import allocate_back_orders
from tradecounter.products.snapshot.layout import lay_out_after
from tradecounter.sandbox.queries import (
    COPIED,
    TOPICS,
    SourceError,
    copy_rows,
    is_in_use,
    merge_rows,
    opened,
    revision_of,
)


async def refresh_sandbox(tx: Transaction, source_url: str, now: datetime) -> dict[str, int]:
    """Make the sandbox's data those of the live database; the first time, mark its database as a sandbox.

    Returns how many rows of each table were written or taken away.

    Raises DomainError (conflict): the database is in use and no sandbox. Raises SourceError.
    """
    await claim_database(tx)
    async with opened(source_url) as source:
        own = await revision_of(tx)
        theirs = await source.revision()
        if own != theirs:
            raise SourceError(f"the live database is at revision {theirs}, the sandbox at {own}: upgrade both")
        if await source.is_sandbox():
            raise SourceError("the source is a sandbox itself")
        for each in COPIED:
            await copy_rows(tx, source, each)
    await lock_waiting_orders(tx)  # only now, so that orders go on while rows are copied
    changed = {each.table: await merge_rows(tx, each) for each in COPIED}
    for topic in TOPICS:
        await bump(tx, topic)
    await allocate_back_orders(tx)
    await lay_out_after(tx, changed["product"])
    audit(tx, "sandbox.refresh", "sandbox", now, after=changed)
    return changed


async def claim_database(tx: Transaction) -> None:
    """Mark an empty database as a sandbox's. Raises DomainError (conflict): it is in use and no sandbox's."""
    if await is_sandbox(tx):
        return
    if await is_in_use(tx):
        raise DomainError(
            Kind.CONFLICT,
            "the database has customers or orders and is no sandbox: a sandbox needs a database of its own",
        )
    await mark_as_sandbox(tx)
