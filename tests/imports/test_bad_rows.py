"""Bad rows: each is reported with its line and what is wrong, and nothing of the file is imported."""

import json
from dataclasses import dataclass
from typing import Any

import pytest

from support.importing import Importer
from tradecounter.bulk.encodings import UnreadableFileError

ADDRESS = {"contact_name": "Ada", "street_one": "1 Road", "city": "Leeds", "zip": "LS1", "country_code": "GB"}
METHOD = {"id": 9, "provider": "P", "region": 1, "countries": ["GB"], "max_weight_kg": 30, "base_cost_net": 5}
PERSON = {"email_address": "a@a.example", "first_name": "A", "last_name": "B"}


@dataclass(frozen=True)
class Bad:
    """A kind of file, a row of it, and how the reason for rejecting the row starts."""

    kind: str
    row: Any
    reason: str


def product(**values: Any) -> dict[str, Any]:
    return {"sku": "NEW", "name": "New", "manufacturer": "acme", **values}


def price(**values: Any) -> dict[str, Any]:
    return {"price_list": "gold", "sku": "PHONE", "single_unit_cost": 1, **values}


def contract(**values: Any) -> dict[str, Any]:
    return {"customer_id": 1001, "sku": "PHONE", "single_unit_cost": 1, **values}


BAD_ROWS = [
    # What no kind takes.
    Bad("manufacturers", {"key": "a", "name": "A", "colour": "red"}, "colour: is not a known field"),
    Bad("manufacturers", {"key": "a"}, "name: is required"),
    Bad("manufacturers", {"key": "", "name": "A"}, "key: must not be empty"),
    Bad("manufacturers", {"key": 5, "name": "A"}, "key: must be text, not a whole number"),
    Bad("manufacturers", {"key": "k" * 201, "name": "A"}, "key: must have at most 200 characters"),
    Bad("manufacturers", {"key": "a", "name": "A\x00"}, "contains a NUL character"),
    Bad("manufacturers", ["a", "A"], "the row must be an object, not a list"),
    Bad("categories", {"key": "a\x00", "name": "A"}, "key: 'a\\x00' has the invisible character U+0000"),
    # Categories and attributes.
    Bad(
        "categories",
        {"key": "a", "name": "A", "children": [{"key": "b", "name": "B", "children": [{"key": "c", "name": "C"}]}]},
        "children[0].children: a category is at most two levels deep",
    ),
    Bad("categories", {"key": "a", "name": "A", "children": [{"key": "b"}]}, "children[0].name: is required"),
    Bad(
        "categories",
        {"key": "a", "name": "A", "children": [{"key": "phones", "name": "P"}]},
        "children: desk cannot be below phones, which is below a",
    ),
    Bad("categories", {"key": "a", "name": "A", "children": [{"key": "a", "name": "A"}]}, "repeats line 1"),
    Bad("attributes", {"key": "a", "name": "A", "type": "float"}, "type: 'float' is not one of boolean, string, int"),
    # Products.
    Bad("products", {"name": "New", "manufacturer": "acme"}, "sku: is required"),
    Bad("products", product(sku=""), "sku: must not be empty"),
    Bad("products", {"sku": "NEW", "manufacturer": "acme"}, "name: is required for a new product"),
    Bad("products", {"sku": "NEW", "name": "New"}, "manufacturer: is required for a new product"),
    Bad("products", product(name=None), "name: must be text"),
    Bad("products", product(manufacturer="nobody"), 'manufacturer: manufacturer "nobody" does not exist'),
    Bad("products", product(categories=["desk", "none"]), 'categories: category "none" does not exist'),
    Bad("products", product(related_products=["PHONE", "GONE"]), 'related_products: product "GONE" does not exist'),
    Bad("products", product(similar_products=["GONE"]), 'similar_products: product "GONE" does not exist'),
    Bad("products", product(weight_kg=-1), "weight_kg: must be a number between 0 and 1000000"),
    Bad("products", product(weight_kg="NaN"), "weight_kg: 'NaN' is not a number"),
    Bad("products", product(weight_kg="Infinity"), "weight_kg: 'Infinity' is not a number"),
    Bad("products", product(weight_kg="heavy"), "weight_kg: 'heavy' is not a number"),
    Bad("products", product(box_width_mm="1e999999999999999999"), "box_width_mm: '1e9999"),
    Bad("products", product(box_length_mm=1e7), "box_length_mm: must be a number between 0 and 1000000"),
    Bad("products", product(consumer_unit_cost=-0.01), "consumer_unit_cost: must be a number between 0 and 1000000"),
    Bad("products", product(consumer_unit_cost="9.999"), "consumer_unit_cost: '9.999' has more than 2 decimal"),
    Bad("products", product(clearance_product="maybe"), "clearance_product: must be true or false, not text"),
    Bad("products", product(images=[{"url": "x"}]), "images[0].is_primary: is required"),
    Bad("products", product(attributes={"ports": 8}), "attributes[...]: must be text, not a whole number"),
    Bad("products", product(description="d" * 100_001), "description: must have at most 100000 characters"),
    # Stock and deliveries.
    Bad("stock", {"sku": "GONE", "available": 1}, 'sku: product "GONE" does not exist'),
    Bad("stock", {"sku": "PHONE"}, "available: is required"),
    Bad("stock", {"sku": "PHONE", "available": -1}, "available: must be at least 0"),
    Bad("stock", {"sku": "PHONE", "available": 1.5}, "available: must be a whole number"),
    Bad("stock", {"sku": "PHONE", "available": 10**9 + 1}, "available: must be at most 1000000000"),
    Bad("stock", {"sku": "PHONE", "available": 10**30}, "available: must be"),
    Bad("incoming", {"sku": "GONE", "incoming": 1, "expected_on": "2026-07-01"}, 'sku: product "GONE" does not exist'),
    Bad("incoming", {"sku": "PHONE", "incoming": 0, "expected_on": "2026-07-01"}, "incoming: must be at least 1"),
    *(
        Bad("incoming", {"sku": "PHONE", "incoming": 1, "expected_on": day}, "expected_on: must be a date from 2000")
        for day in ("9999-12-31", "0001-01-01", "1999-12-31T23:59:59", "2101-01-01")
    ),
    Bad("contract-prices", contract(valid_until="9999-12-31"), "valid_until: must be a date from 2000"),
    *(
        Bad(
            "incoming", {"sku": "PHONE", "incoming": 1, "expected_on": text}, f"expected_on: {text!r} is neither a date"
        )
        for text in (
            "",
            "soon",
            "2026-7-1",
            "01/07/2026",
            "2026-07-01T25:00:00",
            "2026-07-01 10:00:00",
            "2026-07-01T10:00:00Z",
            "2026-07-01T10:00",
            "0001-01-01T00:00:00Z",
            "٢٠٢٦-07-01",
        )
    ),
    Bad("incoming", {"sku": "PHONE", "incoming": 1, "expected_on": "2026-02-30"}, "expected_on: February 2026 has 28"),
    # Prices.
    Bad("price-list", price(sku="GONE"), 'sku: product "GONE" does not exist'),
    Bad("price-list", {"price_list": "gold", "sku": "PHONE"}, "single_unit_cost: is required"),
    Bad("price-list", price(price_list=""), "price_list: must not be empty"),
    Bad("price-list", price(single_unit_cost=-0.01), "single_unit_cost: must be a number between 0 and 1000000"),
    Bad("price-list", price(five_plus_unit_cost=1_000_000.01), "five_plus_unit_cost: must be a number between 0 and"),
    Bad("price-list", price(ten_plus_unit_cost="cheap"), "ten_plus_unit_cost: 'cheap' is not a number"),
    Bad("price-list", price(single_unit_cost="1.005"), "single_unit_cost: '1.005' has more than 2 decimal"),
    Bad("price-list", price(single_unit_cost="1E-99999"), "single_unit_cost: '1E-99999' is not a number"),
    Bad("contract-prices", contract(five_plus_unit_cost=0.994), "five_plus_unit_cost: '0.994' has more than 2 decimal"),
    Bad("contract-prices", contract(customer_id=999), "customer_id: customer 999 does not exist"),
    Bad("contract-prices", contract(customer_id=0), "customer_id: must be at least 1"),
    Bad("contract-prices", contract(customer_id=2**70), "customer_id: must be"),
    Bad("contract-prices", contract(sku="GONE"), 'sku: product "GONE" does not exist'),
    Bad("contract-prices", contract(valid_from="2026-02-30"), "valid_from: February 2026 has 28 days"),
    Bad("contract-prices", contract(valid_until="tomorrow"), "valid_until: must be a date (YYYY-MM-DD)"),
    Bad(
        "contract-prices",
        contract(valid_from="2026-02-02", valid_until="2026-02-01"),
        "valid_until: 2026-02-01 is before valid_from",
    ),
    # Shipping methods.
    Bad("shipping-methods", {"id": 9}, "base_cost_net: is required for a new shipping method"),
    Bad("shipping-methods", {**METHOD, "id": 0}, "id: must be at least 1"),
    Bad("shipping-methods", {**METHOD, "id": 2**31}, "id: must be at most 2147483647"),
    Bad("shipping-methods", {**METHOD, "countries": []}, "countries: must have at least 1 element"),
    Bad("shipping-methods", {**METHOD, "countries": ["GB", "UK"]}, "countries[1]: 'UK' is not an ISO 3166-1"),
    Bad("shipping-methods", {**METHOD, "max_weight_kg": -1}, "max_weight_kg: must be a number between 0 and"),
    Bad("shipping-methods", {**METHOD, "cost_per_kg_net": "much"}, "cost_per_kg_net: 'much' is not a number"),
    Bad("shipping-methods", {**METHOD, "base_cost_net": "5.005"}, "base_cost_net: '5.005' has more than 2 decimal"),
    Bad("shipping-methods", {**METHOD, "transit_days": 366}, "transit_days: must be at most 365"),
    *(
        Bad("shipping-methods", {**METHOD, "cut_off": text}, "cut_off: must be a time (HH:MM)")
        for text in ("24:00", "9:00", "17:60", "17:30:00", "17:30\n", "\N{ARABIC-INDIC DIGIT ONE}7:30")
    ),
    # Shipping regions.
    Bad("shipping-regions", {"id": 9}, "name: is required for a new shipping region"),
    Bad("shipping-regions", {"id": 9, "name": "R", "countries": ["UK"]}, "countries[0]: 'UK' is not an ISO 3166-1"),
    *(
        Bad("shipping-regions", {"id": 9, "name": "R", "postcodes": ["BT", text]}, f"postcodes[1]: {text!r} is neither")
        for text in ("BT1 1AA", "BTX", "1", "", "BT1-5", "Belfast", "BT100")
    ),
    # Customers.
    Bad("customers", {"email_address": "a@a.example", "last_name": "B"}, "first_name: is required for a new customer"),
    Bad("customers", {**PERSON, "first_name": ""}, "first_name: must not be empty"),
    Bad("customers", {**PERSON, "last_name": " "}, "last_name: must have 1 to 200 characters"),
    Bad("customers", {**PERSON, "email_address": "a@b>"}, "email_address: must be an e-mail address"),
    Bad("customers", {**PERSON, "accounts_email": f"a@{'ü' * 60}.uk"}, "accounts_email: must be an e-mail address"),
    Bad("customers", {**PERSON, "email_address": "nobody"}, "email_address: must be an e-mail address"),
    Bad("customers", {**PERSON, "email_address": "a@a.example\n"}, "email_address: must be an e-mail address"),
    Bad("customers", {**PERSON, "price_list": "platinum"}, 'price_list: price list "platinum" does not exist'),
    Bad("customers", {**PERSON, "discount": 100.01}, "discount: must be a number between 0 and 100"),
    Bad("customers", {**PERSON, "discount": 2.555}, "discount: '2.555' has more than 2 decimal"),
    Bad("customers", {**PERSON, "discount": -1}, "discount: must be a number between 0 and 100"),
    Bad("customers", {**PERSON, "credit_limit": 100}, "credit_limit and term_days go together"),
    Bad("customers", {**PERSON, "term_days": 30}, "credit_limit and term_days go together"),
    Bad("customers", {**PERSON, "credit_limit": 10**12, "term_days": 30}, "credit_limit: must be a number between"),
    Bad("customers", {**PERSON, "packing": "gift"}, "packing: 'gift' is not one of own, plain"),
    Bad("customers", {**PERSON, "addresses": [{**ADDRESS, "country_code": "UK"}]}, "addresses[0].country_code: 'UK'"),
    Bad("customers", {**PERSON, "addresses": [ADDRESS, {**ADDRESS, "zip": " "}]}, "addresses[1].zip: must not be"),
    Bad("customers", {**PERSON, "addresses": [{"city": "Leeds"}]}, "addresses[0].contact_name: is required"),
]


