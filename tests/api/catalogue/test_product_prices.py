"""The price that a customer sees: contract, price list, default list, discount, breaks; and when a price changes."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from support.service import MORNING, Customer, Service
from support.shop import price, product

TODAY = date(2026, 6, 16)
SKUS = ["ALL", "GOLD", "NONE", "PLAIN"]


@pytest.fixture(scope="module", autouse=True)
def _catalogue(service: Service) -> None:
    service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    service.must_load("products", [product(sku) for sku in SKUS])
    service.must_load("price-list", [price("ALL", 100, 90, 80), price("PLAIN", "7.77")])
    service.must_load(
        "price-list", [price("ALL", "60.00", None, 50, price_list="gold"), price("GOLD", 5, 4, price_list="gold")]
    )


@pytest.fixture(autouse=True)
def _this_morning(service: Service) -> Iterator[None]:
    yield
    service.clock.set(MORNING)


def costs(customer: Customer, sku: str) -> tuple[float, float, float] | None:
    """Return a product's costs by its SKU; the list must agree."""
    response = customer.get(f"/product/{sku}")
    listed = {found["sku"]: found for found in customer.get("/product").json()}
    if response.status_code == 404:
        assert sku not in listed
        return None
    found = response.json()
    names = ("single_unit_cost", "five_plus_unit_cost", "ten_plus_unit_cost")
    assert [listed[sku][name] for name in names] == [found[name] for name in names]
    return found["single_unit_cost"], found["five_plus_unit_cost"], found["ten_plus_unit_cost"]


def contract(
    customer: Customer, sku: str, single: Any, valid_from: Any = None, valid_until: Any = None
) -> dict[str, Any]:
    dates = {"valid_from": valid_from, "valid_until": valid_until}
    return {"customer_id": customer.id, "sku": sku, "single_unit_cost": single, **dates}


@pytest.mark.sweep(every=3)
@pytest.mark.spec("2 Product", "costs are net, by the account's pricing, for one, five and ten units")
@pytest.mark.parametrize(
    ("price_list", "discount", "expected"),
    [
        (None, 0, {"ALL": (100, 90, 80), "GOLD": None, "PLAIN": (7.77, 7.77, 7.77), "NONE": None}),
        ("default", 0, {"ALL": (100, 90, 80), "GOLD": None, "PLAIN": (7.77, 7.77, 7.77), "NONE": None}),
        ("gold", 0, {"ALL": (60, 60, 50), "GOLD": (5, 4, 4), "PLAIN": (7.77, 7.77, 7.77), "NONE": None}),
        ("gold", 10, {"ALL": (54, 54, 45), "GOLD": (4.5, 3.6, 3.6), "PLAIN": (6.99, 6.99, 6.99), "NONE": None}),
        (None, "0.01", {"ALL": (99.99, 89.99, 79.99), "PLAIN": (7.77, 7.77, 7.77)}),
        (None, "0.07", {"PLAIN": (7.76, 7.76, 7.76)}),
        (None, 50, {"PLAIN": (3.89, 3.89, 3.89)}),  # 3.885, rounded half up
        (None, 100, {"ALL": (0, 0, 0), "NONE": None}),
    ],
)
def test_the_price_is_from_the_price_list_or_the_default_less_the_discount(
    service: Service, price_list: str | None, discount: Any, expected: dict[str, Any]
) -> None:
    customer = service.customer(price_list=price_list, discount=discount)
    assert {sku: costs(customer, sku) for sku in expected} == expected


@pytest.mark.parametrize(
    ("from_day", "until_day", "holds"),
    [
        (None, None, True),
        (0, 0, True),
        (None, 0, True),
        (0, None, True),
        (-1, 1, True),
        (None, -1, False),
        (1, None, False),
        (-9, -1, False),
    ],
)
def test_a_contract_price_applies_from_its_first_to_its_last_day(
    service: Service, from_day: int | None, until_day: int | None, *, holds: bool
) -> None:
    customer = service.customer(price_list="gold", discount=10)
    first, last = (None if day is None else TODAY + timedelta(days=day) for day in (from_day, until_day))
    service.must_load("contract-prices", [contract(customer, "ALL", "1.23", first, last)])
    assert costs(customer, "ALL") == ((1.23, 1.23, 1.23) if holds else (54, 54, 45))
    assert costs(customer, "GOLD") == (4.5, 3.6, 3.6)


