"""Stock as customers see it: units, label, expected deliveries; and when a change appears."""

from typing import Any

import httpx2
import pytest

from support.service import Customer, Service, running_service
from support.shop import price, product

STOCK = {"FIVE": 5, "FOUR": 4, "ONE": 1, "ZERO": 0, "DUE": 0, "DUE-IN-STOCK": 9}


@pytest.fixture(scope="module", autouse=True)
def _catalogue(service: Service) -> None:
    service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    service.must_load("products", [product(sku) for sku in (*STOCK, "UNCOUNTED")])
    service.must_load("price-list", [price(sku, 1) for sku in (*STOCK, "UNCOUNTED")])
    service.must_load("stock", [{"sku": sku, "available": units} for sku, units in STOCK.items()])
    service.must_load(
        "incoming",
        [
            {"sku": "DUE", "incoming": 20, "expected_on": "2026-12-01T14:30:15"},
            {"sku": "DUE", "incoming": 5, "expected_on": "2026-07-01"},
            {"sku": "DUE-IN-STOCK", "incoming": 1, "expected_on": "2026-06-20"},
        ],
    )


@pytest.fixture(scope="module")
def trade(service: Service) -> Customer:
    return service.customer()


@pytest.fixture(scope="module")
def retail(service: Service) -> Customer:
    return service.customer(trade_account=False)


def availability(customer: Customer, sku: str) -> dict[str, Any]:
    """Return a product's availability by its SKU; the list must agree."""
    found: dict[str, Any] = customer.get(f"/product/{sku}").json()["availability"]
    [listed] = [p["availability"] for p in customer.get("/product").json() if p["sku"] == sku]
    assert listed == found
    return found


@pytest.mark.spec("2 Product", "availability has units, a label and deliveries, which trade accounts see")
@pytest.mark.parametrize(
    ("sku", "units", "to_trade", "to_retail"),
    [
        ("FIVE", 5, "In stock", "In stock"),
        ("FOUR", 4, "Low stock", "Low stock"),
        ("ONE", 1, "Low stock", "Low stock"),
        ("ZERO", 0, "Out of stock", "Out of stock"),
        ("UNCOUNTED", 0, "Out of stock", "Out of stock"),
        ("DUE", 0, "On order", "Out of stock"),
        ("DUE-IN-STOCK", 9, "In stock", "In stock"),
    ],
)
def test_the_label_depends_on_units_and_visible_deliveries(
    trade: Customer, retail: Customer, sku: str, units: int, to_trade: str, to_retail: str
) -> None:
    for customer, label in ((trade, to_trade), (retail, to_retail)):
        shown = availability(customer, sku)
        assert (shown["available"], shown["status"]) == (units, label)


@pytest.mark.spec("2 Product", "availability has units, a label and deliveries, which trade accounts see")
def test_a_trade_account_sees_deliveries_in_order_of_date_in_uk_time(trade: Customer) -> None:
    assert availability(trade, "DUE")["incoming"] == [
        {"incoming": 5, "expected_on": "2026-07-01T00:00:00"},
        {"incoming": 20, "expected_on": "2026-12-01T14:30:15"},
    ]
    assert availability(trade, "DUE-IN-STOCK")["incoming"] == [{"incoming": 1, "expected_on": "2026-06-20T00:00:00"}]
    assert availability(trade, "ZERO")["incoming"] == []


@pytest.mark.spec("2 Product", "availability has units, a label and deliveries, which trade accounts see")
@pytest.mark.parametrize("sku", ["DUE", "DUE-IN-STOCK", "FIVE"])
def test_other_accounts_see_no_deliveries(retail: Customer, sku: str) -> None:
    assert availability(retail, sku)["incoming"] == []


@pytest.mark.parametrize(
    ("low_stock", "labels"),
    [
        (0, {"FIVE": "In stock", "ONE": "In stock", "ZERO": "Out of stock"}),
        (2, {"FIVE": "In stock", "FOUR": "In stock", "ONE": "Low stock", "ZERO": "Out of stock"}),
        (10, {"FIVE": "Low stock", "DUE-IN-STOCK": "Low stock", "DUE": "On order"}),
    ],
)
def test_the_setting_defines_low_stock(
    database_url: str, trade: Customer, low_stock: int, labels: dict[str, str]
) -> None:
    with running_service(database_url, low_stock=low_stock) as other:
        customer = Customer(trade.id, trade.key, other.client(**{"X-Api-Key": trade.key}))
        assert {sku: availability(customer, sku)["status"] for sku in labels} == labels


