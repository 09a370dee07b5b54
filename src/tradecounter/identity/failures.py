"""Failed credentials by address, and the addresses that are blocked for them."""

from dataclasses import dataclass
from datetime import datetime

from tradecounter.db.changes import bump
from tradecounter.db.rows import execute, fetch_all, fetch_value
from tradecounter.db.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Block:
    """An address that is shut out until a moment, which is no longer part of the block."""

    address: str
    blocked_until: datetime


async def lock_address(tx: Transaction, address: str) -> None:
    """Let the failures of one address be counted one after the other, until the transaction ends."""
    await execute(tx, "select pg_advisory_xact_lock(hashtextextended('credential failure ' || %s, 0))", [address])


async def blocks_under_way(tx: Transaction, now: datetime) -> list[Block]:
    """Return all blocks that have not ended."""
    return await fetch_all(
        tx, Block, "select address, blocked_until from blocked_address where blocked_until > %s", [now]
    )


async def block_of(tx: Transaction, address: str, now: datetime) -> datetime | None:
    """Return until when an address is blocked, or None."""
    found: datetime | None = await fetch_value(
        tx, "select blocked_until from blocked_address where address = %s and blocked_until > %s", [address, now]
    )
    return found


async def add_failure(tx: Transaction, address: str, now: datetime, since: datetime) -> int:
    """Note a failure; return how many there were after `since`, this one included."""
    await execute(tx, "insert into credential_failure (address, failed_at) values (%s, %s)", [address, now])
    count: int = await fetch_value(
        tx, "select count(*) from credential_failure where address = %s and failed_at > %s", [address, since]
    )
    return count


async def block(tx: Transaction, address: str, until: datetime) -> None:
    """Block an address in every process; its failures are settled by that."""
    await execute(
        tx,
        """
        insert into blocked_address (address, blocked_until) values (%s, %s)
        on conflict (address) do update set blocked_until = excluded.blocked_until
        """,
        [address, until],
    )
    await execute(tx, "delete from credential_failure where address = %s", [address])
    await bump(tx, "blocks")


async def delete_failures(tx: Transaction, until: datetime) -> int:
    """Delete failures up to a moment; return how many."""
    return await execute(tx, "delete from credential_failure where failed_at <= %s", [until])


async def delete_ended_blocks(tx: Transaction, now: datetime) -> int:
    """Delete blocks that have ended; return how many."""
    return await execute(tx, "delete from blocked_address where blocked_until <= %s", [now])
