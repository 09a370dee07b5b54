"""What is read does not grow with the orders and the changes of years."""

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from support.cluster import Cluster
from tradecounter.audit.queries import AuditFilter, list_entries
from tradecounter.credit_notes.queries import CREDIT_NOTES, CreditNoteFilter, count_credit_notes
from tradecounter.db.pool import Database
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import reading, transaction
from tradecounter.imports.queries import delete_old_changes
from tradecounter.kit.errors import DomainError
from tradecounter.orders.queries import all_orders, announcements, today
from tradecounter.orders.queries.all_orders import OrderFilter
from tradecounter.orders.queries.all_orders import _numbers_beginning as numbers_beginning
from tradecounter.orders.queries.find_orders import by_part_of_reference
from tradecounter.orders.rules import CAN_LEAVE

PRODUCTS, ORDERS, ENTRIES = 100, 5_000, 60_000
NOW = datetime(2026, 6, 1, tzinfo=UTC)

FILLED = """
insert into manufacturer (key, name) values ('northway', 'Northway');
insert into product (sku, sku_key, name, manufacturer)
select 'SKU-' || n, 'sku-' || n, 'Cable ' || n, 'northway' from generate_series(1, %(products)s) n;
insert into stock_level (product_id, available) select id, 10 from product;
insert into customer (email_address, email_key, first_name, last_name)
select n || '@shop.example', n || '@shop.example', 'Sam', 'Fitter' from generate_series(1, 50) n;
insert into orders (customer_id, kind, state, confirmation_code, number, order_reference, customer_reference,
                    billing_address, shipping_address, shipping_region, shipping_options, shipping_method,
                    shipping_weight, cost_net, cost_tax, tax_rate, created_at, confirmed_at, status)
select c.first + n %% 50, 'order', 'confirmed', 'code-' || n, n, 'ORD-' || n, 'PO-' || n, '{}',
       '{"country_code": "GB"}', 1, '[]', 1, 1, case when n %% 20 = 0 then 1 else 10 end, 2, 20, placed.at, placed.at,
       case when n %% 20 = 0 then 'Awaiting dispatch' else 'Completed' end
from generate_series(1, %(orders)s) n, (select min(id) as first from customer) c,
     lateral (select %(now)s - (n * 1237 %% %(orders)s) * interval '1 hour' as at) placed;
insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax)
select o.id, 1, p.first + o.number %% %(products)s, 'SKU', 'Cable', 1, 10, 10, 2
from orders o, (select min(id) as first from product) p;
insert into audit_entry (at, actor_kind, actor_id, actor_name, action, subject, before, after)
select %(now)s - (%(entries)s - n) * interval '5 minutes', 'key', (n %% 50)::text, 'shop', 'order.create',
       'order/' || n, '{}', '{}'
from generate_series(1, %(entries)s) n;
"""


@pytest.fixture(scope="module")
def url(postgres: Cluster) -> Iterator[str]:
    with postgres.database() as found, psycopg.connect(found, autocommit=True) as connection:
        values = {"products": PRODUCTS, "orders": ORDERS, "entries": ENTRIES, "now": NOW}
        psycopg.ClientCursor(connection).execute(FILLED, values)
        connection.execute("update announced set seen = pg_current_snapshot()")  # what was filled is no change
        connection.execute("vacuum analyze")
        yield found


@pytest.fixture
def connection(url: str) -> Iterator[Connection]:
    with psycopg.connect(url, autocommit=True) as found:
        yield found


def pages_read(connection: Connection, table: str) -> int:
    """Return the pages of a table that this server has read; all statistics are reported before."""
    connection.execute("select pg_stat_force_next_flush()")
    [(count,)] = connection.execute(
        "select heap_blks_read + heap_blks_hit from pg_statio_user_tables where relname = %s", [table]
    )
    return int(count)


def entries_read(connection: Connection, table: str) -> int:
    """Return the entries of a table's indexes that this server has read; all statistics are reported before."""
    connection.execute("select pg_stat_force_next_flush()")
    [(count,)] = connection.execute(
        "select sum(idx_tup_read)::bigint from pg_stat_user_indexes where relname = %s", [table]
    )
    return int(count)