@pytest.fixture(scope="module")
def filled(importer: Importer) -> Importer:
    """A database with a little of what rows may refer to."""
    importer.load(
        "categories", [{"key": "phones", "name": "Phones", "children": [{"key": "desk", "name": "Desk phones"}]}]
    )
    importer.load("products", [{"sku": "PHONE", "name": "Phone", "manufacturer": "acme"}])
    importer.load("customers", [{"email_address": "old@a.example", "first_name": "Old", "last_name": "Customer"}])
    importer.load("price-list", [{"price_list": "gold", "sku": "PHONE", "single_unit_cost": 2}])
    return importer


@pytest.fixture(scope="module")
def content(filled: Importer) -> dict[str, str]:
    return filled.content()


@pytest.mark.sweep(every=6)
@pytest.mark.spec("8 Category depth", "two levels")
@pytest.mark.parametrize("bad", BAD_ROWS, ids=lambda bad: f"{bad.kind}: {bad.reason}"[:60].encode("ascii", "replace"))
def test_a_bad_row_is_rejected_with_its_line_and_its_reason(
    bad: Bad, filled: Importer, content: dict[str, str]
) -> None:
    report = filled.load_text(bad.kind, json.dumps(bad.row), ".jsonl")
    assert report.errors
    assert {error.line for error in report.errors} == {1}
    assert any(error.message.startswith(bad.reason) for error in report.errors), report.errors
    assert (report.added, report.changed, report.unchanged, report.deactivated) == (0, 0, 0, 0)
    assert filled.content() == content


