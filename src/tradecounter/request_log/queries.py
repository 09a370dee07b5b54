"""The stored requests of customers' keys and applications: errors and writes one by one, others counted by minute."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct

from tradecounter.db.pipeline import json_of
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction


class Counted(NamedTuple):
    """What requests that are only counted have in common; reads that succeeded have no status and no code."""

    customer_id: int
    caller: str
    minute: datetime
    method: str
    route: str
    status: int = 0
    code: str = ""


class Logged(NamedTuple):
    """An error or a write; `size` is the length of the response's body in bytes."""

    customer_id: int
    caller: str
    at: datetime
    method: str
    path: str
    status: int
    code: str
    milliseconds: int
    request_id: str
    size: int


_ADD_REQUESTS = Statement("""
    insert into request_log
        (customer_id, caller, at, method, path, status, code, milliseconds, request_id, bytes)
    select more.* from unnest(:customers::bigint[], :callers::text[], :times::timestamptz[], :methods::text[],
        :paths::text[], :statuses::int[], :codes::text[], :milliseconds::int[], :request_ids::text[], :sizes::bigint[])
        as more (customer_id, caller, at, method, path, status, code, milliseconds, request_id, bytes)
""")
_REQUEST_COLUMNS = (
    "customers", "callers", "times", "methods", "paths", "statuses", "codes", "milliseconds", "request_ids", "sizes",
)  # fmt: skip


async def add_requests(tx: Transaction, requests: Sequence[Logged]) -> None:
    """Store errors and writes."""
    if requests:
        await tx.execute(
            _ADD_REQUESTS, **dict(zip(_REQUEST_COLUMNS, map(list, zip(*requests, strict=True)), strict=True))
        )


# As JSON: thousands of counts at a time, and psycopg takes 2 µs for each element of an array.
_ADD_COUNTS = Statement("""
    insert into request_log (customer_id, caller, at, method, path, status, code, count)
    select * from json_to_recordset(:counts::json) as more (customer_id bigint, caller text, minute timestamptz,
        method text, route text, status int, code text, number bigint)
    on conflict (customer_id, caller, at, method, path, status, code) where count is not null
    do update set count = request_log.count + excluded.count
""")


async def add_counts(tx: Transaction, counts: Mapping[Counted, int]) -> None:
    """Add to the counts of requests; locks them in one order."""
    if counts:
        ordered = [{**counted._asdict(), "number": number} for counted, number in sorted(counts.items())]
        await tx.execute(_ADD_COUNTS, counts=json_of(ordered))


class RequestRecord(Struct, frozen=True):
    """An entry of the log: one request, or with a `count` several of a minute."""

    id: int
    at: datetime
    method: str
    path: str
    status: int
    code: str
    milliseconds: int | None
    request_id: str | None
    bytes: int | None
    count: int | None


_LIST = Statement(
    """
    select id, at, method, path, status, code, milliseconds, request_id, bytes, count
    from request_log
    where customer_id = :customer_id and caller = :caller and (:before::bigint is null or id < :before)
      and (not :errors or status >= 400)
    order by id desc limit :most
    """,
    RequestRecord,
)


async def list_requests(
    tx: Transaction, customer_id: int, caller: str, most: int, *, before: int | None = None, errors: bool = False
) -> list[RequestRecord]:
    """Return the latest entries that have a lower id than `before`; with `errors`, no others."""
    values = {"customer_id": customer_id, "caller": caller, "before": before, "errors": errors, "most": most}
    return await tx.fetch_all(_LIST, **values)


_FORGET = Statement("""
    with old as (select id from request_log where at < :before limit :most)
    delete from request_log using old where request_log.id = old.id
""")


async def forget_requests(tx: Transaction, before: datetime, most: int) -> int:
    """Delete at most so many entries from before a moment; return how many."""
    return await tx.execute(_FORGET, before=before, most=most)
