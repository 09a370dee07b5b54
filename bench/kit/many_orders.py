"""Years of orders, with their lines, events, audit entries and idempotency keys: copies, by SQL, of one order.

The rows stand in the order of time, as in a database that has grown. Most orders are completed, a twentieth of them
expired, and those of the last days are open. Some customers order far more than others.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from bench.kit.million_orders import columns

CUSTOMERS = 5_000
WATCHED_ORDERS = 200  # of each watched customer, in every database
YEARS = 5
OPEN = 20_000  # orders at the end of the rows, or a tenth of few

FIRST = 10_000_000  # ids and numbers, far from those that the product gives

_MORE_CUSTOMERS = """
insert into customer (email_address, email_key, first_name, last_name, company, created_at)
select 'more' || n || '@customers.example', 'more' || n || '@customers.example', 'Ada', 'More', 'More ' || n, now()
from generate_series(1, %(count)s - (select count(*) from customer)) n
"""
# `open` counts back from the last order. A hash decides what must not follow the time.
_PLAN = """
create unlogged table plan as
select n, %(first)s + n as id, (now() - (%(count)s - n) * %(years)s * interval '1 year' / %(count)s) as at,
       case when n %% %(step)s = 0
            then (%(watched)s::bigint[])[1 + n / %(step)s %% cardinality(%(watched)s::bigint[])]
            else (%(others)s::bigint[])[1 + floor(cardinality(%(others)s::bigint[]) * ((hashint8(n) + 2147483648)
                                                  / 4294967296.0::float8) ^ 2)::integer] end as customer_id,
       case when n %% %(step)s <> 0 and n %% 20 = 7 then 'expired'
            when n <= %(count)s - %(open)s then 'Completed'
            else (array['Awaiting dispatch', 'Awaiting dispatch', 'Back-ordered', 'Part dispatched', 'Dispatched',
                        'Invoiced', 'Invoiced', 'Invoiced'])[1 + (n / 3) %% 8] end as status,
       abs(hashint8(n)) as dice
from generate_series(1::bigint, %(count)s::bigint) n
"""
_ORDERS: dict[str, LiteralString] = {
    "id": "p.id",
    "customer_id": "p.customer_id",
    "confirmation_code": "md5('many ' || p.id)",
    "state": "case p.status when 'expired' then 'expired' else 'confirmed' end",
    "status": "nullif(p.status, 'expired')",
    "number": "case when p.status <> 'expired' then p.id end",
    "order_reference": "case when p.status <> 'expired' then 'ORD-' || p.id end",
    "customer_reference": "'PO-' || p.id",
    "created_at": "p.at",
    "confirmed_at": "case when p.status <> 'expired' then p.at + interval '1 minute' end",
    "expires_at": "p.at + interval '1 day'",
    "cost_net": "o.cost_net + p.dice %% 1000",
    "paid": "case p.status when 'Completed' then o.gross + p.dice %% 1000 else 0 end",
    "term_days": "30",
    "shipping_options": "jsonb_build_array(o.shipping_options -> 0)",
}
_LINES: dict[str, LiteralString] = {
    "id": "p.id * 2 + o.position",
    "order_id": "p.id",
    "product_id": "(%(products)s::bigint[])[1 + (p.dice / o.position) %% cardinality(%(products)s::bigint[])]",
    "allocated": "case when p.status = 'Awaiting dispatch' then o.quantity else 0 end",
    "back_ordered": "case when p.status = 'Back-ordered' then o.quantity else 0 end",
    "dispatched": "case when p.status in ('Awaiting dispatch', 'Back-ordered', 'expired') then 0 else o.quantity end",
}
_EVENTS = """
insert into event (sequence, id, type, occurred_at, subject, customer_id, for_customer, data)
select (select last from event_sequence) + 2 * p.n - 1 + k, 'evt_' || left(md5(k || ' ' || p.id), 24),
       case when k = 0 then 'order.created' when p.status = 'expired' then 'order.expired' else 'order.confirmed' end,
       p.at + k * interval '1 minute', 'order/' || p.id, p.customer_id, k = 1 and p.status <> 'expired',
       '{"order_id": 12345678, "order_reference": "ORD-12345678", "status": "Awaiting dispatch", "total": "1234.56"}'