def scans(plan: dict[str, Any], table: str) -> Iterator[dict[str, Any]]:
    if plan.get("Relation Name") == table:
        yield plan
    for part in plan.get("Plans", ()):
        yield from scans(part, table)


def change_stock(connection: Connection, products: int) -> str:
    """Change the stock of so many products, and of no other since the last announcement; the snapshot after it."""
    connection.execute("update announced set seen = pg_current_snapshot()")
    connection.execute(
        "update stock_level set available = available + 1, changed_by = pg_current_xact_id() where product_id in"
        " (select id from product order by id limit %s)",
        [products],
    )
    [(snapshot,)] = connection.execute("select pg_current_snapshot()::text")
    return str(snapshot)


def test_an_announcement_of_changed_stock_reads_only_lines_of_the_changed_products(connection: Connection) -> None:
    few = PRODUCTS // 50
    values = {
        "snapshot": change_stock(connection, few),
        "since": NOW - timedelta(days=90),
        "orders_from": 0,
        "today": NOW.date(),
    }
    statement = announcements._CHANGED_STOCK  # noqa: SLF001
    types = {"snapshot": b"text", "since": b"timestamptz", "orders_from": b"bigint", "today": b"date"}
    connection.execute(
        b"prepare announced_stock (%s) as %s" % (b", ".join(types[name] for name in statement.names), statement.sql)
    )
    explained = psycopg.ClientCursor(connection).execute(
        f"explain (analyze, format json) execute announced_stock ({', '.join(['%s'] * len(types))})".encode(),
        [values[name] for name in statement.names],
    )
    [([plan],)] = explained.fetchall()
    read = sum(
        (scan["Actual Rows"] + scan.get("Rows Removed by Filter", 0)) * scan["Actual Loops"]
        for scan in scans(plan["Plan"], "order_line")
    )
    assert read == ORDERS / PRODUCTS * few