def test_one_bad_row_among_good_ones_rejects_all(filled: Importer, content: dict[str, str]) -> None:
    rows: list[dict[str, str]] = [{"key": f"maker{number}", "name": "Maker"} for number in range(1500)]
    report = filled.load("manufacturers", [*rows, {"key": "bad"}], replace=True)
    assert [(error.line, error.message) for error in report.errors] == [(1501, "name: is required")]
    assert filled.content() == content


def test_every_bad_row_is_reported_in_order(filled: Importer) -> None:
    rows: list[dict[str, Any]] = [
        {"sku": "GONE", "available": 1},
        {"sku": "PHONE", "available": 1},
        {"sku": "PHONE"},
        {"available": "x"},
    ]
    report = filled.load("stock", rows)
    assert [(error.line, error.message) for error in report.errors] == [
        (1, 'sku: product "GONE" does not exist'),
        (3, "available: is required"),
        (3, "repeats line 2"),
        (4, "sku: is required"),
        (4, "available: must be a whole number, not text"),
    ]


def test_very_many_bad_rows_are_all_reported(filled: Importer, content: dict[str, str]) -> None:
    report = filled.load("stock", [{"sku": f"PHONE{number}"} for number in range(1, 1201)])
    assert [error.line for error in report.errors if "required" in error.message] == list(range(1, 1201))
    assert filled.content() == content


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("manufacturers", [{"key": "a", "name": "A"}, {"key": "b", "name": "B"}, {"key": "a", "name": "A"}]),
        ("products", [product(), product(sku="OTHER"), product(sku="new")]),
        ("stock", [{"sku": "PHONE", "available": 1}, {}, {"sku": "phone", "available": 1}]),
        (
            "incoming",
            [
                {"sku": "PHONE", "incoming": 1, "expected_on": "2026-07-01"},
                {"sku": "PHONE", "incoming": 1, "expected_on": "2026-07-02"},
                {"sku": "phone", "incoming": 1, "expected_on": "2026-07-01T00:00:00"},
            ],
        ),
        ("price-list", [price(), price(price_list="silver"), price(sku="Phone")]),
        ("contract-prices", [contract(), contract(valid_from="2026-01-01"), contract(sku="phone", valid_from=None)]),
        ("shipping-methods", [METHOD, {**METHOD, "id": 10}, METHOD]),
        ("shipping-regions", [{"id": 1, "name": "A"}, {"id": 2, "name": "B"}, {"id": 1, "name": "C"}]),
        ("customers", [PERSON, {**PERSON, "email_address": "b@b.example"}, {**PERSON, "email_address": "A@A.example"}]),
    ],
)
def test_a_repeated_key_is_rejected_with_both_lines(
    kind: str, rows: list[dict[str, Any]], filled: Importer, content: dict[str, str]
) -> None:
    report = filled.load(kind, rows)
    named = f" (sku {rows[-1]['sku']})" if kind in {"price-list", "contract-prices"} else ""
    assert (report.errors[-1].line, report.errors[-1].message) == (3, f"repeats line 1{named}")
    assert filled.content() == content


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("sku,available\nPHONE,1\nCABLE\n", 3, "available: is required"),
        ("sku,available\nPHONE,1,2\n", 2, "has 3 cells where the header has 2"),
        ("sku,available\nPHONE,few\n", 2, "available: 'few' is not a whole number"),
        ("sku,available\nPHONE,\n", 2, "available: is required"),
        ("sku,available\n,1\n", 2, "sku: must not be empty"),
        ("sku\nPHONE\n", 1, "there is no column for available"),
        ("sku,available\nPH\x00NE,1\n", 2, "sku: 'PH\\x00NE' has the invisible character U+0000"),
        ("sku,stock\nPHONE,1\n", 1, "column 'stock' is unknown"),
        ("sku,available,sku\nPHONE,1,PHONE\n", 1, "column 'sku' appears twice"),
        ('sku,available\n"PHONE,1\n', 2, "not CSV: unexpected end of data"),
        ('sku,available\n"PHONE"x,1\n', 2, "not CSV: ',' expected after '\"'"),
        ("", 1, "the file is empty"),
        ("\n\n", 1, "the file is empty"),
        # A quoted line break moves the count on; so does an empty line.
        ('sku,available\r\n"PH\r\nONE",1\r\nPHONE,x\r\n', 4, "available: 'x' is not a whole number"),
        ("sku,available\n\nPHONE,x\n", 3, "available: 'x' is not a whole number"),
    ],
)
def test_a_bad_line_of_csv_is_rejected_with_its_number(
    text: str, line: int, reason: str, filled: Importer, content: dict[str, str]
) -> None:
    report = filled.load_text("stock", text, ".csv")
    assert (line, reason) in [(error.line, error.message[: len(reason)]) for error in report.errors]
    assert filled.content() == content


