"""`product show`, `stock show` and `price show`: against what the API shows, and for SKUs that do not exist."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from support.command_line import Forker, Program
from support.orders import at, buy
from support.service import Customer, Service
from support.shop import STANDARD, price, product, stock_shop
from tradecounter.kit.clock import local_text, uk_date


@pytest.fixture(scope="module")
def tradecounter(service: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    stock_shop(service)
    service.must_load("price-list", [price("PHONE", 30, None, 20, price_list="gold")])
    service.must_load("products", [product("HD/A/1 x", name="An odd SKU"), product("GONE", active=False)])
    return Program(tmp_path_factory.mktemp("products"), service.database_url, forker)


@pytest.fixture(scope="module")
def buyer(service: Service, tradecounter: Program) -> Customer:
    """A customer with a price list, a discount, and contract prices that are over, hold, and are to come."""
    assert tradecounter.url == service.database_url
    customer = service.customer(price_list="gold", discount="2.5", shipping_method=STANDARD)
    today = uk_date(datetime.now(UTC))

    def agreed(sku: str, cost: int, start: int, end: int) -> dict[str, Any]:
        period = {"valid_from": today + timedelta(days=start), "valid_until": today + timedelta(days=end)}
        return {"customer_id": customer.id, "sku": sku, "single_unit_cost": cost, **period}

    service.must_load(
        "contract-prices", [agreed("CABLE", 1, -1, 1), agreed("PHONE", 2, -9, -2), agreed("PHONE", 3, 2, 9)]
    )
    return customer


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("sku", ["PHONE", "CABLE", "SWITCH"])
@pytest.mark.parametrize(
    ("quantity", "member"), [(1, "single_unit_cost"), (5, "five_plus_unit_cost"), (10, "ten_plus_unit_cost")]
)
def test_the_price_equals_the_apis(
    tradecounter: Program, service: Service, buyer: Customer, sku: str, quantity: int, member: str
) -> None:
    with at(service, datetime.now(UTC)):
        shown = buyer.get(f"/product/{sku}", headers={"Accept": "application/json"}).json()
    found = tradecounter.json("price", "show", str(buyer.id), sku.lower(), "--quantity", str(quantity))
    assert found["unit_cost"] == shown[member]
    assert (found["sku"], found["customer_id"], found["quantity"], found["break"]) == (
        sku,
        buyer.id,
        quantity,
        quantity,
    )


def test_a_price_is_shown_with_its_candidates(tradecounter: Program, buyer: Customer) -> None:
    found = tradecounter.json("price", "show", str(buyer.id), "PHONE", "--quantity", "7")
    assert found.keys() == {
        "sku", "customer_id", "quantity", "unit_cost", "break", "rule", "discount", "candidates",
    }  # fmt: skip
    assert (found["rule"], found["discount"], found["unit_cost"], found["break"]) == ("price_list", 2.5, 29.25, 5)
    assert [(c["rule"], c["applies"], c["single_unit_cost"]) for c in found["candidates"]] == [
        ("contract", False, 3),
        ("contract", False, 2),
        ("price_list", True, 30),
        ("default", True, 50),
    ]
    text = tradecounter.text("price", "show", str(buyer.id), "PHONE", "--quantity", "7")
    assert text.startswith(
        f"PHONE for customer {buyer.id}: £29.25 a unit for 7 (break 5, price list gold, less 2.50 %)\n"
    )
    assert "the customer's price list takes precedence" in text


def test_a_product_without_a_price_is_reported_as_such(tradecounter: Program, buyer: Customer) -> None:
    found = tradecounter.json("price", "show", str(buyer.id), "hd/a/1 X")
    assert (found["unit_cost"], found["rule"]) == (None, None)
    assert "no price applies" in tradecounter.text("price", "show", str(buyer.id), "HD/A/1 x")


def test_a_product_is_shown_with_stock_and_prices(tradecounter: Program, service: Service, buyer: Customer) -> None:
    service.must_load("incoming", [{"sku": "SWITCH", "incoming": 40, "expected_on": "2026-12-01"}])
    found = tradecounter.json("product", "show", "switch")
    assert (found["sku"], found["name"], found["manufacturer"], found["active"]) == (
        "SWITCH", "Product SWITCH", "acme", True,
    )  # fmt: skip
    assert found["deliveries"] == [{"expected_on": "2026-12-01T00:00:00", "incoming": 40}]
    assert found["prices"] == [
        {
            "price_list": "default",
            "single_unit_cost": 299.99,
            "five_plus_unit_cost": None,
            "ten_plus_unit_cost": None,
        }
    ]
    assert found["contract_prices"] == []
    assert "id" not in found
    [contract] = tradecounter.json("product", "show", "CABLE")["contract_prices"]
    assert (contract["customer_id"], contract["single_unit_cost"]) == (buyer.id, 1)
    text = tradecounter.text("product", "show", "CABLE")
    assert "\nList prices\n" in text
    assert "\nContract prices\n" in text


def test_a_bundle_is_shown_with_the_skus_of_its_components(tradecounter: Program, service: Service) -> None:
    bundle = product("KIT", configurable=True, components=[{"sku": "Cable", "quantity": 2}])
    service.must_load("products", [bundle])
    assert tradecounter.json("product", "show", "KIT")["components"] == [{"sku": "CABLE", "quantity": 2}]


def test_inactive_products_are_shown(tradecounter: Program) -> None:
    assert tradecounter.json("product", "show", "GONE")["active"] is False
    assert tradecounter.json("stock", "show", "GONE")["active"] is False


def test_stock_is_shown_with_its_back_orders(tradecounter: Program, buyer: Customer, service: Service) -> None:
    first = buy(buyer, [("SWITCH", 2)])
    second = buy(buyer, [("SWITCH", 4), ("SWITCH", 1)])
    found = tradecounter.json("stock", "show", "SWITCH")
    units = {name: found[name] for name in ("on_hand", "available", "allocated", "back_ordered")}
    assert units == {"on_hand": 3, "available": 0, "allocated": 3, "back_ordered": 4}
    assert found["back_orders"] == [
        {
            "order_reference": second["order_reference"],
            "customer_id": buyer.id,
            "quantity": 4,
            "confirmed_on": local_text(service.clock.now()),
        }
    ]
    shown = tradecounter.json("product", "show", "SWITCH")
    assert shown["stock"] == found["stock"] == units | {"location": ""}
    assert (shown["prices"], shown["contract_prices"]) == (found["prices"], found["contract_prices"])
    text = tradecounter.text("stock", "show", "SWITCH")
    assert second["order_reference"] in text
    assert first["order_reference"] not in text
    assert "2026-12-01T00:00:00" in text or found["deliveries"] == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("SWICTH", "SWITCH"), ("PHOEN", "PHONE"), ("HDA1X", "HD/A/1 x"), ("CABLE-", "CABLE")],
)
def test_an_unknown_sku_gets_suggestions(tradecounter: Program, buyer: Customer, typed: str, meant: str) -> None:
    for words in (["product", "show"], ["stock", "show"], ["price", "show", str(buyer.id)]):
        error = tradecounter.error(*words, typed)
        assert error.startswith(f"product {typed} does not exist; did you mean {meant}")


def test_a_sku_like_no_other_gets_no_suggestion(tradecounter: Program) -> None:
    assert tradecounter.error("product", "show", "%%%") == "product %%% does not exist"


def test_prices_of_unknown_customers_are_rejected(tradecounter: Program) -> None:
    assert tradecounter.error("price", "show", "999", "PHONE") == "customer 999 not found"
    assert "is not in the range" in tradecounter.misused("price", "show", "1001", "PHONE", "--quantity", "0")


def test_stock_is_adjusted(tradecounter: Program) -> None:
    before = tradecounter.json("stock", "show", "CABLE")["on_hand"]
    adjusted = tradecounter.json("stock", "adjust", "cable", "--change", "2", "--reason", "found two")
    assert adjusted["on_hand"] == before + 2
    assert "on_hand" in tradecounter.text("stock", "adjust", "CABLE", "--set", str(before), "--reason", "counted")
    assert "give either" in tradecounter.misused("stock", "adjust", "CABLE", "--reason", "none")
    assert tradecounter.error("stock", "adjust", "CABLE", "--set", "1", "--reason", " ").startswith("--reason: ")


def test_a_product_is_shown_with_its_purchase_cost(tradecounter: Program, service: Service) -> None:
    service.must_load("products", [product("BOUGHT", purchase_cost="12.34"), product("UNKNOWN COST")])
    assert tradecounter.json("product", "show", "bought")["purchase_cost"] == 12.34
    assert tradecounter.json("product", "show", "unknown cost")["purchase_cost"] is None
    assert "12.34" in tradecounter.text("product", "show", "BOUGHT")


def test_products_are_listed_by_what_they_want(tradecounter: Program, service: Service) -> None:
    service.must_load("products", [product("COSTLY", purchase_cost=40)])
    assert "COSTLY" not in _listed(tradecounter, "below_cost")
    service.must_load("price-list", [price("COSTLY", 60, 50, 39)])
    assert _listed(tradecounter, "below_cost") == ["COSTLY"]
    service.must_load("products", [product("COSTLY", purchase_cost=39)])
    assert _listed(tradecounter, "below_cost") == []
    service.must_load("products", [product("COSTLY", purchase_cost=39.01)])
    assert _listed(tradecounter, "below_cost") == ["COSTLY"]
    service.must_load("price-list", [price("COSTLY", 60, 50, 40)])
    assert _listed(tradecounter, "below_cost") == []
    assert "COSTLY" in _listed(tradecounter, "without_picture")
    assert "GONE" in _listed(tradecounter, "not_sold")


def _listed(tradecounter: Program, show: str) -> list[str]:
    return [found["sku"] for found in tradecounter.json("product", "list", "--show", show)]
