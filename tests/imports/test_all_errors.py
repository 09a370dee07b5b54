"""All errors of a row are reported: those of the reader, of the rules and of the database."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from support.importing import Importer
from tradecounter.bulk.rows import Row
from tradecounter.imports.from_forms import import_rows
from tradecounter.kit.errors import DomainError
from tradecounter.products.import_rows import ProductRow

pytestmark = pytest.mark.sweep(every=3)

ADDRESS = {"contact_name": "Ada", "street_one": "1 Road", "city": "Leeds", "zip": "LS1", "country_code": "GB"}


@pytest.fixture(scope="module")
def shop(importer: Importer) -> Importer:
    importer.load("products", [{"sku": "PHONE", "name": "Phone", "manufacturer": "acme"}])
    return importer


def errors_of(shop: Importer, kind: str, row: dict[str, Any], form: str = ".jsonl") -> set[str]:
    """What is reported of the only row of a file."""
    before = shop.content()
    report = shop.load(kind, [row], form)
    assert shop.content() == before
    assert len({error.line for error in report.errors}) == 1
    found = [error.message for error in report.errors]
    assert len(found) == len(set(found))
    return set(found)


@pytest.mark.parametrize("form", [".jsonl", ".json", ".csv"])
def test_errors_in_all_cells_of_a_price_are_reported(form: str, shop: Importer) -> None:
    row = {
        "price_list": "default",
        "sku": "GONE",
        "single_unit_cost": "-1",
        "five_plus_unit_cost": "cheap",
        "ten_plus_unit_cost": "1.005",
    }
    in_cells = {
        "single_unit_cost: '-1' has a sign, which has no meaning here: leave it out",
        "five_plus_unit_cost: 'cheap' is not an amount in pounds and pence such as 1234.50",
    }
    in_json = {
        "single_unit_cost: must be a number between 0 and 1000000, not -1",
        "five_plus_unit_cost: 'cheap' is not a number such as 1234.5",
    }
    in_both = {"ten_plus_unit_cost: '1.005' has more than 2 decimal places"}
    assert errors_of(shop, "price-list", row, form) == {
        'sku: product "GONE" does not exist',
        *(f"{error} (sku GONE)" for error in in_both | (in_cells if form == ".csv" else in_json)),
    }


@pytest.mark.parametrize("form", [".jsonl", ".csv"])
def test_missing_and_invalid_fields_of_a_new_product_are_reported(form: str, shop: Importer) -> None:
    row = {
        "sku": "NEW",
        "manufacturer": "nobody",
        "weight_kg": "1000001",
        "categories": ["none", "no"],
        "ean": "5.90123E+12",
    }
    assert errors_of(shop, "products", row, form) == {
        "name: is required for a new product",
        'manufacturer: manufacturer "nobody" does not exist',
        "weight_kg: must be a number between 0 and 1000000, not 1000001",
        'categories: category "none" does not exist',
        'categories: category "no" does not exist',
        "ean: '5.90123E+12' has lost its last digits: format the column as text, then export the file again",
    }


def test_an_invalid_field_is_not_also_reported_as_missing(shop: Importer) -> None:
    row = {"sku": "NEW", "name": 5, "manufacturer": ["acme"]}
    assert errors_of(shop, "products", row) == {
        "name: must be text, not a whole number",
        "manufacturer: must be text, not a list",
    }


def test_other_errors_of_a_row_without_a_key_are_reported(shop: Importer) -> None:
    row = {"available": -1, "stock": 5, "bin": "A"}
    assert errors_of(shop, "stock", row) == {
        "sku: is required",
        "available: must be at least 0",
        "stock: is not a known field",
        "bin: is not a known field",
    }


def test_the_sku_of_a_delivery_with_an_invalid_date_is_checked(shop: Importer) -> None:
    row = {"sku": "GONE", "incoming": 0, "expected_on": "soon"}
    assert errors_of(shop, "incoming", row) == {
        'sku: product "GONE" does not exist',
        "incoming: must be at least 1",
        "expected_on: 'soon' is neither a date (YYYY-MM-DD) nor a time (YYYY-MM-DDTHH:MM:SS)",
    }


def test_customer_and_dates_of_a_contract_price_are_checked(shop: Importer) -> None:
    row = {
        "customer_id": 999,
        "sku": "GONE",
        "single_unit_cost": 1,
        "valid_from": "1999-01-01",
        "valid_until": "1998-01-01",
    }
    day = "must be a date from 2000-01-01 to 2100-12-31, not"
    assert errors_of(shop, "contract-prices", row) == {
        "customer_id: customer 999 does not exist (sku GONE)",
        'sku: product "GONE" does not exist',
        f"valid_from: {day} 1999-01-01; leave out an unknown date (sku GONE)",
        f"valid_until: {day} 1998-01-01; leave out an unknown date (sku GONE)",
        "valid_until: 1998-01-01 is before valid_from, 1999-01-01 (sku GONE)",
    }


def test_errors_in_lists_and_objects_are_reported_with_their_place(shop: Importer) -> None:
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
    assert errors_of(shop, "customers", row) == {
        "discount: must be a number between 0 and 100, not 101",
        'price_list: price list "none" does not exist',
        "addresses[0].city: must be text, not a whole number",
        "addresses[0].zip: must have at most 20 characters",
        "addresses[1].contact_name: is required",
        "addresses[1].country_code: must have at most 2 characters",
    }


def test_every_invalid_address_and_country_is_reported(shop: Importer) -> None:
    addresses = [{**ADDRESS, "country_code": "UK"}, ADDRESS, {**ADDRESS, "city": " "}]
    row = {"email_address": "a@a.example", "first_name": "A", "last_name": "B", "addresses": addresses}
    hint = "is not an ISO 3166-1 alpha-2 country code; use GB"
    assert errors_of(shop, "customers", row) == {
        f"addresses[0].country_code: 'UK' {hint}",
        "addresses[2].city: must not be blank",
    }
    region = {"id": 9, "name": "R", "countries": ["GB", "UK", "EN"], "postcodes": ["BT", "1", "KW15", "2"]}
    assert errors_of(shop, "shipping-regions", region) == {
        f"countries[1]: 'UK' {hint}",
        f"countries[2]: 'EN' {hint}",
        "postcodes[1]: '1' is neither an area (BT) nor a district (KW15)",
        "postcodes[3]: '2' is neither an area (BT) nor a district (KW15)",
    }


def test_every_unreadable_cell_is_reported(shop: Importer) -> None:
    text = "sku,images,attributes,clearance_product,weight_kg\nPHONE,[{],{,maybe,#N/A\n"
    report = shop.load_text("products", text)
    fields = [error.message.partition(":")[0] for error in report.errors]
    assert sorted(fields) == ["attributes", "clearance_product", "images", "weight_kg"]
    assert {error.line for error in report.errors} == {2}


def test_a_form_gets_the_field_of_an_error_and_what_is_wrong_with_it(importer: Importer) -> None:
    row = Row(1, ProductRow(sku="NAMED", name="Named", manufacturer="Foo (sku 1): Ltd"))
    with pytest.raises(DomainError) as error:
        importer.change_by(partial(import_rows, kind="products", rows=[row], now=datetime.now(UTC), force=False))
    [found] = error.value.field_errors
    assert (found.field, found.message) == ("manufacturer", 'manufacturer "Foo (sku 1): Ltd" does not exist')
