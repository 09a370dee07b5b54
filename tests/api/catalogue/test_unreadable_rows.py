"""Unreadable data stops nothing else: neither a whole table nor a single row written past the program."""

from collections.abc import Iterator
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.sql import SQL
from structlog.testing import capture_logs

from support.cluster import Cluster
from support.orders import buy, create
from support.service import Customer, Service, running_service
from support.shop import METHODS, NEXT_DAY, order, price, product, stock_shop


@pytest.fixture
def shop(postgres: Cluster) -> Iterator[Service]:
    with postgres.database() as url, running_service(url) as service:
        stock_shop(service)
        yield service


@pytest.fixture(scope="module")
def wide_shop(postgres: Cluster) -> Iterator[Service]:
    """A shop that each test repairs."""
    with postgres.database() as url, running_service(url) as service:
        stock_shop(service)
        yield service


def by_hand(service: Service, statement: LiteralString, *parts: LiteralString) -> None:
    """Run SQL directly, as an operator might."""
    with psycopg.connect(service.database_url, autocommit=True) as connection:
        connection.execute(SQL(statement).format(*map(SQL, parts)))


def shown(customer: Customer, sku: str = "PHONE") -> tuple[Any, ...]:
    found = customer.get(f"/product/{sku}").json()
    return found["single_unit_cost"], found["availability"]["available"], found["availability"]["incoming"]


def test_other_data_stays_current_while_the_catalogue_cannot_be_read(shop: Service) -> None:
    customer = shop.customer()
    shop.refresh()
    assert shown(customer)[:2] == (50, 100)
    by_hand(shop, "alter table attribute rename to mislaid")
    by_hand(shop, "update product set name = 'Renamed' where sku = 'PHONE'")
    by_hand(shop, "update change set version = version + 1 where topic = 'catalogue'")
    shop.load("price-list", [price("PHONE", 60)])
    shop.load("stock", [{"sku": "PHONE", "available": 7}])
    shop.load("incoming", [{"sku": "PHONE", "incoming": 3, "expected_on": "2026-09-01"}])
    late = shop.customer(discount="50.00")
    shop.load("contract-prices", [{"customer_id": customer.id, "sku": "PHONE", "single_unit_cost": 55}])
    shop.refresh()
    deliveries = [{"incoming": 3, "expected_on": "2026-09-01T00:00:00"}]
    assert shown(customer) == (55, 7, deliveries)
    assert shown(late) == (30, 7, deliveries)
    assert customer.get("/product/PHONE").json()["name"] == "Product PHONE"
    by_hand(shop, "alter table mislaid rename to attribute")
    shop.load("manufacturers", [{"key": "acme", "name": "Acme again"}])  # newer data is read without a pause
    assert customer.get("/product/PHONE").json()["name"] == "Renamed"


BAD_PRODUCTS: list[LiteralString] = [
    "images = '[{}]'",
    "images = '{}'",
    "attributes = '[]'",
    "attributes = '{\"ports\": 8}'",
    "categories = '[[]]'",
    "components = '[{\"key\": 7}]'",
    "related_products = 'null'",
    "weight_kg = 'NaN'",
    "consumer_unit_cost = 'NaN'",
]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("change", BAD_PRODUCTS)
def test_an_unreadable_product_is_not_for_sale_but_stays_in_its_orders(
    wide_shop: Service, change: LiteralString
) -> None:
    customer = wide_shop.customer()
    wide_shop.refresh()
    placed = buy(customer, [("CABLE", 1), ("PHONE", 1)])
    by_hand(wide_shop, "update product set {} where sku = 'CABLE'", change)
    with capture_logs() as logged:
        wide_shop.load("products", [product("SWITCH", name=f"After {change}")])
    [line] = [line for line in logged if line["log_level"] == "error"]
    [column, _, value] = change.split(" ", 2)
    [message] = line["rows"]
    assert message.startswith(f"product CABLE: {column}: ")
    assert "NaN" not in value or message.endswith("NaN is not a number")
    assert customer.get("/product/CABLE").status_code == 404
    assert customer.get("/product/SWITCH").json()["name"] == f"After {change}"
    shown = customer.get(f"/order/{placed['order_id']}").json()["items"][0]["product"]
    assert (shown["sku"], shown["name"]) == ("CABLE", "Product CABLE")
    by_hand(wide_shop, "{}", RESTORE)
    wide_shop.load("products", [product("SWITCH")])
    assert customer.get("/product/CABLE").status_code == 200