def test_the_contract_price_with_the_latest_first_day_applies(service: Service) -> None:
    customer = service.customer()
    rows = [
        contract(customer, "ALL", 3, TODAY - timedelta(days=3), TODAY + timedelta(days=300)),
        contract(customer, "ALL", 1, TODAY - timedelta(days=1), TODAY + timedelta(days=1)),
        contract(customer, "ALL", 2, TODAY - timedelta(days=2)),
        contract(customer, "ALL", 9, None, None),
        contract(customer, "ALL", 8, TODAY + timedelta(days=1)),
    ]
    service.must_load("contract-prices", rows)
    assert costs(customer, "ALL") == (1, 1, 1)


def test_a_contract_price_has_no_discount_and_fills_its_own_breaks(service: Service) -> None:
    customer = service.customer(discount=50)
    service.must_load(
        "contract-prices",
        [
            {**contract(customer, "ALL", 10), "five_plus_unit_cost": 9},
            {**contract(customer, "NONE", 20), "ten_plus_unit_cost": 0},
        ],
    )
    assert costs(customer, "ALL") == (10, 9, 9)
    assert costs(customer, "NONE") == (20, 20, 0)


def test_a_contract_price_applies_to_its_customer_only(service: Service) -> None:
    customer, other = service.customer(), service.customer()
    service.must_load("contract-prices", [contract(customer, "NONE", 5), contract(customer, "ALL", 6)])
    assert (costs(customer, "NONE"), costs(customer, "ALL")) == ((5, 5, 5), (6, 6, 6))
    assert (costs(other, "NONE"), costs(other, "ALL")) == (None, (100, 90, 80))


@pytest.mark.parametrize(
    ("moment", "cost"),
    [
        (datetime(2026, 6, 16, 22, 59, 59, tzinfo=UTC), 5),
        (datetime(2026, 6, 16, 23, 0, 0, tzinfo=UTC), 6),  # midnight in the UK, in summer
        (datetime(2026, 6, 17, 22, 59, 59, tzinfo=UTC), 6),
        (datetime(2026, 6, 17, 23, 0, 0, tzinfo=UTC), 100),
        (datetime(2026, 6, 15, 22, 59, 59, tzinfo=UTC), 100),
        (datetime(2026, 6, 15, 23, 0, 0, tzinfo=UTC), 5),
    ],
)
def test_a_contract_price_begins_and_ends_at_midnight_in_the_uk(service: Service, moment: datetime, cost: int) -> None:
    customer = service.customer()
    tomorrow = TODAY + timedelta(days=1)
    service.must_load(
        "contract-prices",
        [contract(customer, "ALL", 5, TODAY, TODAY), contract(customer, "ALL", 6, tomorrow, tomorrow)],
    )
    service.clock.set(moment)
    found = costs(customer, "ALL")
    assert found is not None
    assert found[0] == cost


def test_sorting_by_price_follows_the_customers_own_prices(service: Service) -> None:
    customer = service.customer(price_list="gold")
    assert [p["sku"] for p in customer.get("/product?sort=price").json()] == ["GOLD", "PLAIN", "ALL"]
    service.must_load("contract-prices", [contract(customer, "ALL", 1), contract(customer, "NONE", "7.77")])
    assert [p["sku"] for p in customer.get("/product?sort=price").json()] == ["ALL", "GOLD", "NONE", "PLAIN"]


@pytest.mark.spec("8 Price and stock cache", "changes show once the server has noticed, which is within five minutes")
def test_imported_prices_appear_after_the_next_poll(own_shop: Service) -> None:
    customer, agreed = own_shop.customer(), own_shop.customer()
    own_shop.must_load("products", [product("FRESH")])
    assert (costs(customer, "FRESH"), costs(agreed, "FRESH")) == (None, None)
    own_shop.must_load("price-list", [price("FRESH", 10, 9)])
    assert (costs(customer, "FRESH"), costs(agreed, "FRESH")) == ((10, 9, 9), (10, 9, 9))
    own_shop.must_load("price-list", [price("FRESH", 11)])
    assert costs(customer, "FRESH") == (11, 11, 11)
    own_shop.must_load("price-list", [price("FRESH", 8, None, 7, price_list="fresh")])
    assert costs(own_shop.customer(price_list="fresh"), "FRESH") == (8, 8, 7)
    own_shop.must_load("contract-prices", [contract(agreed, "FRESH", 2)])
    assert (costs(customer, "FRESH"), costs(agreed, "FRESH")) == ((11, 11, 11), (2, 2, 2))
    own_shop.must_load("contract-prices", [contract(agreed, "PHONE", 3)], replace=True)
    assert (costs(agreed, "FRESH"), costs(agreed, "PHONE")) == ((11, 11, 11), (3, 3, 3))
