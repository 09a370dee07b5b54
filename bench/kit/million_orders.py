"""A million confirmed orders: copies, by SQL, of one that was placed and confirmed over HTTP, and paid."""

import json
from typing import Any, LiteralString

import psycopg
from psycopg import sql

from bench.kit.customers import ADDRESS
from bench.kit.http import Connection, request_text
from bench.kit.processes import BenchError
from bench.kit.product import Server
from bench.kit.reads import headers_of
from bench.kit.store import Store

_FIRST_NUMBER = 10_000_000  # far from those that the product gives
_SMALL: dict[str, LiteralString] = {  # of orders that are not read here
    "billing_address": "'{}'",
    "shipping_address": "'{}'",
    "shipping_options": "'[]'",
}


def place_original(server: Server, store: Store, customer: int) -> None:
    """Place and confirm the order that is copied."""
    body = {
        "customer_reference": "original",
        "items": [{"sku": product["sku"], "quantity": 1} for product in store.products[:3]],
        "billing_address": ADDRESS,
        "shipping_address": ADDRESS,
        "auto_confirm": True,
    }
    headers = headers_of(customer, {"Content-Type": "application/json"})
    with Connection(server.host, server.port) as connection:
        response = connection.fetch(request_text("/order", headers, method="POST", body=json.dumps(body).encode()))
    if response.status != 201:
        raise BenchError(f"the order got status {response.status}: {response.body[:300]!r}")


def copy_orders(connection: psycopg.Connection[Any], count: int, customer_ids: list[int], *, whole: bool) -> None:
    """Copy the confirmed order for these customers in rotation; unless `whole`, with one line and no addresses."""
    changed: dict[str, LiteralString] = {
        "customer_id": "(%(customers)s::bigint[])[1 + n %% cardinality(%(customers)s)]",
        "confirmation_code": "md5('copy ' || n)",
        "number": "n",
        "order_reference": "'ORD-' || n",
        "paid": "o.gross",
        "created_at": "o.created_at - n * interval '1 second'",
        "confirmed_at": "o.confirmed_at - n * interval '1 second'",
        **({} if whole else _SMALL),
    }
    with connection.transaction():
        connection.execute("set local synchronous_commit = off")
        connection.execute("set local session_replication_role = replica")  # the copies' keys are known to be good
        found = connection.execute("select coalesce(max(number), %s) from orders", [_FIRST_NUMBER]).fetchone()
        first = max(_FIRST_NUMBER, 0 if found is None else found[0]) + 1
        original = connection.execute("select min(id) from orders where number is not null").fetchone()
        values: dict[str, Any] = {
            "original": None if original is None else original[0],
            "first": first,
            "last": first + count - 1,
            "customers": customer_ids,
        }
        connection.execute(
            sql.SQL(
                "insert into orders ({names}) select {values} from generate_series(%(first)s, %(last)s) n,"
                " (select * from orders where id = %(original)s) o"
            ).format(**columns(connection, "orders", changed)),
            values,
        )
        connection.execute(
            sql.SQL(
                "insert into order_line ({names}) select {values} from orders c,"
                " (select * from order_line where order_id = %(original)s and position <= %(lines)s) o"
                " where c.number between %(first)s and %(last)s"
            ).format(**columns(connection, "order_line", {"order_id": "c.id"})),
            values | {"lines": 3 if whole else 1},
        )
    connection.execute("vacuum analyze orders, order_line")


def columns(
    connection: psycopg.Connection[Any], table: str, changed: dict[str, LiteralString]
) -> dict[str, sql.Composable]:
    """Return the columns to copy and their values, whatever else the table has by now."""
    names = [
        name
        for (name,) in connection.execute(
            """
            select column_name from information_schema.columns
            where table_schema = 'public' and table_name = %s and is_generated = 'NEVER'
                  and (is_identity = 'NO' or column_name = any(%s))
            order by ordinal_position
            """,
            [table, list(changed)],
        )
    ]
    values = [sql.SQL(changed[name]) if name in changed else sql.Identifier("o", name) for name in names]
    return {"names": sql.SQL(", ").join(map(sql.Identifier, names)), "values": sql.SQL(", ").join(values)}