def test_an_announcement_tells_the_same_whether_few_products_or_all_have_changed(
    url: str, connection: Connection
) -> None:
    async def told(snapshot: str) -> set[tuple[int | None, str]]:
        async with Database(url, connections=1) as database, transaction(database) as tx:
            recent = announcements.RecentOrders(NOW - timedelta(days=90), 0)
            changes = await announcements.changed_stock(tx, snapshot, recent, NOW.date())
        return {(change.customer_id, sku) for change in changes for sku in change.skus}

    some = {f"SKU-{number}" for number in range(1, PRODUCTS // 20)}
    of_few = asyncio.run(told(change_stock(connection, len(some))))
    of_all = asyncio.run(told(change_stock(connection, PRODUCTS)))
    assert len(of_few) > len(some)
    assert of_few == {(customer, sku) for customer, sku in of_all if sku in some}


def test_orders_are_recent_from_the_last_one_before_the_moment_and_never_from_an_earlier_one(
    url: str, connection: Connection
) -> None:
    since = NOW - timedelta(days=90)

    async def first_id(moment: datetime) -> int:
        async with Database(url, connections=1) as database, transaction(database) as tx:
            return (await announcements.orders_since(tx, moment)).first_id

    connection.execute("update announced set orders_from = 0")
    last = "select id from orders where created_at < %s order by created_at desc limit 1"
    [(last_old,)] = connection.execute(last, [since])
    assert asyncio.run(first_id(since)) == last_old
    assert asyncio.run(first_id(NOW - timedelta(days=5000))) == last_old


def test_the_sums_of_a_month_are_read_from_an_index_only(connection: Connection) -> None:
    # In this small table, whose pages vacuum may not have seen, reading some of them would cost less.
    connection.execute("set enable_seqscan = off")
    connection.execute("set enable_bitmapscan = off")
    explained = psycopg.ClientCursor(connection).execute(
        b"prepare sums (date, date, text[]) as " + all_orders._BY_DAY.sql  # noqa: SLF001
    )
    explained.execute(
        "explain (format json) execute sums (%s, %s, %s)",
        [NOW.date() - timedelta(days=30), NOW.date(), ["Completed", "Invoiced"]],
    )
    [([plan],)] = explained.fetchall()
    [scan] = scans(plan["Plan"], "orders")
    assert (scan["Node Type"], scan["Index Name"]) == ("Index Only Scan", "orders_by_status")


@pytest.mark.parametrize("descending", [False, True])
def test_a_page_of_a_status_by_total_reads_only_the_orders_that_it_shows(
    url: str, connection: Connection, descending: bool
) -> None:
    most = 51

    async def totals() -> list[Decimal]:
        async with Database(url, connections=1) as database, reading(database) as tx:
            wanted = OrderFilter(status="Awaiting dispatch")
            found = await all_orders.order_table(tx, wanted, "total", most, descending=descending)
            await tx.fetch_all(Statement("select pg_stat_force_next_flush()"))
            return [row.gross for row in found]

    before = entries_read(connection, "orders")
    assert asyncio.run(totals()) == [Decimal("3.00")] * most
    assert entries_read(connection, "orders") - before <= 2 * most  # once to choose, once to show


def test_credit_notes_by_amount_are_read_without_their_orders(url: str, connection: Connection) -> None:
    connection.execute(
        "insert into invoice"
        " (number, order_id, customer_id, issued_at, supplied_at, due_at, net, vat, gross, document, pdf)"
        " select number, id, customer_id, confirmed_at, confirmed_at, confirmed_at, 10, 2, 12, '{}', '' from orders"
    )
    connection.execute(
        "insert into invoice_balance (invoice, order_id, customer_id, due_at, gross)"
        " select number, order_id, customer_id, due_at, gross from invoice"
    )
    connection.execute(
        "insert into credit_note (number, invoice, customer_id, issued_at, reason, net, vat, gross, document, pdf)"
        " select number, number, customer_id, issued_at, 'Broken', 10, 2, 1 + number % 11, '{}', '' from invoice"
    )
    connection.execute("vacuum analyze invoice, invoice_balance, credit_note")

    async def read() -> tuple[int, int]:
        async with Database(url, connections=1) as database, reading(database) as tx:
            found = await CREDIT_NOTES.page(tx, CreditNoteFilter(), "gross", 51, descending=True)
            count = await count_credit_notes(tx, CreditNoteFilter())
            await tx.fetch_all(Statement("select pg_stat_force_next_flush()"))
            return len(found), count

    before = [pages_read(connection, table) for table in ("orders", "invoice_balance")]
    assert asyncio.run(read()) == (51, ORDERS)
    assert [pages_read(connection, table) for table in ("orders", "invoice_balance")] == before


def test_the_job_that_deletes_changes_of_imports_does_not_read_all_imports(url: str, connection: Connection) -> None:
    connection.execute(
        "insert into import_run (kind, at, made_by)"
        " select 'stock', %s - n * interval '5 minutes', 'ERP' from generate_series(20000, 1, -1) n",
        [NOW],
    )
    connection.execute(
        "insert into import_change (import_id, key, record)"
        " select id, n, n from import_run, generate_series(1, 10) n where at >= %s",
        [NOW - timedelta(days=9)],
    )
    connection.execute("vacuum analyze import_run, import_change")

    async def delete() -> int:
        async with Database(url, connections=1) as database, transaction(database) as tx:
            deleted = await delete_old_changes(tx, NOW - timedelta(days=9))
            await tx.fetch_all(Statement("select pg_stat_force_next_flush()"))
            return deleted

    before = pages_read(connection, "import_run")
    assert asyncio.run(delete()) == 0
    assert pages_read(connection, "import_run") - before < 10  # of hundreds


def test_a_text_with_a_space_begins_no_reference() -> None:
    assert numbers_beginning("ORD 10") == numbers_beginning("cable 10") == []
    assert numbers_beginning(" ORD-10")[:3] == [(10, 10), (100, 109), (1000, 1099)]


@pytest.mark.parametrize(
    ("actor", "latest_first", "first"),
    [("nobody", True, None), ("key/7", False, 7), (None, False, 0)],
    ids=["by nobody", "by one key", "by anybody"],
)
def test_the_entries_of_a_period_are_read_from_the_pages_of_that_period(
    url: str, actor: str | None, latest_first: bool, first: int | None
) -> None:
    since = NOW - timedelta(days=40)
    begin = ENTRIES - 40 * 24 * 12

    async def entries() -> list[str]:
        async with Database(url, connections=1) as database, reading(database) as tx:
            found = await list_entries(tx, AuditFilter(actor=actor, since=since), 2, latest_first=latest_first)
            await tx.fetch_all(Statement("select pg_stat_force_next_flush()"))
            return [entry.subject for entry in found]

    with psycopg.connect(url, autocommit=True) as connection:
        [(pages,)] = connection.execute("select pg_relation_size('audit_entry') / 8192")
        before = pages_read(connection, "audit_entry")
        found = asyncio.run(entries())
        assert pages_read(connection, "audit_entry") - before < pages / 2
    step = 1 if actor is None else 50
    numbers = [] if first is None else [n for n in range(begin, ENTRIES) if step == 1 or n % step == first][:2]
    assert found == [f"order/{n}" for n in numbers]


async def orders_referred_to(url: str, text: str) -> list[str]:
    async with Database(url, connections=1) as database, reading(database) as tx:
        wanted = await by_part_of_reference(tx, OrderFilter(customer_reference=text))
        found = await all_orders.order_table(tx, wanted, "placed", ORDERS, descending=True)
        return sorted(row.customer_reference for row in found)


def test_a_beginning_of_customers_references_reads_only_orders_that_have_it(connection: Connection, url: str) -> None:
    before = entries_read(connection, "orders")
    found = asyncio.run(orders_referred_to(url, "po 123"))
    assert found == sorted(["PO-123", *(f"PO-123{digit}" for digit in range(10))])
    assert asyncio.run(orders_referred_to(url, "1234")) == ["PO-1234"]
    assert entries_read(connection, "orders") - before < ORDERS // 10
    with pytest.raises(DomainError, match="begins the references of more than 500 orders: type more of it"):
        asyncio.run(orders_referred_to(url, "po"))


def test_a_reference_that_begins_those_of_too_many_orders_finds_the_orders_that_have_it(
    connection: Connection, url: str
) -> None:
    connection.execute("update orders set customer_reference = 'PO' where number in (4001, 4002)")
    assert asyncio.run(orders_referred_to(url, "po")) == ["PO", "PO"]


@pytest.mark.sweep
def test_the_lines_of_each_order_are_read_once_to_count_what_can_be_dispatched(connection: Connection) -> None:
    without, awaiting, most = 400, ORDERS // 20, 1_000
    with connection.transaction(force_rollback=True):
        connection.execute(
            "update orders set status = 'Part dispatched' where number % 20 in (1, 2) and number <= 4000"
        )
        assert lines_read_to_count(connection, most) == without
        assert lines_read_to_count(connection, awaiting) == without  # looks for the oldest
        connection.execute("update order_line set allocated = 1")
        assert lines_read_to_count(connection, awaiting + 10) == 10
        assert lines_read_to_count(connection, awaiting) == 1


def lines_read_to_count(connection: Connection, most: int) -> int:
    """Return of how many orders the lines are read to count up to `most` that can be dispatched."""
    statement = today._COUNT_TO_DISPATCH  # noqa: SLF001
    explained = psycopg.RawCursor(connection).execute(
        b"explain (analyze, format json) " + statement.sql,
        statement.bind({name: {"most": most, "statuses": list(CAN_LEAVE)}[name] for name in statement.names}),
    )
    [([plan],)] = explained.fetchall()
    return sum(int(scan["Actual Loops"]) for scan in scans(plan["Plan"], "order_line"))
