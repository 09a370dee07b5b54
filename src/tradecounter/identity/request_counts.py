"""The table of customers' requests in a window, summed over all processes."""

from collections.abc import Mapping
from datetime import datetime

from tradecounter.db.rows import execute, fetch_tuples
from tradecounter.db.transaction import Transaction


async def add_requests(tx: Transaction, window_start: datetime, requests: Mapping[int, int]) -> None:
    """Add requests to the counts of customers, by id; rows are locked in the order of ids."""
    ids = sorted(requests)
    await execute(
        tx,
        """
        insert into request_count (customer_id, window_start, requests)
        select customer_id, %s, requests from unnest(%s::bigint[], %s::bigint[]) as more (customer_id, requests)
        on conflict (customer_id, window_start) do update set requests = request_count.requests + excluded.requests
        """,
        [window_start, ids, [requests[customer_id] for customer_id in ids]],
    )


async def read_requests(tx: Transaction, window_start: datetime, customer_ids: list[int]) -> dict[int, int]:
    """Return the counts of customers, by id."""
    rows = await fetch_tuples(
        tx,
        "select customer_id, requests from request_count where window_start = %s and customer_id = any(%s)",
        [window_start, customer_ids],
    )
    return dict(rows)


async def delete_counts(tx: Transaction, before: datetime) -> int:
    """Delete the counts of windows that started before a moment; return how many."""
    return await execute(tx, "delete from request_count where window_start < %s", [before])
