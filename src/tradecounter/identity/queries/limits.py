"""The SQL of blocked addresses, wrong credentials and counts of requests."""

from collections.abc import Mapping
from datetime import datetime

from tradecounter.db.advisory_locks import COUNT_FAILURES
from tradecounter.db.changes import bump
from tradecounter.db.pipeline import json_of
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
    blocked_until: datetime | None = await tx.find_value(_BLOCK_OF, address=address, now=now)
    return blocked_until


_INSERT_FAILURE = Statement("insert into credential_failure (address, failed_at) values (:address, :now)")


_FAILURES_SINCE = Statement("select count(*) from credential_failure where address = :address and failed_at > :since")


async def add_failure(tx: Transaction, address: str, now: datetime, since: datetime) -> int:
    """Record a failure; return the number of failures after `since`, including this one."""
    await tx.execute(_INSERT_FAILURE, address=address, now=now)
    count: int = await tx.fetch_value(_FAILURES_SINCE, address=address, since=since)
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


# Thousands of customers each second, as JSON: psycopg takes 2 µs for each element of an array.
_ADD_REQUESTS = Statement("""
    insert into request_count (customer_id, window_start, requests)
    select customer_id::bigint, :window_start, requests::bigint
    from json_each_text(:requests::json) as more (customer_id, requests)
    on conflict (customer_id, window_start) do update set requests = request_count.requests + excluded.requests
""")


async def add_requests(tx: Transaction, window_start: datetime, requests: Mapping[int, int]) -> None:
    """Add requests to customers' counts, by id; locks the rows in the order of ids."""
    await tx.execute(_ADD_REQUESTS, window_start=window_start, requests=json_of(dict(sorted(requests.items()))))


_READ_REQUESTS = Statement("""
    select customer_id, requests from request_count
    where window_start = :window_start
      and customer_id = any(array(select json_array_elements_text(:customer_ids::json)::bigint))
""")


async def read_requests(tx: Transaction, window_start: datetime, customer_ids: list[int]) -> dict[int, int]:
    """Return the counts of customers, by id."""
    rows = await tx.fetch_all(_READ_REQUESTS, window_start=window_start, customer_ids=json_of(customer_ids))
    return dict(rows)


_OLD_FAILURES = Statement("delete from credential_failure where failed_at <= :failed")
_ENDED_BLOCKS = Statement("delete from blocked_address where blocked_until <= :ended")
_OLD_COUNTS = Statement("delete from request_count where window_start < :counted")


async def delete_old(tx: Transaction, *, failed: datetime, ended: datetime, counted: datetime) -> int:
    """Delete failures, blocks that `ended`, and counts of windows, from before three moments; return how many."""
    return (
        await tx.execute(_OLD_FAILURES, failed=failed)
        + await tx.execute(_ENDED_BLOCKS, ended=ended)
        + await tx.execute(_OLD_COUNTS, counted=counted)
    )
