"""Keys in imports: spelled as stored, compared without case and composed, without what nobody sees."""

from typing import Any

import pytest

from support.importing import Importer, counts

pytestmark = pytest.mark.sweep(every=6)

UPPER, LOWER = "CAF\u00c9", "cafe\u0301"


@pytest.fixture
def shop(own_importer: Importer) -> Importer:
    own_importer.load("products", [{"sku": "PHONE", "name": "Phone", "manufacturer": "acme"}])
    return own_importer


def errors(report: Any) -> list[tuple[int | None, str]]:
    return [(error.line, error.message) for error in report.errors]


@pytest.mark.parametrize("twin", ["Default", " default ", "DEFAULT\u200b"])
def test_a_price_list_that_differs_in_case_or_ends_is_the_same(twin: str, shop: Importer) -> None:
    shop.load("price-list", [{"price_list": "default", "sku": "PHONE", "single_unit_cost": 5}])
    again = {"price_list": twin, "sku": "phone", "single_unit_cost": 6}
    assert counts(shop.load("price-list", [again])) == (0, 1, 0, 0)
    assert shop.query("select key, single_unit_cost::int from price_list join price on price_list = key") == [
        ("default", 6)
    ]


def test_a_price_list_that_a_file_spells_in_two_ways_is_one(shop: Importer) -> None:
    shop.load("products", [{"sku": "CABLE", "name": "Cable", "manufacturer": "acme"}])
    rows = [
        {"price_list": name, "sku": sku, "single_unit_cost": 5} for name, sku in (("Gold", "PHONE"), ("gold", "CABLE"))
    ]
    assert counts(shop.load("price-list", rows)) == (2, 0, 0, 0)
    assert shop.query("select key from price_list") == [("Gold",)]
    twice = shop.load("price-list", [{**rows[0], "price_list": "GOLD"}, rows[0]])
    assert errors(twice) == [(2, "repeats line 1 (sku PHONE)")]


@pytest.mark.parametrize(
    ("kind", "more"),
    [("manufacturers", {}), ("categories", {}), ("attributes", {"type": "string"})],
)
def test_other_keys_keep_their_first_spelling_too(kind: str, more: dict[str, str], shop: Importer) -> None:
    shop.load(kind, [{"key": UPPER, "name": "One", **more}])
    assert counts(shop.load(kind, [{"key": LOWER, "name": "Two", **more}])) == (0, 1, 0, 0)
    table = {"manufacturers": "manufacturer", "categories": "category", "attributes": "attribute"}[kind]
    assert shop.query(f"select key, name from {table} where key <> 'acme'") == [(UPPER, "Two")]  # noqa: S608 of the test


def test_references_find_keys_in_any_spelling(shop: Importer) -> None:
    shop.load("categories", [{"key": "phones", "name": "Phones"}])
    shop.load("price-list", [{"price_list": "Gold", "sku": "PHONE", "single_unit_cost": 5}])
    product = {"sku": "PHONE", "manufacturer": "ACME ", "categories": ["Phones", "phones"]}
    assert errors(shop.load("products", [product])) == []
    assert shop.query("select manufacturer, categories from product") == [("acme", ["phones"])]
    person = {"email_address": "a@b.example", "first_name": "A", "last_name": "B", "price_list": "gold"}
    assert errors(shop.load("customers", [person])) == []
    assert shop.query("select price_list from customer") == [("Gold",)]


def test_skus_are_trimmed_and_composed_and_take_the_new_spelling(shop: Importer) -> None:
    assert counts(shop.load("products", [{"sku": "phone \ufeff", "name": "New"}])) == (0, 1, 0, 0)
    assert shop.query("select sku, sku_key from product") == [("phone", "phone")]
    shop.load("products", [{"sku": LOWER, "name": "Coffee", "manufacturer": "acme"}])
    assert counts(shop.load("stock", [{"sku": UPPER, "available": 3}])) == (1, 0, 0, 0)


