"""Stores failures by IP address, and the blocked addresses."""

from datetime import datetime

from tradecounter.db.advisory_locks import COUNT_FAILURES
from tradecounter.db.changes import bump
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


async def lock_address(tx: Transaction, address: str) -> None:
    """Lock the failures of an address until the transaction ends."""
    await tx.execute(COUNT_FAILURES, address=address)


_CURRENT_BLOCKS = Statement("select address, blocked_until from blocked_address where blocked_until > :now")


async def current_blocks(tx: Transaction, now: datetime) -> dict[str, datetime]:
    """Return when each current block ends, by address."""
    return dict(await tx.fetch_all(_CURRENT_BLOCKS, now=now))


_BLOCK_OF = Statement("select blocked_until from blocked_address where address = :address and blocked_until > :now")


async def find_block(tx: Transaction, address: str, now: datetime) -> datetime | None:
    """Return when an address's block ends, or None."""
    found: datetime | None = await tx.fetch_value(_BLOCK_OF, address=address, now=now)
    return found


_INSERT_FAILURE = Statement("insert into credential_failure (address, failed_at) values (:address, :now)")

_COUNT_FAILURES = Statement("select count(*) from credential_failure where address = :address and failed_at > :since")


async def add_failure(tx: Transaction, address: str, now: datetime, since: datetime) -> int:
    """Record a failure; return the number of failures after `since`, including this one."""
    await tx.execute(_INSERT_FAILURE, address=address, now=now)
    count: int = await tx.fetch_value(_COUNT_FAILURES, address=address, since=since)
    return count


_BLOCK = Statement("""
    insert into blocked_address (address, blocked_until) values (:address, :until)
    on conflict (address) do update set blocked_until = excluded.blocked_until
""")

_DELETE_FAILURES_OF = Statement("delete from credential_failure where address = :address")


async def block(tx: Transaction, address: str, until: datetime) -> None:
    """Block an address in every process, and delete its failures."""
    await tx.execute(_BLOCK, address=address, until=until)
    await tx.execute(_DELETE_FAILURES_OF, address=address)
    await bump(tx, "blocks")


_DELETE_FAILURES = Statement("delete from credential_failure where failed_at <= :until")


async def delete_failures(tx: Transaction, until: datetime) -> int:
    """Delete the failures up to a moment; return their number."""
    return await tx.execute(_DELETE_FAILURES, until=until)


_DELETE_ENDED_BLOCKS = Statement("delete from blocked_address where blocked_until <= :now")


async def delete_ended_blocks(tx: Transaction, now: datetime) -> int:
    """Delete ended blocks; return their number."""
    return await tx.execute(_DELETE_ENDED_BLOCKS, now=now)