def test_bad_json_text_in_a_cell_is_rejected_with_its_column(filled: Importer) -> None:
    report = filled.load_text("products", "sku,images\nPHONE,[{]\n")
    assert (report.errors[0].line, report.errors[0].message[:34]) == (2, "images: the cell is not valid JSON")


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('{"sku":"PHONE","available":1}\n\n{"sku":\n', 3, "not a JSON object: "),
        ('{"sku":"PHONE","available":NaN}', 1, "not a JSON object: "),
        ('{"sku":"PHONE","available":1}{}', 1, "not a JSON object: "),
        ('{"sku":"\\ud800","available":1}', 1, "not a JSON object: "),
        ('{"sku":"PHONE","available":' + "[" * 100_000 + "]" * 100_000 + "}", 1, "available: must be a whole number"),
        ("PHONE,1\n", 1, "not a JSON object: "),
    ],
)
def test_a_bad_line_of_json_is_rejected_with_its_number(
    text: str, line: int, reason: str, filled: Importer, content: dict[str, str]
) -> None:
    report = filled.load_text("stock", text, ".jsonl")
    assert (report.errors[-1].line, report.errors[-1].message[: len(reason)]) == (line, reason)
    assert filled.content() == content


def test_too_deeply_nested_json_is_rejected(filled: Importer, content: dict[str, str]) -> None:
    report = filled.load_text("categories", '{"key":"a","name":"a","children":[' * 5000, ".jsonl")
    assert [(error.line, error.message) for error in report.errors] == [(1, "not a JSON object: nested too deeply")]
    assert filled.content() == content


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("text", "form", "reason"),
    [
        (b"sku,available\nPH\x81NE,1\n", ".csv", r"line 2 is not UTF-8, and the file is not Windows-1252 \(cp1252\)"),
        ("sku,available\nPHÖNE,1\n".encode() + b"PH\xffNE,1\n", ".csv", "line 3 is not UTF-8"),
        (b"\xef\xbb\xbfsku,available\nPH\xd6NE,1\n", ".csv", "line 2 is not UTF-8"),
        (b'{"sku": "\xff", "available": 1}', ".jsonl", "not UTF-8 text"),
        (b'{"sku": "PHONE", "available": 1}', ".json", "not a JSON array"),
        (b"[" * 100_000, ".json", "not a JSON array"),
        (b"sku,available\n", ".xlsx", "not an Excel workbook"),
        (b"sku,available\n", ".xls", ".tsv, .txt, .xlsx: save it as .xlsx"),
        (b"sku,available\n", "", "no suffix is not one of .jsonl"),
    ],
)
def test_a_file_that_cannot_be_read_is_rejected_as_a_whole(
    text: bytes, form: str, reason: str, filled: Importer, content: dict[str, str]
) -> None:
    with pytest.raises(UnreadableFileError, match=reason):
        filled.load_text("stock", text, form)
    assert filled.content() == content


def test_a_missing_file_is_rejected_by_name(filled: Importer) -> None:
    with pytest.raises(UnreadableFileError, match=r"a\.csv: No such file"):
        filled.load_path("stock", "/nowhere/a.csv")