@pytest.mark.parametrize("form", [".jsonl", ".csv"])
@pytest.mark.parametrize("sku", ["A\u200bB", "A\nB", "A\u00a0B", "A\tB"])
def test_a_sku_with_what_nobody_sees_is_an_error(sku: str, form: str, shop: Importer) -> None:
    [(line, message)] = errors(shop.load("products", [{"sku": sku, "name": "N", "manufacturer": "acme"}], form))
    assert line == (1 if form == ".jsonl" else 2)
    assert message.startswith("sku: ")
    assert shop.query("select count(*) from product") == [(1,)]


@pytest.mark.parametrize(
    ("kind", "row", "field"),
    [
        ("manufacturers", {"key": "m", "name": " \u200b"}, "name"),
        ("categories", {"key": "m", "name": "N", "children": [{"key": "c", "name": "\u00ad"}]}, "children[0].name"),
        ("products", {"sku": "PHONE", "name": "\u2060"}, "name"),
        ("shipping-regions", {"id": 9, "name": "\ufeff"}, "name"),
    ],
)
def test_a_name_that_shows_nothing_is_an_error(kind: str, row: dict[str, Any], field: str, shop: Importer) -> None:
    assert errors(shop.load(kind, [row])) == [(1, f"{field}: must not be blank")]


def test_what_exports_guard_is_read_back(shop: Importer) -> None:
    text = 'sku,name,manufacturer,description\n"=""0417723""",\'=SUM(1),acme,\'-5 degrees\n\'-7,N,acme,\'\'=x\n'
    assert counts(shop.load_text("products", text)) == (2, 0, 0, 0)
    assert shop.query("select sku, name, description from product where sku <> 'PHONE' order by sku collate \"C\"") == [
        ("-7", "N", "'=x"),
        ("0417723", "=SUM(1)", "-5 degrees"),
    ]


_WRONG_LENGTH = "which has 8, 12, 13 or 14 digits"
_WRONG_CHECK_DIGIT = "because its last digit, the check digit, does not fit the others"


@pytest.mark.parametrize(
    ("ean", "problem"),
    [
        ("0", _WRONG_LENGTH),
        ("-", _WRONG_LENGTH),
        ("N/A", _WRONG_LENGTH),
        ("\N{FULLWIDTH DIGIT FOUR}006381333931", _WRONG_LENGTH),
        ("4006381333930", _WRONG_CHECK_DIGIT),
        ("400638133393", _WRONG_CHECK_DIGIT),
        ("0000000000000", "which is not all zeros"),
    ],
)
def test_what_is_no_ean_is_imported_without_one_and_a_warning(ean: str, problem: str, shop: Importer) -> None:
    report = shop.load_text("products", f"sku,ean\nPHONE,{ean}\n")
    assert errors(report) == []
    assert [(w.line, w.message) for w in report.warnings] == [
        (2, f"ean: {ean!r} is not an EAN, {problem}: imported without one")
    ]
    assert shop.query("select ean from product") == [(None,)]


@pytest.mark.parametrize("ean", ["5.90123E+12", "5,90123E+12", "4e12"])
def test_an_ean_that_has_lost_its_digits_is_an_error(ean: str, shop: Importer) -> None:
    [(line, message)] = errors(shop.load_text("products", f"sku;ean\nPHONE;{ean}\n"))
    assert (line, message) == (
        2, f"ean: {ean!r} has lost its last digits: format the column as text, then export the file again"
    )  # fmt: skip


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        (["sku,available", "PHONE,1", '"PHONE,2', "PHONE,3"], 3, "not CSV: unexpected end of data"),
        (["sku,available", '"PHONE"x,1'], 2, "not CSV: ',' expected after '\"'"),
        (["sku,available", "PHONE,1,234"], 2, "has 3 cells where the header has 2"),
        (["sku,available,Available", "PHONE,1,2"], 1, "column 'Available' appears twice"),
        (["sku,Bin,bin,available", "PHONE,1,2,3"], 1, "column 'bin' appears twice"),
        (['"sep=;"', "sku;available", "PHONE;1;2"], 3, "has 3 cells where the header has 2"),
    ],
)
def test_csv_is_read_strictly(end: str, lines: list[str], line: int, message: str, shop: Importer) -> None:
    report = shop.load_text("stock", end.join([*lines, ""]))
    assert (line, message) in errors(report)
    assert shop.query("select count(*) from stock_level") == [(0,)]