from plan p, generate_series(0, 1) k
"""
_COUNTED = "update event_sequence set last = (select max(sequence) from event)"
_AUDIT = """
insert into audit_entry (at, actor_kind, actor_id, actor_name, address, action, subject, before, after)
select p.at + k * interval '1 minute', 'key', p.customer_id::text, 'bench', '192.0.2.1',
       case k when 0 then 'order.create' else 'order.confirm' end, 'order/' || p.id,
       '{"state": "pending"}', '{"state": "confirmed", "order_reference": "ORD-12345678", "total": "1234.56"}'
from plan p, generate_series(0, 1) k
"""
_KEYS = """
insert into idempotency_key (customer_id, key, fingerprint, status, body, created_at)
select p.customer_id, md5('key ' || p.id), sha256(p.id::text::bytea), 201,
       convert_to(repeat(md5(p.id::text), 12), 'UTF8'), p.at
from plan p
"""
_EXPOSURE = """
insert into credit_exposure (customer_id, outstanding)
select customer_id, sum(gross - paid - credited) from orders where state = 'confirmed' and paid + credited < gross
group by customer_id
on conflict (customer_id) do update set outstanding = excluded.outstanding
"""
_SEQUENCES = (
    "select setval('orders_id_seq', (select max(id) from orders))",
    "select setval('order_line_id_seq', (select max(id) from order_line))",
)


def add_orders(
    connection: psycopg.Connection[Any], url: str, count: int, watched: Sequence[int], say: Callable[[str], None]
) -> None:
    """Add this many orders, `WATCHED_ORDERS` of them of each watched customer, as copies of the first confirmed order.

    Needs a superuser, since it fills the indexes once, after the rows.
    """
    connection.execute(_MORE_CUSTOMERS.encode(), {"count": CUSTOMERS})
    values: dict[str, Any] = {
        "first": FIRST,
        "count": count,
        "years": YEARS,
        "step": count // (WATCHED_ORDERS * len(watched)),
        "open": min(OPEN, count // 10),
        "watched": list(watched),
        "others": _ids(connection, "select id from customer where id <> all(%s) order by id", [list(watched)]),
        "products": _ids(connection, "select product_id from stock_level order by product_id", []),
        "original": _ids(connection, "select min(id) from orders where number is not null", [])[0],
    }
    connection.execute("drop table if exists plan")
    connection.execute(_PLAN.encode(), values)
    copies = dict(_copies(connection))

    def add(table: str) -> None:
        with psycopg.connect(url, autocommit=True) as own:
            _add_rows(own, table, copies[table], values, say)

    with ThreadPoolExecutor(len(copies)) as threads:
        list(threads.map(add, copies))
    connection.execute("drop table plan")
    for step in (_COUNTED, _EXPOSURE, *_SEQUENCES, "checkpoint"):
        connection.execute(step.encode())


def _add_rows(
    connection: psycopg.Connection[Any],
    table: str,
    statement: bytes,
    values: dict[str, Any],
    say: Callable[[str], None],
) -> None:
    """Add a table's rows without its indexes, then fill these from the sorted rows."""
    name = sql.Identifier(table)
    connection.execute("set synchronous_commit = off")
    connection.execute("set session_replication_role = replica")  # the keys are known to be good
    connection.execute("set maintenance_work_mem = '1GB'")
    connection.execute(
        "update pg_index set indisready = false, indisvalid = false where indrelid = %s::regclass", [table]
    )
    connection.execute(statement, values if b"%(" in statement else None)
    say(f"filling the indexes of {table}")
    connection.execute(sql.SQL("reindex table {}").format(name))
    connection.execute(sql.SQL("vacuum (analyze) {}").format(name))
    say(f"{table} is done")


def _copies(connection: psycopg.Connection[Any]) -> Iterator[tuple[str, bytes]]:
    copied: tuple[tuple[LiteralString, LiteralString, dict[str, LiteralString]], ...] = (
        ("orders", "id = %(original)s", _ORDERS),
        ("order_line", "order_id = %(original)s and position <= 2", _LINES),
    )
    for table, condition, changed in copied:
        statement = sql.SQL(
            "insert into {table} ({names}) overriding system value select {values}"
            " from plan p, (select * from {table} where {condition}) o"
        ).format(table=sql.Identifier(table), condition=sql.SQL(condition), **columns(connection, table, changed))
        yield table, statement.as_string(connection).encode()
    yield from (("event", _EVENTS.encode()), ("audit_entry", _AUDIT.encode()), ("idempotency_key", _KEYS.encode()))


def _ids(connection: psycopg.Connection[Any], statement: LiteralString, values: list[Any]) -> list[int]:
    return [number for (number,) in connection.execute(statement, values or None)]
