"""Queries for one customer read an index of that customer's orders, however many orders others have."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.sql import SQL

from support.cluster import Cluster
from tradecounter.billing.queries.document_tables import INVOICES, InvoiceTableFilter
from tradecounter.db.statement import Statement, where
from tradecounter.events import queries as events
from tradecounter.orders.queries import create, find_orders, orders
from tradecounter.orders.queries.all_orders import OrderFilter, with_state
from tradecounter.orders.rules import CANCELLED, STATUSES
from tradecounter.shipments.queries import units

# One customer has nearly all orders, half of them pending; they stand as they came, among those of the others.
FILLED = """
insert into customer (email_address, email_key, first_name, last_name)
select number || '@shop.example', number || '@shop.example', 'Sam', 'Fitter'
from generate_series(1, %(customers)s) as number;
insert into orders (customer_id, kind, state, confirmation_code, customer_reference, billing_address,
                    shipping_address, shipping_region, shipping_options, shipping_weight, cost_net, cost_tax, tax_rate,
                    created_at, expires_at)
select customer.first + case when number %% 30 = 0 then number / 30 %% %(customers)s else 0 end, 'order',
       case when hashint4(number) %% 2 = 0 then 'pending' else 'expired' end, 'code-' || number, 'PO-' || number,
       jsonb_build_object('street_one', repeat('x', 300)), jsonb_build_object('street_one', repeat('x', 300)),
       1, '[]', 1, 10, 2, 20, now(), now() + interval '1 day'
from generate_series(1, 10000) as number, (select min(id) as first from customer) as customer;
"""


@pytest.fixture(scope="module", params=[4, 50], ids=["of four customers", "of fifty customers"])
def crowded(postgres: Cluster, request: pytest.FixtureRequest) -> Iterator[Connection]:
    with postgres.database() as url, psycopg.connect(url, autocommit=True) as connection:
        psycopg.ClientCursor(connection).execute(FILLED, {"customers": request.param})
        connection.execute("vacuum analyze orders, customer")
        connection.execute("set plan_cache_mode = force_generic_plan")
        yield connection


TYPES = {
    "customer_id": "bigint",
    "address_ids": "bigint[]",
    "lines": "integer",
    "kind": "text",
    "now": "timestamptz",
    "cap": "bigint",
    "customer_reference": "text",
    "but": "bigint",
    "number": "bigint",
    "text": "text",
    "first": "text",
    "last": "text",
    **dict.fromkeys(("most", "most_parcels", "most_read"), "bigint"),
    **dict.fromkeys(("word", "after_word", "digits", "after_digits", "postcode"), "text"),
    **dict.fromkeys(("code", "after_code", "code_end", "after_code_end"), "text"),
    "amount": "numeric",
    "types": "text[]",
    "after": "bigint",
}


def plan_of(connection: Connection, statement: Statement[Any]) -> list[str]:
    """The plan for any values, line by line."""
    types = ", ".join(TYPES[name] for name in statement.names)
    connection.execute(f"prepare planned ({types}) as ".encode() + statement.sql)
    nulls = ", ".join("null" for _ in statement.names)
    plan = [row[0] for row in connection.execute(f"explain execute planned ({nulls})".encode())]
    connection.execute("deallocate planned")
    return plan


def test_a_search_finds_a_reference_without_asking_for_each_customer(crowded: Connection) -> None:
    plan = "\n".join(plan_of(crowded, find_orders._FIND_ORDERS))  # noqa: SLF001
    for index in ("customer_reference", "reference_word", "reference_digits", "postcode", "total"):
        assert f"orders_by_{index}" in plan
    assert "Seq Scan on orders" not in plan


def test_a_search_finds_parts_of_labels_by_their_indexes(crowded: Connection) -> None:
    crowded.execute("set enable_seqscan = off")  # the tables are empty
    try:
        plans = "\n".join([*plan_of(crowded, units._FIND_UNITS), *plan_of(crowded, find_orders._FIND_ORDERS)])  # noqa: SLF001
    finally:
        crowded.execute("reset enable_seqscan")
    for index in ("text", "code", "end", "mac", "end_of_mac"):
        assert f"serial_number_by_{index} " in plans, plans
    for index in ("tracking_code", "end_of_tracking"):
        assert f"shipment_by_{index} " in plans, plans


def test_a_rare_type_of_events_is_not_looked_for_in_the_whole_log(crowded: Connection) -> None:
    with crowded.transaction(force_rollback=True):
        crowded.execute(
            "insert into event (sequence, id, type, occurred_at, subject, for_customer, data)"
            " select n, 'evt_' || n, 'order.confirmed', now(), 'order/1', false, '{}' from generate_series(1, 10000) n"
        )
        crowded.execute("analyze event")
        plan = "\n".join(plan_of(crowded, events._OF_TYPES))  # noqa: SLF001
    assert "using event_by_type" in plan, plan


@pytest.mark.parametrize("column", ["due", "gross"])
def test_a_list_of_invoices_by_amount_reads_an_index_in_its_order(crowded: Connection, column: str) -> None:
    by = INVOICES.columns[column].expression
    page = SQL("explain {} order by {} desc, {} desc limit 51").format(INVOICES.select, by, INVOICES.key)
    with crowded.transaction():
        crowded.execute("set local enable_seqscan = off")  # the table is empty
        crowded.execute("set local enable_sort = off")
        plan = "\n".join(row[0] for row in crowded.execute(page))
    assert f"invoice_balance_by_{column}" in plan
    assert "Sort" not in plan


def test_a_list_of_a_customers_invoices_reads_no_others(crowded: Connection) -> None:
    condition, _ = where(InvoiceTableFilter(customer_id=1), INVOICES.conditions)
    page = SQL("explain {} where {} order by b.invoice desc limit 51").format(INVOICES.select, condition)
    with crowded.transaction():
        crowded.execute("set local enable_seqscan = off")  # the tables are empty
        plan = "\n".join(row[0] for row in crowded.execute(page.as_bytes().replace(b":customer_id", b"1")))
    assert "invoice_of_customer" in plan, plan


def test_orders_of_any_state_of_a_customer_are_found_by_an_index(crowded: Connection) -> None:
    plan = "\n".join(row[0] for row in crowded.execute("explain select from orders where customer_id = 0"))
    assert "orders_of_any_state" in plan, plan


def test_every_status_of_an_order_belongs_to_a_state_which_has_indexes() -> None:
    states = {status: with_state(OrderFilter(status=status)).state for status in STATUSES}
    assert states == {status: "cancelled" if status == CANCELLED else "confirmed" for status in STATUSES}


def test_a_search_of_own_orders_reads_no_others_and_looks_for_parcels_once(crowded: Connection) -> None:
    plan = "\n".join(plan_of(crowded, find_orders._FIND_OWN))  # noqa: SLF001
    assert not re.search("orders_by_placing|Seq Scan on orders", plan), plan  # which have the orders of everybody
    assert "using orders_of_customer on orders" in plan, plan
    assert plan.count("on shipment") == 2, plan


@pytest.mark.parametrize(
    "statement",
    [create.STANDING, create._COUNT_PENDING, orders._WITH_REFERENCE],  # noqa: SLF001
    ids=["standing", "pending orders", "an order with the reference"],
)
def test_a_statement_reads_no_orders_of_others(crowded: Connection, statement: Statement[Any]) -> None:
    plan = plan_of(crowded, statement)
    [place] = [number for number, line in enumerate(plan) if re.search(r" orders_\w+|Seq Scan on orders", line)]
    assert re.search(r"Index Cond: .*\(customer_id = ", plan[place + 1]), "\n".join(plan)
