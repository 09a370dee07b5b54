"""An order has the price of every change that was acknowledged before it, also in a process that has not noticed it.

The second server polls once an hour: it never notices a change by itself.
"""

import asyncio
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import at, create, sell, uk
from support.pages import Person, customer_user
from support.proxy import Link, linked
from support.service import Customer, Service, running_service
from support.shop import ADDRESS, METHODS, STANDARD, order, price, product
from tradecounter.bulk.import_options import ImportOptions
from tradecounter.bulk.rows import Row
from tradecounter.customers.operations.changes import change_customer
from tradecounter.customers.settings import CustomerChange
from tradecounter.db.transaction import transaction
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.run import import_in_transaction

TODAY = date(2026, 6, 16)

Change = Callable[[Service, Customer, str], Any]


@pytest.fixture(scope="module")
def link(shop: Service) -> Iterator[Link]:
    with linked(shop.database_url) as made:
        yield made


@pytest.fixture(scope="module")
def second(link: Link) -> Iterator[Service]:
    """Another server on the same database, connected through a proxy that counts."""
    with running_service(link.url) as running:
        yield running


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as site:
        yield site


@pytest.fixture
def there(shop: Service, second: Service) -> Customer:
    """A customer of both servers, as a client of the second one, which knows everything up to now."""
    made = shop.customer()
    second.refresh()
    return at_server(second, made)


def at_server(server: Service, customer: Customer) -> Customer:
    return Customer(customer.id, customer.key, server.client(**{"X-Api-Key": customer.key}))


def net(customer: Customer, *items: tuple[str, int]) -> Any:
    """The net cost of an order that is confirmed at once."""
    return create(customer, items, auto_confirm=True, shipping_method={"id": STANDARD})["cost_net"]


def contract(customer: Customer, sku: str, cost: Any, first: date | None = None, last: date | None = None) -> Any:
    return {
        "customer_id": customer.id,
        "sku": sku,
        "single_unit_cost": cost,
        "valid_from": None if first is None else str(first),
        "valid_until": None if last is None else str(last),
    }


def edit(service: Service, customer: Customer, **values: Any) -> None:
    """Change a customer as the command `customer edit` does."""
    change = CustomerChange(**values)
    service.in_transaction(lambda tx: change_customer(tx, customer.id, change, service.clock.now()))


def new_price(shop: Service, _: Customer, sku: str) -> None:
    shop.must_load("price-list", [price(sku, 12, 11, 10)])


def new_contract(shop: Service, customer: Customer, sku: str) -> None:
    shop.must_load("contract-prices", [contract(customer, sku, 12)])


def new_list(shop: Service, customer: Customer, sku: str) -> None:
    shop.must_load("price-list", [price(sku, 12, price_list="dear")])
    edit(shop, customer, price_list="dear")


def new_discount(shop: Service, customer: Customer, sku: str) -> None:
    shop.must_load("price-list", [price(sku, 16)])
    edit(shop, customer, discount=Decimal(25))


@pytest.mark.sweep
@pytest.mark.spec(
    "3 POST /order, confirmed at once", "confirmed at the live price, with the given method or the account's default"
)
@pytest.mark.parametrize("change", [new_price, new_contract, new_list, new_discount])
def test_a_change_that_one_server_acknowledged_is_the_price_on_the_other(
    shop: Service, second: Service, change: Change, there: Customer
) -> None:
    sku = sell(shop, change.__name__.upper(), 10, available=9)
    second.refresh()
    assert net(there, (sku, 1)) == 10.00
    change(shop, there, sku)
    assert there.get(f"/product/{sku}").json()["single_unit_cost"] == 10.00  # the server has not noticed it
    assert net(there, (sku, 1)) == 12.00
    assert create(there, [(sku, 1)])["cost_net"] == 12.00
    assert there.post("/quote", order([(sku, 1)])).json()["cost_net"] == 12.00


def test_staff_and_the_accounts_form_create_at_the_live_price(
    shop: Service, second: Service, office: BackOfficeSite, there: Customer
) -> None:
    sku = sell(shop, "ANY-DOOR", 10, available=9)
    office.refresh()
    second.refresh()
    buyer: Person = customer_user(second, there.id, "buyer")
    shop.must_load("price-list", [price(sku, 12)])
    body = {"customer_id": there.id, **order([(sku, 1)])}
    assert office.caller().post("/api/order", json=body).json()["cost_net"] == 12.00
    form = {f"shipping_address-{name}": value for name, value in ADDRESS.items()} | {
        "shipping_address-id": "new",
        "billing_address-id": "same",
        "customer_reference": "PO-1",
        "items-0-sku": sku,
        "items-0-quantity": "1",
    }
    assert "£12.00" in buyer.send("/account/new-order", {**form, "do": "update"}).text
    made = buyer.send("/account/new-order", {**form, "do": "order"})
    assert "£12.00" in buyer.get(made.headers["Location"]).text


