"""A replacing file that lacks more than a fifth of the stored rows needs confirmation."""

from typing import Any

import pytest

from support.importing import Importer, counts
from tradecounter.kit.errors import DomainError


@pytest.fixture(scope="module")
def shop(importer: Importer) -> Importer:
    importer.load("products", PRODUCTS)
    importer.load("customers", [{"email_address": "a@a.example", "first_name": "A", "last_name": "B"}])
    return importer


SKUS = [f"S{number:02}" for number in range(20)]
PRODUCTS = [{"sku": sku, "name": sku, "manufacturer": "acme"} for sku in SKUS]
METHOD = {"provider": "P", "region": 1, "countries": ["GB"], "max_weight_kg": 30, "base_cost_net": 5}

ROWS: dict[str, list[dict[str, Any]]] = {
    "categories": [{"key": key, "name": key} for key in SKUS],
    "manufacturers": [{"key": key, "name": key} for key in SKUS],
    "attributes": [{"key": key, "name": key, "type": "int"} for key in SKUS],
    "products": PRODUCTS,
    "price-list": [{"price_list": "p", "sku": sku, "single_unit_cost": 1} for sku in SKUS],
    "stock": [{"sku": sku, "available": 1} for sku in SKUS],
    "incoming": [{"sku": sku, "incoming": 1, "expected_on": "2026-12-01"} for sku in SKUS],
    "shipping-regions": [{"id": number, "name": "R"} for number in range(1, 21)],
    "shipping-methods": [{"id": number, **METHOD} for number in range(1, 21)],
    "contract-prices": [{"customer_id": 1001, "sku": sku, "single_unit_cost": 1} for sku in SKUS],
}


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("kind", ROWS)
def test_more_than_a_fifth_is_rejected_unless_confirmed_and_a_fifth_is_not(kind: str, shop: Importer) -> None:
    rows = ROWS[kind]
    shop.load(kind, rows, replace=True)
    before = shop.content()
    with pytest.raises(DomainError, match=r"replacing would deactivate 5 of 20, more than a fifth: .* --yes"):
        shop.load(kind, rows[5:], replace=True, confirmed=False)
    assert shop.content() == before
    assert counts(shop.load(kind, rows[4:], replace=True, confirmed=False)) == (0, 0, 16, 4)
    # Of the sixteen that are left, three may go.
    with pytest.raises(DomainError, match="deactivate 4 of 16"):
        shop.load(kind, rows[8:], replace=True, confirmed=False)
    assert counts(shop.load(kind, rows[8:], replace=True)) == (0, 0, 12, 4)
    shop.load(kind, rows, replace=True)


def test_a_dry_run_only_warns(shop: Importer) -> None:
    shop.load("stock", ROWS["stock"], replace=True)
    report = shop.load("stock", ROWS["stock"][:1], replace=True, confirmed=False, dry_run=True)
    assert counts(report) == (0, 0, 1, 19)
    assert [(warning.line, warning.message) for warning in report.warnings] == [
        (None, "replacing would deactivate 19 of 20, more than a fifth: this requires --yes")
    ]


def test_only_the_price_lists_of_the_file_count(shop: Importer) -> None:
    shop.load("price-list", [{**row, "price_list": "other"} for row in ROWS["price-list"]])
    shop.load("price-list", ROWS["price-list"], replace=True)
    with pytest.raises(DomainError, match="deactivate 5 of 20"):
        shop.load("price-list", ROWS["price-list"][5:], replace=True, confirmed=False)


def test_bad_rows_are_reported_before_anything_has_to_be_confirmed(shop: Importer) -> None:
    report = shop.load("stock", [{"sku": "GONE", "available": 1}], replace=True, confirmed=False)
    assert [error.message for error in report.errors] == ['sku: product "GONE" does not exist']


def test_a_file_that_does_not_replace_needs_no_confirmation(shop: Importer) -> None:
    shop.load("stock", ROWS["stock"], replace=True)
    assert counts(shop.load("stock", ROWS["stock"][:1], confirmed=False)) == (0, 0, 1, 0)


@pytest.mark.parametrize("kind", ["price-list", "contract-prices"])
def test_prices_that_rise_with_the_quantity_are_warned_of(kind: str, shop: Importer) -> None:
    key = {"price_list": "rising"} if kind == "price-list" else {"customer_id": 1001, "valid_from": "2027-01-01"}
    costs = [(10, 10, 10), (10, 11, 12), (10, 9, "9.01"), (10, None, 11), (10, 9, None)]
    rows = [
        {**key, "sku": sku, "single_unit_cost": single, "five_plus_unit_cost": five, "ten_plus_unit_cost": ten}
        for sku, (single, five, ten) in zip(SKUS, costs, strict=False)
    ]
    report = shop.load(kind, rows)
    assert counts(report) == (5, 0, 0, 0)
    assert [(warning.line, warning.message) for warning in report.warnings] == [
        (2, f"five_plus_unit_cost: £11.00 is more than £10.00, the price of fewer units (sku {SKUS[1]})"),
        (2, f"ten_plus_unit_cost: £12.00 is more than £11.00, the price of fewer units (sku {SKUS[1]})"),
        (3, f"ten_plus_unit_cost: £9.01 is more than £9.00, the price of fewer units (sku {SKUS[2]})"),
        (4, f"ten_plus_unit_cost: £11.00 is more than £10.00, the price of fewer units (sku {SKUS[3]})"),
    ]


def test_a_region_that_takes_all_of_britain_beside_its_postcodes_is_warned_of(shop: Importer) -> None:
    rows = [
        {"id": 30, "name": "Northern Ireland", "countries": ["GB"], "postcodes": ["BT"]},
        {"id": 31, "name": "Isle of Man", "countries": ["IM"], "postcodes": ["IM"]},
        {"id": 1, "name": "Mainland", "countries": ["GB"], "postcodes": ["LS"]},
    ]
    report = shop.load("shipping-regions", rows)
    assert [(warning.line, warning.message) for warning in report.warnings] == [
        (1, "countries: GB puts all of Britain in this region, not only its postcodes")
    ]


def test_a_customers_default_method_that_does_not_exist_is_warned_of(shop: Importer) -> None:
    person = {"email_address": "a@a.example", "shipping_method": 999}
    report = shop.load("customers", [person])
    assert counts(report) == (0, 1, 0, 0)
    assert [(warning.line, warning.message) for warning in report.warnings] == [
        (1, "shipping_method: shipping method 999 does not exist")
    ]
