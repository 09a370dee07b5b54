"""The demo's data: good in themselves, consistent once loaded, loaded once."""

import asyncio
import csv
import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar, get_args

import pytest

from support.cluster import Cluster
from support.importing import Importer
from support.service import MORNING, SETTINGS
from tradecounter.db.changes import read_versions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.demo.load import DemoDataError, customer_notes, data_file, demo_customers, load_demo
from tradecounter.demo.place_orders import DEMO_ORDERS
from tradecounter.notifications.jobs import MAILS
from tradecounter.orders.rules import (
    AWAITING_DISPATCH,
    BACK_ORDERED,
    CANCELLED,
    COMPLETED,
    DISPATCHED,
    INVOICED,
    PART_DISPATCHED,
)
from tradecounter.orders.states import State
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.shipping.rules import Regions

pytestmark = pytest.mark.sweep

Result = TypeVar("Result")


def on(url: str, work: Callable[[Database], Awaitable[Result]]) -> Result:
    async def run() -> Result:
        async with Database(url, connections=2) as database:
            return await work(database)

    return asyncio.run(run())


def load(url: str, catalogue: str | None = None) -> None:
    on(url, lambda database: load_demo(database, SETTINGS, MORNING, catalogue))


@pytest.fixture(scope="module")
def demo(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Importer:
    """An empty database into which the demo's data was loaded."""
    load(database_url)
    return Importer(database_url, Path(tmp_path_factory.mktemp("demo")))


def test_the_demo_has_orders_in_every_state(demo: Importer) -> None:
    states = set(demo.query("select state, kind from orders"))
    statuses = {status for (status,) in demo.query("select status from orders where number is not null")}
    assert {state for state, _ in states} == set(get_args(State))
    assert ("pending", "quote") in states
    assert demo.one("select count(*) from orders") == len(DEMO_ORDERS)
    assert statuses == {AWAITING_DISPATCH, BACK_ORDERED, PART_DISPATCHED, DISPATCHED, INVOICED, COMPLETED, CANCELLED}
    assert (
        demo.one("select count(*) from orders o where not exists (select from order_line where order_id = o.id)") == 0
    )


def test_the_first_customer_has_something_of_everything(demo: Importer) -> None:
    of_first = "from orders o where customer_id = (select min(id) from customer)"
    credited = (
        "(select coalesce(sum(c.gross), 0) from credit_note c join invoice i on i.number = c.invoice"
        " where i.order_id = o.id)"
    )
    kept = f"{of_first} and exists (select from %s where order_id = o.id)"
    on_lines = f"{of_first} and exists (select from order_line l join %s on line_id = l.id where l.order_id = o.id)"
    found = {
        "waiting quotes": f"{of_first} and kind = 'quote' and priced_at is null",
        "priced quotes": f"{of_first} and kind = 'quote' and priced_at is not null",
        "paid": f"{of_first} and paid + {credited} = gross and exists (select from invoice where order_id = o.id)",
        "paid in part": f"{of_first} and paid > 0 and paid < gross",
        "bundles": f"{of_first} and exists (select from order_line where order_id = o.id and bundle_line_id > 0)",
        "videos": kept % "packing_video",
        "tracked": kept % "shipment join tracking_event on shipment_id = shipment.id",
        "numbered": on_lines % "serial_number",
        "configured": on_lines % "configuration",
    }
    assert [name for name, which in found.items() if not demo.one(f"select count(*) {which}")] == []
    due = {overdue for (overdue,) in demo.query("select due_at < %s from invoice join orders o on o.id = order_id"
                                                " where paid < o.gross", MORNING)}  # fmt: skip
    assert due == {True, False}


def test_orders_and_invoices_are_numbered_in_the_order_of_time(demo: Importer) -> None:
    assert demo.query("select number from orders where number > 0 order by confirmed_at") == demo.query(
        "select number from orders where number > 0 order by number"
    )
    assert demo.query("select number from invoice order by issued_at") == demo.query(
        "select number from invoice order by number"
    )


def test_the_demo_sends_a_few_emails_of_each_kind_about_orders(demo: Importer) -> None:
    queued = dict(demo.query("select task_name, count(*)::integer from procrastinate_jobs group by 1"))
    # The demo has none of these, and no invited user; reminders are off by default.
    others = {"mail_credit_note", "mail_invoice_overdue", "mail_shipment_taken_back", "mail_webhook_stopped"}
    others |= {"mail_approval_requested", "mail_approval_decided", "mail_back_in_stock"}
    others |= {"mail_dispatch_alert", "mail_prices_changed", "mail_invoices_due", "mail_statement"}
    others |= {"mail_request_closed", "mail_debtor_reminded"}
    others |= {"mail_owner_added", "mail_key_added", "mail_webhook_added", "mail_application_allowed"}
    others.add("mail_agent_allowed")
    assert set(queued) == {name for name in MAILS if not name.startswith("mail_user_")} - others
    assert sum(queued.values()) <= 25


def test_every_accounts_debt_matches_its_orders(demo: Importer) -> None:
    owed = demo.query("select customer_id, outstanding from credit_exposure order by 1")
    summed = demo.query(
        "select customer_id, sum(gross - paid) - coalesce((select sum(gross) from credit_note c where c.customer_id ="
        " o.customer_id), 0) from orders o where state = 'confirmed' group by 1 order by 1"
    )
    assert owed == summed
    over = "select count(*) from credit_exposure join customer c on c.id = customer_id where outstanding > credit_limit"
    assert demo.one(over) == 0


def test_stock_adds_up_to_the_levels_of_the_file(demo: Importer) -> None:
    promised = """
        select p.sku, s.available + s.allocated + coalesce(sum(l.dispatched), 0)::bigint, s.allocated, s.back_ordered,
               coalesce(sum(l.allocated), 0)::bigint, coalesce(sum(l.back_ordered), 0)::bigint
        from stock_level s join product p on p.id = s.product_id
             left join order_line l on l.product_id = p.id
        group by p.sku, s.available, s.allocated, s.back_ordered
    """
    with Path(data_file("stock.csv")).open(encoding="utf-8", newline="") as lines:
        levels = {row["sku"]: int(row["available"]) for row in csv.DictReader(lines)}
    found = demo.query(promised)
    assert {sku: total for sku, total, *_ in found} == levels
    assert all((allocated, waiting) == tuple(lines) for _, _, allocated, waiting, *lines in found)
    assert sum(row[2] for row in found) > 0
    assert sum(row[3] for row in found) > 0


def test_every_product_has_the_data_needed_to_sell_it(demo: Importer) -> None:
    assert demo.one("select count(*) from product") >= 300
    without_price = """
        select sku from product p
        where not exists (select from price where product_id = p.id and price_list = 'default') order by sku
    """
    # On purpose: one that only some customers see, and one that none does.
    assert demo.query(without_price) == [("LQ.R90X",), ("SG-SBC250",)]
    assert demo.one("select count(*) from product where weight_kg = 0 or description = '' or categories = '[]'") == 0
    unknown = """
        select count(*) from product p, jsonb_object_keys(p.attributes) as key
        where not exists (select from attribute a where a.key = key)
    """
    assert demo.one(unknown) == 0


def test_deliveries_and_contract_prices_are_dated_around_today(demo: Importer) -> None:
    assert demo.one("select count(*) from incoming_stock where expected_on > %s", MORNING) > 0
    for condition in ("valid_until < %s", "valid_from > %s"):
        assert demo.one(f"select count(*) from contract_price where {condition}", MORNING.date()) > 0  # noqa: S608
    holds = "coalesce(valid_from <= %s, true) and coalesce(valid_until >= %s, true)"
    today = MORNING.date()
    assert demo.one(f"select count(*) from contract_price where {holds}", today, today) > 0  # noqa: S608


@pytest.mark.parametrize(
    ("postcode", "region"),
    [
        ("LS11 9ZA", "1 (UK mainland)"),
        ("PH1 1AA", "1 (UK mainland)"),
        ("KW15 1AB", "2 (Highlands and islands)"),
        ("ZE1 0AA", "2 (Highlands and islands)"),
        ("PA20 9AA", "2 (Highlands and islands)"),
        ("BT1 9ZX", "3 (Northern Ireland)"),
    ],
)
def test_parts_of_britain_are_regions_with_names(postcode: str, region: str, demo: Importer) -> None:
    async def regions(database: Database) -> Regions:
        async with reading(database) as tx:
            methods = ShippingMethods()
            await methods.refresh(tx, await read_versions(tx))
            return methods.current.regions

    found = on(demo.url, regions)
    assert str(found.get(found.of_address("GB", postcode) or 0)) == region
    assert not [part for part in str(found).split(", ") if "(" not in part]


def test_every_customer_has_a_note_and_a_key_derived_from_the_secret(demo: Importer) -> None:
    first, again, other = (
        on(demo.url, partial(demo_customers, secret=secret, now=MORNING)) for secret in ("a" * 64, "a" * 64, "b" * 64)
    )
    assert first == again
    assert {customer.note for customer in first} == set(customer_notes().values())
    assert len({customer.api_key for customer in first + other}) == 2 * len(first)
    assert all(len(customer.api_key) == 64 for customer in first)


def test_loading_again_changes_nothing(demo: Importer) -> None:
    before = demo.content()
    load(demo.url)
    assert demo.content() == before


def test_an_interrupted_load_is_completed_by_the_next(postgres: Cluster) -> None:
    with postgres.database() as url:
        cut_short = Importer(url, Path("unused"))
        load(url)
        wanted = cut_short.query("select customer_reference, state from orders order by id")
        cut_short.change("truncate orders, credit_exposure, contract_price cascade")
        load(url)
        assert cut_short.query("select customer_reference, state from orders order by id") == wanted
        assert cut_short.one("select count(*) from contract_price") > 0


def test_a_database_with_other_customers_is_not_changed(postgres: Cluster, tmp_path: Path) -> None:
    with postgres.database() as url:
        own = Importer(url, tmp_path)
        own.load("customers", [{"email_address": "a@a.example", "first_name": "A", "last_name": "B"}])
        before = own.content()
        load(url)
        assert own.content() == before
        assert on(url, lambda database: demo_customers(database, "a" * 64, MORNING)) == []


@pytest.mark.parametrize("count", [1, 40])
def test_another_catalogue_needs_only_a_products_file(count: int, postgres: Cluster, tmp_path: Path) -> None:
    products = [
        {"sku": f"A/{n}", "name": f"N {n}", "manufacturer": "m", "manufacturer_name": "Em", "categories": ["c"]}
        for n in range(count)
    ]
    path = tmp_path / "products.jsonl"
    path.write_text("".join(json.dumps(product) + "\n" for product in products))
    with postgres.database() as url:
        load(url, str(path))
        loaded = Importer(url, tmp_path)
        assert loaded.one("select count(*) from product") == count
        assert loaded.query("select key, name from manufacturer") == [("m", "Em")]
        assert loaded.query("select key from category") == [("c",)]
        assert loaded.one("select count(distinct product_id) from price where price_list = 'default'") == count
        assert loaded.one("select count(*) from stock_level") == count
        assert loaded.one("select count(*) from orders o join order_line l on l.order_id = o.id") > 0


def test_files_beside_another_products_file_are_used(postgres: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "products.csv"
    path.write_text("sku,name,manufacturer\nA,A,m\n")
    (tmp_path / "manufacturers.json").write_text('[{"key": "m", "name": "Made beside"}]')
    with postgres.database() as url:
        load(url, str(path))
        assert Importer(url, tmp_path).query("select name from manufacturer") == [("Made beside",)]


def test_invalid_products_of_another_catalogue_are_rejected_with_their_line(postgres: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "products.jsonl"
    path.write_text('{"sku":"A","name":"A","manufacturer":"m"}\n{"sku":"B","manufacturer":"m"}\n')
    with postgres.database() as url, pytest.raises(DemoDataError, match="products, line 2: name: is required"):
        load(url, str(path))
