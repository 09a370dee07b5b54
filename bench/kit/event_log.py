"""Events by SQL: logs of a million would take an hour of orders."""

from collections.abc import Sequence
from typing import Any

import psycopg

TYPES = ("order.confirmed", "order.dispatched", "invoice.issued", "payment.recorded")  # of what is appended

_APPEND = """
with log as (
    select last from event_sequence
), added as (
    insert into event (sequence, id, type, occurred_at, subject, customer_id, for_customer, data)
    select last + n, 'evt_' || left(md5((last + n)::text), 24),
           (%(types)s::text[])[1 + n %% cardinality(%(types)s::text[])], now(),
           'order/' || (last + n), (%(customers)s::bigint[])[1 + n %% cardinality(%(customers)s::bigint[])], true,
           jsonb_build_object(
               'order_id', last + n, 'order_reference', 'ORD-' || (last + n), 'customer_reference', 'PO-' || n,
               'status', 'Awaiting dispatch', 'total', '1234.56')
    from log, generate_series(1, %(count)s::integer) n
)
update event_sequence set last = last + %(count)s
"""


def append_events(connection: psycopg.Connection[Any], count: int, customer_ids: Sequence[int]) -> None:
    """Append events of these customers in rotation, each with a subject of its own."""
    with connection.transaction():
        connection.execute("set local synchronous_commit = off")
        connection.execute(_APPEND.encode(), {"types": list(TYPES), "count": count, "customers": list(customer_ids)})
    connection.execute("vacuum analyze event")