@pytest.mark.spec("8 Price and stock cache", "changes show once the server has noticed, which is within five minutes")
def test_imported_stock_appears_after_the_next_poll(service: Service, trade: Customer) -> None:
    service.must_load("products", [product("FRESH")])
    service.must_load("price-list", [price("FRESH", 1)])
    for units, label in ((3, "Low stock"), (0, "Out of stock"), (1_000_000_000, "In stock")):
        service.must_load("stock", [{"sku": "fresh", "available": units}])
        assert availability(trade, "FRESH") == {"available": units, "status": label, "incoming": []}
    assert listed(trade.get("/product?sort=availability&limit=1")) == ["FRESH"]
    service.must_load("stock", [{"sku": "FRESH", "available": 0}])
    assert "FRESH" not in listed(trade.get("/product?inStock=true"))


def test_imported_deliveries_appear_after_the_next_poll(service: Service, trade: Customer) -> None:
    service.must_load("products", [product("EXPECTED")])
    service.must_load("price-list", [price("EXPECTED", 1)])
    service.must_load("incoming", [{"sku": "EXPECTED", "incoming": 2, "expected_on": "2026-08-01"}])
    assert availability(trade, "EXPECTED")["incoming"] == [{"incoming": 2, "expected_on": "2026-08-01T00:00:00"}]
    service.must_load("incoming", [{"sku": "EXPECTED", "incoming": 7, "expected_on": "2026-08-01"}])
    assert availability(trade, "EXPECTED")["incoming"] == [{"incoming": 7, "expected_on": "2026-08-01T00:00:00"}]


def test_stock_and_deliveries_stay_correct_when_catalogue_rows_move(service: Service, trade: Customer) -> None:
    before = {sku: availability(trade, sku) for sku in ("FIVE", "ZERO", "DUE")}
    service.must_load("products", [product("0-FIRST"), product("EVEN-LATER"), product("Z-LAST")])
    assert {sku: availability(trade, sku) for sku in before} == before
    service.must_load("price-list", [price("0-FIRST", 2), price("Z-LAST", 3)])
    service.must_load("stock", [{"sku": "0-FIRST", "available": 8}])
    assert availability(trade, "0-FIRST")["available"] == 8
    assert availability(trade, "Z-LAST")["available"] == 0
    assert {sku: availability(trade, sku) for sku in before} == before


def test_a_changed_product_appears_after_the_next_poll(service: Service, trade: Customer) -> None:
    service.must_load("products", [product("CHANGING", name="Old name", description="Same words")])
    service.must_load("price-list", [price("CHANGING", 4)])
    service.must_load("stock", [{"sku": "CHANGING", "available": 6}])
    service.must_load("products", [{"sku": "Changing", "name": "New name", "clearance_product": True}])
    shown = trade.get("/product/changing").json()
    assert (shown["sku"], shown["name"], shown["description"]) == ("Changing", "New name", "Same words")
    assert (shown["clearance_product"], shown["single_unit_cost"], shown["availability"]["available"]) == (True, 4, 6)
    assert listed(trade.get("/product?query=new+name")) == listed(trade.get("/product?reduced=true")) == ["Changing"]
    assert listed(trade.get("/product?query=old+name")) == []


def test_a_customers_changed_terms_apply_after_the_next_poll(service: Service) -> None:
    email = "promoted@test.example"
    customer = service.customer(email_address=email, trade_account=False)
    assert availability(customer, "DUE")["incoming"] == []
    service.must_load("customers", [{"email_address": email, "trade_account": True, "discount": "50"}])
    assert len(availability(customer, "DUE")["incoming"]) == 2
    assert customer.get("/product/DUE").json()["single_unit_cost"] == 0.5


def listed(response: httpx2.Response) -> list[str]:
    return [found["sku"] for found in response.json()]
