"""The number of each customer's requests in a window, over all processes."""

from collections.abc import Mapping
from datetime import datetime

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction

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


_DELETE_COUNTS = Statement("delete from request_count where window_start < :before")


async def delete_counts(tx: Transaction, before: datetime) -> int:
    """Delete the counts of windows that started before a moment; return their number."""
    return await tx.execute(_DELETE_COUNTS, before=before)