RESTORE: LiteralString = """
    update product set images = '[]', attributes = '{}', categories = '[]', components = '[]', related_products = '[]',
        weight_kg = 1, consumer_unit_cost = 0
"""


@pytest.mark.sweep
@pytest.mark.parametrize("cost", ["99999999.99", "'NaN'"])
def test_an_unreadable_price_is_omitted_and_all_others_are_updated(shop: Service, cost: LiteralString) -> None:
    customer, other = shop.customer(), shop.customer()
    shop.refresh()
    by_hand(
        shop, "update price set five_plus_unit_cost = {} from product p where p.id = product_id and sku = 'CABLE'", cost
    )
    shop.must_load("contract-prices", [{"customer_id": other.id, "sku": "PHONE", "single_unit_cost": 30}])
    ever: LiteralString = "valid_from = '-infinity', valid_until = 'infinity'"
    by_hand(shop, "update contract_price set single_unit_cost = {}, {}", cost, ever)
    with capture_logs() as logged:
        shop.load("price-list", [price("SWITCH", 77)])
        shop.load("contract-prices", [{"customer_id": customer.id, "sku": "SWITCH", "single_unit_cost": 66}])
    assert len([line for line in logged if line["log_level"] == "error"]) == 2
    assert prices(customer) == {"PHONE": 50, "SWITCH": 66}
    assert prices(other) == {"SWITCH": 77}
    assert other.post("/order", order([("PHONE", 1)])).status_code == 400


def prices(customer: Customer) -> dict[str, float]:
    return {found["sku"]: found["single_unit_cost"] for found in customer.get("/product").json()}


def test_a_delivery_without_a_valid_time_is_omitted_and_all_others_are_updated(shop: Service) -> None:
    customer = shop.customer()
    shop.refresh()
    moments: list[LiteralString] = ["'infinity'", "'-infinity'", "'0044-03-15 BC'", "'20000-01-01'"]
    for moment in moments:
        by_hand(shop, "insert into incoming_stock select id, {}, 5 from product where sku = 'PHONE'", moment)
    shop.load("incoming", [{"sku": sku, "incoming": 3, "expected_on": "2026-09-01"} for sku in ("PHONE", "CABLE")])
    deliveries = [{"incoming": 3, "expected_on": "2026-09-01T00:00:00"}]
    assert [shown(customer, sku)[2] for sku in ("PHONE", "CABLE")] == [deliveries, deliveries]


@pytest.mark.sweep
def test_only_the_unreadable_shipping_method_is_not_offered(shop: Service) -> None:
    customer = shop.customer()
    changes: list[LiteralString] = [
        "countries = '\"GB\"'",
        "countries = '7'",
        "max_weight_kg = 'NaN'",
        "base_cost_net = 'NaN'",
    ]
    for number, change in enumerate(changes):
        shop.must_load("shipping-methods", METHODS)
        by_hand(shop, "update shipping_method set cut_off = '24:00', {} where id = 11", change)
        shop.load("shipping-methods", [{"id": NEXT_DAY, "description": f"Change {number}"}])
        [option] = create(customer)["shipping_options"]
        assert (option["id"], option["description"]) == (NEXT_DAY, f"Change {number}")


def test_an_attribute_with_unreadable_values_has_an_empty_list(shop: Service) -> None:
    customer = shop.customer()
    shop.load("attributes", [{"key": "ports", "name": "Ports", "type": "int", "possible_values": [{"value": "8"}]}])
    by_hand(shop, "update attribute set possible_values = {}", "'[{}]'")
    shop.load(
        "attributes", [{"key": "colour", "name": "Colour", "type": "string", "possible_values": [{"value": "red"}]}]
    )
    shop.refresh()
    values = {found["key"]: found["possible_values"] for found in customer.get("/attribute").json()}
    assert values == {"ports": [], "colour": [{"value": "red"}]}
