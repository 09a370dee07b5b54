"""Every fault of a row is reported, whatever finds it: the reader, the rules, or the database."""

from typing import Any

import pytest

from support.importing import Importer

ADDRESS = {"contact_name": "Ada", "street_one": "1 Road", "city": "Leeds", "zip": "LS1", "country_code": "GB"}


@pytest.fixture(scope="module")
def shop(importer: Importer) -> Importer:
    importer.load("products", [{"sku": "PHONE", "name": "Phone", "manufacturer": "acme"}])
    return importer


def faults(shop: Importer, kind: str, row: dict[str, Any], form: str = ".jsonl") -> set[str]:
    """What is reported of the only row of a file."""
    before = shop.content()
    report = shop.load(kind, [row], form)
    assert shop.content() == before
    assert len({error.line for error in report.errors}) == 1
    found = [error.message for error in report.errors]
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("form", [".jsonl", ".json", ".csv"])
def test_a_price_may_have_a_fault_in_every_cell(form: str, shop: Importer) -> None:
    row = {
        "price_list": "default",
        "sku": "GONE",
        "single_unit_cost": "-1",
        "five_plus_unit_cost": "cheap",
        "ten_plus_unit_cost": "1.005",
    }
    assert faults(shop, "price-list", row, form) == {
        'sku: product "GONE" does not exist',
        "single_unit_cost: must be a number between 0 and 1000000",
        "five_plus_unit_cost: must be a number",
        "ten_plus_unit_cost: 1.005 has more than two decimal places",
    }


@pytest.mark.parametrize("form", [".jsonl", ".csv"])
def test_a_new_product_may_lack_and_have_wrong_what_it_needs(form: str, shop: Importer) -> None:
    row = {"sku": "NEW", "manufacturer": "nobody", "weight_kg": "-1", "categories": ["none", "no"], "ean": "1" * 21}
    assert faults(shop, "products", row, form) == {
        "name: is required for a new product",
        'manufacturer: manufacturer "nobody" does not exist',
        "weight_kg: must be a number between 0 and 1000000",
        'categories: category "none" does not exist',
        'categories: category "no" does not exist',
        "ean: must have at most 20 characters",
    }


def test_a_field_that_is_at_fault_is_not_reported_as_missing_too(shop: Importer) -> None:
    row = {"sku": "NEW", "name": 5, "manufacturer": ["acme"]}
    assert faults(shop, "products", row) == {
        "name: must be text, not a whole number",
        "manufacturer: must be text, not a list",
    }


def test_a_row_without_its_key_still_has_its_other_faults_reported(shop: Importer) -> None:
    row = {"available": -1, "stock": 5, "bin": "A"}
    assert faults(shop, "stock", row) == {
        "sku: is required",
        "available: must be at least 0",
        "stock: is not a known field",
        "bin: is not a known field",
    }


def test_a_delivery_with_a_bad_date_has_its_sku_looked_up_all_the_same(shop: Importer) -> None:
    row = {"sku": "GONE", "incoming": 0, "expected_on": "soon"}
    assert faults(shop, "incoming", row) == {
        'sku: product "GONE" does not exist',
        "incoming: must be at least 1",
        "expected_on: 'soon' is neither a date (YYYY-MM-DD) nor a time (YYYY-MM-DDTHH:MM:SS)",
    }


def test_a_contract_price_has_its_customer_and_both_dates_looked_at(shop: Importer) -> None:
    row = {
        "customer_id": 999,
        "sku": "GONE",
        "single_unit_cost": 1,
        "valid_from": "1999-01-01",
        "valid_until": "1998-01-01",
    }
    day = "must be a date from 2000-01-01 to 2100-12-31; leave out an unknown date"
    assert faults(shop, "contract-prices", row) == {
        "customer_id: customer 999 does not exist",
        'sku: product "GONE" does not exist',
        f"valid_from: {day}",
        f"valid_until: {day}",
        "valid_until: is before valid_from",
    }


def test_faults_within_lists_and_objects_are_each_named_by_their_place(shop: Importer) -> None:
    row = {
        "email_address": "a@a.example",
        "first_name": "A",
        "last_name": "B",
        "discount": 101,
        "price_list": "none",
        "addresses": [
            {**ADDRESS, "city": 5, "zip": "Z" * 21},
            {"street_one": "1 Road", "city": "Leeds", "zip": "LS1", "country_code": "GBR"},
        ],
    }
    assert faults(shop, "customers", row) == {
        "discount: must be a number between 0 and 100",
        'price_list: price list "none" does not exist',
        "addresses[0].city: must be text, not a whole number",
        "addresses[0].zip: must have at most 20 characters",
        "addresses[1].contact_name: is required",
        "addresses[1].country_code: must have at most 2 characters",
    }


def test_every_address_and_country_that_is_no_good_is_named(shop: Importer) -> None:
    addresses = [{**ADDRESS, "country_code": "UK"}, ADDRESS, {**ADDRESS, "city": " "}]
    row = {"email_address": "a@a.example", "first_name": "A", "last_name": "B", "addresses": addresses}
    hint = "is not an ISO 3166-1 alpha-2 country code; use GB"
    assert faults(shop, "customers", row) == {
        f"addresses[0].country_code: 'UK' {hint}",
        "addresses[2].city: must not be blank",
    }
    region = {"id": 9, "name": "R", "countries": ["GB", "UK", "EN"], "postcodes": ["BT", "1", "KW15", "2"]}
    assert faults(shop, "shipping-regions", region) == {
        f"countries[1]: 'UK' {hint}",
        f"countries[2]: 'EN' {hint}",
        "postcodes[1]: '1' is neither an area (BT) nor a district (KW15)",
        "postcodes[3]: '2' is neither an area (BT) nor a district (KW15)",
    }


def test_every_cell_that_cannot_be_read_is_named(shop: Importer) -> None:
    text = "sku,images,attributes,clearance_product,weight_kg\nPHONE,[{],{,maybe,#N/A\n"
    report = shop.load_text("products", text)
    fields = [error.message.partition(":")[0] for error in report.errors]
    assert sorted(fields) == ["attributes", "clearance_product", "images", "weight_kg"]
    assert {error.line for error in report.errors} == {2}
