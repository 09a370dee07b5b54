"""An order's dispatched, cancelled and remaining units, and its address (specification, orders asked for)."""

from datetime import timedelta
from typing import Any

import pytest

from support.orders import at, buy, cancel, dispatch, read, sell, uk
from support.service import MORNING, Customer, Service
from support.shop import ADDRESS, product

DAY = timedelta(days=1)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def figures(item: dict[str, Any]) -> tuple[int, int, int]:
    """Return the ordered, dispatched and cancelled units of an item."""
    return item["quantity"], item["quantity_dispatched"], item["quantity_cancelled"]


def expected(customer: Customer, placed: dict[str, Any]) -> str | None:
    found: str | None = read(customer, placed).get("expected_dispatch_date")
    return found


@pytest.mark.spec(
    "4 GET /order/{reference}", "the address, the dispatched units, and the expected date of the rest (an addition)"
)
def test_an_order_shows_its_address_and_end_customer(customer: Customer) -> None:
    saved = customer.post("/customer/address", ADDRESS).json()
    placed = buy(customer, shipping_address={"id": saved["id"]}, external_customer_id="end-7")
    customer.delete(f"/customer/address/{saved['id']}")
    found = read(customer, placed)
    assert found["shipping_address"] == {**ADDRESS, "id": saved["id"]}
    assert found["external_customer_id"] == "end-7"
    added = ["shipping_address", "external_customer_id", "expected_dispatch_date", "changed_on"]
    assert list(found)[-4:] == added
    [item] = found["items"]
    assert list(item)[-2:] == ["quantity_dispatched", "quantity_cancelled"]

    bare = read(customer, buy(customer))
    assert bare["shipping_address"] == ADDRESS
    assert "external_customer_id" not in bare


@pytest.mark.spec(
    "4 GET /order/{reference}", "the address, the dispatched units, and the expected date of the rest (an addition)"
)
def test_dispatched_units_are_counted(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "LEAVES", available=10)
    placed = buy(customer, [(sku, 5), ("CABLE", 2)])
    first, second = (item["id"] for item in placed["items"])
    assert [figures(item) for item in read(customer, placed)["items"]] == [(5, 0, 0), (2, 0, 0)]
    dispatch(shop, placed, (first, 3))
    assert [figures(item) for item in read(customer, placed)["items"]] == [(5, 3, 0), (2, 0, 0)]
    assert expected(customer, placed) == "2026-06-16T16:00:00"
    dispatch(shop, placed, (first, 2), (second, 2))
    assert [figures(item) for item in read(customer, placed)["items"]] == [(5, 5, 0), (2, 2, 0)]
    assert expected(customer, placed) is None


def test_all_units_of_a_cancelled_order_are_cancelled(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [(sell(shop, "CANCELLED-HALF", available=1), 3)])
    cancel(shop, placed)
    assert [figures(item) for item in read(customer, placed)["items"]] == [(3, 0, 3)]
    assert expected(customer, placed) is None


def test_components_count_in_proportion_to_their_bundle(shop: Service, customer: Customer) -> None:
    for part in ("TC-BASE", "TC-HANDSET"):
        shop.must_load("products", [product(part)])
    kit = sell(
        shop,
        "TC-KIT",
        available=9,
        components=[{"sku": "TC-BASE", "quantity": 1}, {"sku": "TC-HANDSET", "quantity": 4}],
    )
    placed, other = buy(customer, [(kit, 3)]), buy(customer, [(kit, 2)])
    dispatch(shop, placed, (placed["items"][0]["id"], 2))
    cancel(shop, other)
    [item] = read(customer, placed)["items"]
    assert figures(item) == (3, 2, 0)
    assert [figures(part) for part in item["related_items"]] == [(3, 2, 0), (12, 8, 0)]
    [gone] = read(customer, other)["items"]
    assert [figures(part) for part in gone["related_items"]] == [(2, 0, 2), (8, 0, 8)]


def test_a_configured_component_has_its_counts_too(shop: Service, customer: Customer) -> None:
    shop.must_load("products", [product("TC-ROUTER", configurable=True)])
    kit = sell(shop, "TC-ROUTER-KIT", available=5, components=[{"sku": "TC-ROUTER", "quantity": 2}])
    placed = buy(customer, [(kit, 2)])
    dispatch(shop, placed, (placed["items"][0]["id"], 1))
    [item] = read(customer, placed)["items"]
    [router] = item["related_items"]
    response = customer.post(
        f"/order/{placed['order_id']}/item/{router['id']}/configuration",
        {"configurations": [{"adsl_username": "a", "adsl_password": "b"}]},
    )
    assert response.status_code == 200
    assert figures(response.json()) == figures(router) == (4, 2, 0)


def test_units_in_stock_are_expected_at_the_next_cut_off(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    for now, leaves in (
        (MORNING, "2026-06-16T16:00:00"),
        (uk(2026, 6, 16, 16), "2026-06-17T16:00:00"),
        (uk(2026, 6, 20, 9), "2026-06-22T16:00:00"),
    ):
        with at(shop, now):
            assert expected(customer, placed) == leaves
            [listed] = [o for o in customer.get("/order").json() if o["id"] == placed["order_id"]]
            assert listed["expected_dispatch_date"] == leaves


@pytest.mark.spec(
    "4 GET /order/{reference}", "the address, the dispatched units, and the expected date of the rest (an addition)"
)
def test_a_back_order_is_expected_with_the_delivery_that_covers_it(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "AWAITED", available=1)
    shop.must_load("incoming", [{"sku": sku, "incoming": 2, "expected_on": "2026-06-24"}])
    covered, uncovered = buy(customer, [(sku, 3)]), buy(customer, [("PHONE", 1), (sku, 1)])
    assert expected(customer, covered) == "2026-06-25T16:00:00"
    assert expected(customer, uncovered) is None
    with at(shop, uk(2026, 6, 25, 18)):
        assert expected(customer, covered) == "2026-06-25T16:00:00"
    with at(shop, uk(2026, 6, 26)):
        assert expected(customer, covered) is None, "an overdue delivery has no known date"
    shop.must_load("stock", [{"sku": sku, "available": 3}])
    assert expected(customer, covered) == "2026-06-16T16:00:00"