@pytest.mark.sweep
def test_new_lines_of_an_amended_order_have_the_live_price(
    shop: Service, second: Service, office: BackOfficeSite, there: Customer
) -> None:
    old, new = (sell(shop, sku, 10, available=9) for sku in ("AMEND-OLD", "AMEND-NEW"))
    office.refresh()
    second.refresh()
    placed = create(there, [(old, 1)], auto_confirm=True, shipping_method={"id": STANDARD})
    shop.must_load("price-list", [price(old, 99), price(new, 12)])
    wanted = {"items": [{"sku": new, "quantity": 2}]}
    amended = office.caller().patch(f"/api/order/{placed['order_reference']}", json=wanted)
    assert (amended.status_code, amended.json()["cost_net"]) == (200, 34.00), amended.text


@pytest.mark.spec(
    "3 POST /order, confirmed at once", "confirmed at the live price, with the given method or the account's default"
)
def test_a_product_that_was_made_inactive_cannot_be_ordered(shop: Service, second: Service, there: Customer) -> None:
    sku = sell(shop, "GONE", 10, available=9)
    second.refresh()
    assert net(there, (sku, 1)) == 10.00
    shop.must_load("products", [product(sku, active=False)])
    for path in ("/order", "/quote"):
        rejected = there.post(path, order([("PHONE", 1), (sku, 1)]))
        assert rejected.status_code == 400
        assert rejected.json()["errors"][0]["field"] == "items[1].sku"


@pytest.mark.sweep
def test_a_product_that_was_just_added_can_be_ordered(shop: Service, second: Service, there: Customer) -> None:
    sku = sell(shop, "NEW/ÄÖ 1", "7.77", available=3, weight_kg="2.5")
    created = create(there, [(sku.lower(), 2), ("PHONE", 1)])
    assert (created["cost_net"], created["shipping_weight"]) == (65.54, 6)
    assert created["items"][0]["sku"] == sku
    assert created["shipping_options"][0]["expected_dispatch_date"] == "2026-06-16T16:00:00"
    second.refresh()
    again = create(there, [(sku.lower(), 2), ("PHONE", 1)])
    assert again["shipping_options"] == created["shipping_options"]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("sku", "typed"),
    [("CAF\u00c9-1", "cafe\u0301-1"), ("CAF\u00c9-2", " caf\u00e9-2 "), ("CAF\u00c9-3", "Caf\u00e9-3\u200b")],
)
def test_any_spelling_of_a_new_product_finds_it(shop: Service, there: Customer, sku: str, typed: str) -> None:
    sell(shop, sku, "7.77", available=3)
    assert create(there, [(typed, 1)])["items"][0]["sku"] == sku


@pytest.mark.sweep
def test_a_body_with_other_faults_does_not_call_a_new_product_unknown(shop: Service, there: Customer) -> None:
    sku = sell(shop, "NEW-AND-RIGHT", 7, available=3)
    rejected = there.post("/order", order([(sku, 1), ("NO-SUCH", 1)]) | {"customer_reference": 7})
    assert {error["field"] for error in rejected.json()["errors"]} == {"customer_reference", "items[1].sku"}


@pytest.mark.sweep
def test_a_pasted_list_may_name_a_new_product(shop: Service, second: Service, there: Customer) -> None:
    buyer = customer_user(second, there.id, "buyer")
    sku = sell(shop, "NEW-IN-LIST", 7, available=3)
    page = buyer.send("/account/new-order", {"list": f"{sku} 3", "do": "update"})
    assert page.status_code == 200
    assert "£21.00" in page.text


@pytest.mark.sweep
def test_a_bundle_with_more_components_than_before_is_ordered_whole(
    shop: Service, second: Service, there: Customer
) -> None:
    parts = [sell(shop, f"PART-{number}", 1, available=50) for number in range(3)]

    def bundle(*skus: str) -> None:
        sell(shop, "BUNDLE", 30, available=9, components=[{"sku": sku, "quantity": 2} for sku in skus])

    bundle(parts[0])
    second.refresh()
    bundle(*parts)
    placed = create(there, [("BUNDLE", 1)], auto_confirm=True, shipping_method={"id": STANDARD})
    second.refresh()
    [item] = there.get(f"/order/{placed['order_id']}").json()["items"]
    assert [part["product"]["sku"] for part in item["related_items"]] == parts


@pytest.mark.spec(
    "3 POST /order, confirmed at once", "confirmed at the live price, with the given method or the account's default"
)
def test_a_contract_price_begins_at_midnight_in_the_uk(shop: Service, second: Service, there: Customer) -> None:
    sku = sell(shop, "MIDNIGHT", 10, available=9)
    shop.must_load("contract-prices", [contract(there, sku, 4, TODAY + timedelta(days=1))])
    for noticed in (False, True):
        if noticed:
            second.refresh()
        with at(second, uk(2026, 6, 16, 23, 59, 59)):
            assert net(there, (sku, 1)) == 10.00
        with at(second, uk(2026, 6, 17, 0, 0, 0)):
            assert net(there, (sku, 1)) == 4.00


