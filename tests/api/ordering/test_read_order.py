"""`GET /order/{reference}`: one order by its id or its reference (specification, section 4)."""

from urllib.parse import unquote

import pytest

from support.error_bodies import error_body
from support.orders import at, buy, cancel, read, sell, uk
from support.service import Customer, Service
from support.shop import product
from tradecounter.kit.text import shown_name


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.mark.spec("4 GET /order/{reference}", "by id or reference, with items and shipping")
def test_an_order_is_found_by_its_id_and_by_its_reference(customer: Customer) -> None:
    placed = buy(customer)
    by_id = customer.get(f"/order/{placed['order_id']}")
    by_reference = customer.get(f"/order/{placed['order_reference']}")
    assert by_id.status_code == by_reference.status_code == 200
    assert by_id.content == by_reference.content
    assert by_id.json()["id"] == placed["order_id"]
    assert [by_id.json()] == [order for order in customer.get("/order").json() if order["id"] == placed["order_id"]]


@pytest.mark.spec("1 General rules", "responses are JSON unless stated")
@pytest.mark.spec("1 Content negotiation", "all other endpoints respond in JSON")
def test_one_order_is_json_whatever_the_accept_header(customer: Customer) -> None:
    placed = buy(customer)
    response = customer.get(f"/order/{placed['order_id']}", headers={"Accept": "text/csv"})
    assert response.headers["Content-Type"] == "application/json"


@pytest.mark.spec("4 GET /order/{reference}", "unknown is 404")
@pytest.mark.spec("7 404", "unknown reference, SKU, address id or code")
@pytest.mark.parametrize(
    "reference",
    [
        "999999",
        "0",
        "-1",
        "999999999999999999",
        "9" * 30,
        "ORD-",
        "ORD-1",
        "nothing",
        "%00",
        "ORD-1%00",
        "%ff",
        "%F0%9F%93%A6",
    ],
)
def test_an_unknown_reference_is_not_found(customer: Customer, reference: str) -> None:
    response = customer.get(f"/order/{reference}")
    assert response.status_code == 404
    assert response.json()["message"] == f"order {shown_name(unquote(reference))} not found".replace("  ", " ")


def test_another_customers_order_is_not_found(shop: Service, customer: Customer) -> None:
    placed = buy(shop.customer())
    for reference in (placed["order_id"], placed["order_reference"]):
        foreign = customer.get(f"/order/{reference}")
        assert (foreign.status_code, foreign.json()) == (404, error_body("not_found", f"order {reference} not found"))


def test_a_cancelled_order_can_still_be_read(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    cancel(shop, placed)
    assert read(customer, placed)["status"] == "Cancelled"


def test_an_order_still_shows_a_deactivated_product(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "RETIRED", 12, available=5)
    placed = buy(customer, [(sku, 1)])
    shop.must_load("products", [{"sku": sku, "active": False}])
    assert customer.get(f"/product/{sku}").status_code == 404
    [item] = read(customer, placed)["items"]
    assert (item["product"]["sku"], item["product"]["single_unit_cost"]) == (sku, 12.00)
    [listed] = [order for order in customer.get("/order").json() if order["id"] == placed["order_id"]]
    assert listed["items"] == [item]


def test_an_order_keeps_the_price_of_a_product_without_a_current_price(shop: Service) -> None:
    customer = shop.customer()
    shop.must_load("products", [product("AGREED")])
    agreed = {"customer_id": customer.id, "sku": "AGREED", "single_unit_cost": 15, "five_plus_unit_cost": 12}
    shop.must_load("contract-prices", [{**agreed, "valid_until": "2026-06-16"}])
    placed = buy(customer, [("AGREED", 5)])
    with at(shop, uk(2026, 6, 17)):
        assert customer.get("/product/AGREED").status_code == 404
        [item] = read(customer, placed)["items"]
        assert customer.get("/order").json()[0]["items"] == [item]
    costs = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
    assert [item["product"][name] for name in costs] == [12.00, 12.00, 12.00]
    assert item["cost_net"] == 60.00


def test_an_order_shows_the_current_product_data(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "RENAMED", 10, available=5)
    placed = buy(customer, [(sku, 2)])
    shop.must_load("products", [{"sku": "renamed", "name": "New name"}])
    [item] = read(customer, placed)["items"]
    assert (item["product"]["sku"], item["product"]["name"]) == ("renamed", "New name")
    assert item["product"]["availability"]["available"] == 3
    assert item["cost_net"] == 20.00


@pytest.mark.spec("2 Order", "shipping names its method, its costs and the courier's contacts")
def test_an_order_without_courier_contacts_shows_none(customer: Customer) -> None:
    [shipping] = read(customer, buy(customer, order_notifications={"email_address": "a@test.example"}))["shipping"]
    assert shipping.keys() == {"method_id", "cost_net", "cost_tax", "tracking_events"}


@pytest.mark.spec("1 General rules", "times are UK local time, to the second, without an offset")
def test_created_on_is_uk_time_in_winter_too(shop: Service, customer: Customer) -> None:
    with at(shop, uk(2026, 12, 1, 9, 30, 15)):
        placed = buy(customer)
    assert read(customer, placed)["created_on"] == "2026-12-01T09:30:15"