@pytest.mark.sweep
def test_prices_from_the_database_are_those_of_the_servers_memory(shop: Service, second: Service) -> None:
    skus = [sell(shop, f"SAME-{number}", f"{10 + number}.05", available=number) for number in range(6)]
    shop.must_load("price-list", [price(skus[1], 8, 7, 6, "trade"), price(skus[2], 9, None, 5, "trade")])
    buyers = [
        shop.customer(),
        shop.customer(discount=10),
        shop.customer(price_list="trade"),
        shop.customer(price_list="trade", discount="33.33"),
    ]
    agreed = [
        row
        for buyer in buyers[1::2]
        for row in (
            contract(buyer, skus[2], "3.01"),
            contract(buyer, skus[2], "2.02", TODAY, TODAY),
            contract(buyer, skus[3], "1.01", TODAY + timedelta(days=1)),
            contract(buyer, skus[4], "1.02", None, TODAY - timedelta(days=1)),
        )
    ]
    shop.must_load("contract-prices", agreed)
    items = [(sku, quantity) for sku in skus for quantity in (1, 5, 10)]
    clients = [at_server(second, buyer) for buyer in buyers]
    behind = [create(client, items) for client in clients]
    second.refresh()
    compared = ("cost_net", "cost_tax", "cost_gross", "shipping_options", "shipping_weight")
    for client, first in zip(clients, behind, strict=True):
        again = create(client, items)
        assert [first[name] for name in compared] == [again[name] for name in compared]
        assert [item["cost_net"] for item in first["items"]] == [item["cost_net"] for item in again["items"]]
    assert len({first["cost_net"] for first in behind}) == len(buyers)


@pytest.mark.sweep
@pytest.mark.spec(
    "3 POST /order, confirmed at once", "confirmed at the live price, with the given method or the account's default"
)
def test_an_order_during_an_import_has_the_old_price_and_does_not_wait(
    shop: Service, second: Service, there: Customer
) -> None:
    skus = [f"MANY-{number}" for number in range(2_000)]
    shop.must_load("products", [product(sku) for sku in skus])
    shop.must_load("price-list", [price(sku, 10) for sku in skus])
    second.refresh()
    here, shape = at_server(shop, there), IMPORT_KINDS["price-list"].shape
    items = [(sku, 1) for sku in skus[::500]]

    async def import_slowly() -> list[Any]:
        rows = (
            Row(line, msgspec.convert(price(sku, 12), shape, strict=False)) for line, sku in enumerate(skus, start=1)
        )
        async with transaction(shop.commands) as tx:
            report = await import_in_transaction(
                tx, "price-list", rows, ImportOptions(confirmed=True), on_hand=False, now=shop.clock.now()
            )
            assert not report.errors
            # The import has its locks and has written everything, and is not committed.
            return [await asyncio.to_thread(net, client, *items) for client in (here, there)]

    assert shop.call(import_slowly) == [40.00, 40.00]
    assert [net(client, *items) for client in (here, there)] == [48.00, 48.00]


@pytest.mark.spec(
    "3 POST /order, confirmed at once", "confirmed at the live price, with the given method or the account's default"
)
def test_an_order_is_carried_at_the_live_price(shop: Service, office: BackOfficeSite, there: Customer) -> None:
    office.refresh()
    dear, new = {**METHODS[0], "base_cost_net": 17}, {**METHODS[0], "id": 77, "region": 7, "countries": ["NZ"]}
    placed = create(there, auto_confirm=True, shipping_method={"id": STANDARD})
    shop.must_load("shipping-methods", [dear, *METHODS[1:], new])
    try:
        [option, *_] = [each for each in create(there)["shipping_options"] if each["id"] == STANDARD]
        assert option["cost_net"] == 17.50
        confirmed = create(there, auto_confirm=True, shipping_method={"id": STANDARD})
        assert there.get(f"/order/{confirmed['order_id']}").json()["shipping"][0]["cost_net"] == 17.50
        by_staff = {"customer_id": there.id, **order(shipping_address={**ADDRESS, "country_code": "NZ"})}
        made = office.caller().post("/api/order", json=by_staff)
        assert [each["id"] for each in made.json()["shipping_options"]] == [77], made.text
        wrong = there.post("/order", order(shipping_region=7, shipping_method={"id": 77}) | {"customer_reference": 7})
        assert [error["field"] for error in wrong.json()["errors"]] == ["customer_reference"]
        heavier = {"items": [{"sku": "PHONE", "quantity": 2}]}
        amended = office.caller().patch(f"/api/order/{placed['order_reference']}", json=heavier)
        assert amended.json()["shipping"][0]["cost_net"] == 18.50, amended.text
    finally:
        shop.must_load("shipping-methods", METHODS)


@pytest.mark.sweep
def test_an_order_needs_no_further_round_trip_unless_something_has_changed(
    shop: Service, second: Service, link: Link, there: Customer
) -> None:
    sku = sell(shop, "TRIPS", 10, available=9)

    def round_trips() -> int:
        link.spoken.clear()
        create(there, [(sku, 1), ("PHONE", 5)])
        return link.round_trips

    create(there, [("PHONE", 1)])  # the credential is cached from here on
    behind = round_trips()
    second.refresh()
    assert (round_trips(), behind) == (2, 3)
