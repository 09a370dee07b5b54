"""What an import does not change, the formats of a file, and what its values mean."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from support.importing import Importer, counts

pytestmark = pytest.mark.sweep

ADDRESS = {"contact_name": "Ada", "street_one": "1 Road", "city": "Leeds", "zip": "LS1", "country_code": "GB"}


@pytest.fixture
def shop(own_importer: Importer) -> Importer:
    """A database with manufacturers, a category and products to refer to."""
    own_importer.load("manufacturers", [{"key": "bolt", "name": "Bolt"}])
    own_importer.load("categories", [{"key": "phones", "name": "Phones"}])
    names = ("Phone", "Round", "Square")
    own_importer.load("products", [{"sku": name.upper(), "name": name, "manufacturer": "acme"} for name in names])
    return own_importer


def product(shop: Importer, sku: str, columns: str) -> tuple[object, ...]:
    [row] = shop.query(f"select {columns} from product where sku_key = lower(%s)", sku)  # noqa: S608 columns of the test
    return row


# --- what a file lacks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [".jsonl", ".csv"])
def test_missing_columns_leave_values_unchanged(form: str, shop: Importer) -> None:
    sku = f"KEEP{form}"
    full = {"name": "Old", "manufacturer": "acme", "ean": "4006381333931", "weight_kg": "2", "attributes": {"a": "b"}}
    shop.load("products", [{"sku": sku, **full, "configurable": True, "categories": ["phones"]}])
    assert counts(shop.load("products", [{"sku": sku, "name": "New"}], form)) == (0, 1, 0, 0)
    columns = "name, manufacturer, ean, weight_kg, attributes, configurable, categories"
    assert product(shop, sku, columns) == ("New", "acme", "4006381333931", Decimal(2), {"a": "b"}, True, ["phones"])


def test_an_empty_cell_clears_only_optional_fields(shop: Importer) -> None:
    full = {"name": "Old", "manufacturer": "acme", "ean": "4006381333931", "weight_kg": "2", "description": "text"}
    shop.load("products", [{"sku": "CELLS", **full, "configurable": True, "attributes": {"a": "b"}}])
    text = "sku,ean,weight_kg,description,configurable,attributes\nCELLS,,,,,\n"
    assert counts(shop.load_text("products", text)) == (0, 1, 0, 0)
    columns = "ean, weight_kg, description, configurable, attributes"
    assert product(shop, "CELLS", columns) == (None, Decimal(0), "", True, {"a": "b"})


def test_an_empty_cell_keeps_the_name_of_a_customer(shop: Importer) -> None:
    text = "email_address,first_name,last_name,company\n{}@cells.example,{},,\n"
    shop.load("customers", [{"email_address": "old@cells.example", "first_name": "Old", "last_name": "Name"}])
    assert counts(shop.load_text("customers", text.format("old", "New"))) == (0, 1, 0, 0)
    assert shop.query("select first_name, last_name from customer where email_key = 'old@cells.example'") == [
        ("New", "Name")
    ]
    [error] = shop.load_text("customers", text.format("new", "New")).errors
    assert error.message.startswith("last_name: is required for a new customer")


def test_an_unknown_weight_or_size_is_zero(shop: Importer) -> None:
    unknown = dict.fromkeys(("weight_kg", "box_width_mm", "box_height_mm", "box_length_mm", "description", "ean"))
    shop.load("products", [{"sku": "UNKNOWN", "name": "Unknown", "manufacturer": "acme", **unknown}])
    columns = "weight_kg, box_width_mm, box_height_mm, box_length_mm, description, ean"
    assert product(shop, "UNKNOWN", columns) == (0, 0, 0, 0, "", None)


@pytest.mark.parametrize("form", [".jsonl", ".csv"])
def test_sizes_are_not_rounded(shop: Importer, form: str) -> None:
    row = {"sku": "EXACT", "name": "Exact", "manufacturer": "acme", "weight_kg": 0.125, "box_width_mm": 1.5}
    shop.load("products", [row], form)
    assert product(shop, "EXACT", "weight_kg, box_width_mm") == (Decimal("0.125"), Decimal("1.5"))
    report = shop.load("products", [row | {"weight_kg": 0.0005, "box_width_mm": 1.25}], form)
    assert [error.message for error in report.errors] == [
        "weight_kg: '0.0005' has more than 3 decimal places",
        "box_width_mm: '1.25' has more than 1 decimal place",
    ]


def test_trailing_zeros_do_not_count_as_decimal_places(shop: Importer) -> None:
    price = {"price_list": "noughts", "sku": "ROUND", "single_unit_cost": "1.5000", "five_plus_unit_cost": 1}
    shop.load("price-list", [price])
    costs = "select single_unit_cost, five_plus_unit_cost from price where price_list = 'noughts'"
    assert shop.query(costs) == [(Decimal("1.50"), Decimal("1.00"))]
    assert counts(shop.load("price-list", [price])) == (0, 0, 1, 0)


def test_a_price_row_replaces_the_whole_price(shop: Importer) -> None:
    full = {"single_unit_cost": 10, "five_plus_unit_cost": 9, "ten_plus_unit_cost": 8}
    shop.load("price-list", [{"price_list": "whole", "sku": "PHONE", **full}])
    shop.load_text("price-list", "price_list,sku,single_unit_cost,ten_plus_unit_cost\nwhole,phone,11,\n")
    prices = "select single_unit_cost, five_plus_unit_cost, ten_plus_unit_cost from price where price_list = 'whole'"
    assert shop.query(prices) == [(11, None, None)]


# --- keys --------------------------------------------------------------------------------------------------------


def test_a_sku_is_found_without_case_and_takes_the_new_spelling(shop: Importer) -> None:
    shop.load("products", [{"sku": "Straße/9 b", "name": "Odd", "manufacturer": "acme"}])
    assert counts(shop.load("products", [{"sku": "STRASSE/9 B"}])) == (0, 1, 0, 0)
    assert shop.query("select sku from product where name = 'Odd'") == [("STRASSE/9 B",)]
    stock = shop.load("stock", [{"sku": "strasse/9 b", "available": 5}])
    assert counts(stock) == (1, 0, 0, 0)


def test_products_may_refer_to_others_of_the_same_file_in_any_order_and_case(shop: Importer) -> None:
    rows = [
        {"sku": "PAIR-1", "name": "One", "manufacturer": "acme", "related_products": ["pair-2"]},
        {"sku": "PAIR-2", "name": "Two", "manufacturer": "acme", "similar_products": ["PAIR-1", "phone"]},
    ]
    assert counts(shop.load("products", rows)) == (2, 0, 0, 0)


def test_a_literal_backslash_u0000_is_text_like_any_other(shop: Importer) -> None:
    shop.load("products", [{"sku": "SLASH", "name": "Slash", "manufacturer": "acme", "description": "a \\u0000 b"}])
    assert product(shop, "SLASH", "description") == ("a \\u0000 b",)


# --- how files are written ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffsku,available\nPHONE,{}\n",
        "sku,available\r\nPHONE,{}\r\n",
        "\ufeffsku,available\r\nPHONE,{}",
        'available,"sku"\n"{}","PHONE"\n\n\n',
        "\nsku,available\nPHONE,{}\n",
    ],
)
def test_csv_is_read_with_or_without_mark_and_whatever_ends_its_lines(text: str, shop: Importer) -> None:
    number = 100 + len(text)
    report = shop.load_text("stock", text.format(number))
    assert report.added + report.changed == 1
    assert (
        shop.one("select available from stock_level join product p on p.id = product_id where sku = 'PHONE'") == number
    )


@pytest.mark.parametrize("form", [".jsonl", ".ndjson", ".JSONL", ".json"])
def test_json_is_read_with_a_mark_and_carriage_returns(form: str, shop: Importer) -> None:
    row = '{"sku": "PHONE", "available": %d}' % (200 + len(form) + ord(form[1]))  # noqa: UP031 braces
    text = f"\ufeff[{row}\r\n]\r\n" if form == ".json" else f"\ufeff{row}\r\n\r\n"
    assert counts(shop.load_text("stock", text, form)) in {(1, 0, 0, 0), (0, 1, 0, 0)}


def test_line_breaks_commas_and_quotes_in_a_cell_stay(shop: Importer) -> None:
    text = 'sku,name,manufacturer\r\nQUOTED,"one,\r\n""two""",acme\r\n'
    shop.load_text("products", text)
    assert product(shop, "QUOTED", "name") == ('one,\r\n"two"',)


@pytest.mark.parametrize("form", [".jsonl", ".json"])
def test_a_file_without_rows_changes_nothing(form: str, shop: Importer) -> None:
    assert counts(shop.load("stock", [], form)) == (0, 0, 0, 0)


def test_a_csv_file_with_a_header_alone_changes_nothing(shop: Importer) -> None:
    assert counts(shop.load_text("stock", "sku,available\n")) == (0, 0, 0, 0)


# --- replacing ---------------------------------------------------------------------------------------------------


def test_products_that_a_replacing_file_lacks_are_switched_off_and_come_back(shop: Importer) -> None:
    names = [name for (name,) in shop.query("select sku from product where active order by sku")]
    one = [{"sku": "phone"}]
    assert counts(shop.load("products", one, replace=True))[3] == len(names) - 1
    assert shop.query("select sku from product where active") == [("phone",)]
    # Naming a product that is switched off does not switch it on, unless the file replaces all or says so.
    assert counts(shop.load("products", [{"sku": "ROUND"}])) == (0, 0, 1, 0)
    assert counts(shop.load("products", [{"sku": "ROUND", "active": True}])) == (0, 1, 0, 0)
    everything = [{"sku": name} for name in names]
    assert counts(shop.load("products", everything, replace=True))[3] == 0
    assert shop.one("select count(*) from product where active") == len(names)
    switched_off = shop.load("products", [{"sku": "ROUND", "active": False}, {"sku": "PHONE"}], replace=True)
    assert counts(switched_off)[3] == len(names) - 2
    assert shop.query("select sku from product where active") == [("PHONE",)]


@pytest.mark.parametrize("kind", ["manufacturers", "attributes", "categories", "shipping-methods"])
def test_what_was_switched_off_is_on_again_once_a_file_names_it(kind: str, shop: Importer) -> None:
    examples: dict[str, dict[str, object]] = {
        "manufacturers": {"name": "Name"},
        "attributes": {"name": "Name", "type": "string"},
        "categories": {"name": "Name"},
        "shipping-methods": {
            "provider": "P",
            "region": 1,
            "countries": ["GB"],
            "max_weight_kg": 1,
            "base_cost_net": 1,
        },
    }
    key = "id" if kind == "shipping-methods" else "key"
    both: list[dict[str, object]] = [
        {**examples[kind], key: 7 if key == "id" else "seven"},
        {**examples[kind], key: 8 if key == "id" else "eight", **({} if key == "id" else {"name": "Other name"})},
    ]
    shop.load(kind, both, replace=True)
    assert counts(shop.load(kind, both[:1], replace=True)) == (0, 0, 1, 1)
    assert counts(shop.load(kind, both[:1], replace=True)) == (0, 0, 1, 0)
    assert counts(shop.load(kind, both[1:])) == (0, 1, 0, 0)


def test_replacing_prices_touches_only_the_lists_of_the_file(shop: Importer) -> None:
    rows = [
        {"price_list": key, "sku": sku, "single_unit_cost": 1} for key in ("red", "blue") for sku in ("PHONE", "ROUND")
    ]
    shop.load("price-list", rows)
    assert counts(shop.load("price-list", rows[:1], replace=True)) == (0, 0, 1, 1)
    left = "select price_list, count(*) from price where price_list in ('red', 'blue') group by 1 order by 1"
    assert shop.query(left) == [("blue", 2), ("red", 1)]


def test_stock_that_a_replacing_file_lacks_is_nought(shop: Importer) -> None:
    shop.load("stock", [{"sku": "PHONE", "available": 5}, {"sku": "ROUND", "available": 5}], replace=True)
    assert counts(shop.load("stock", [{"sku": "PHONE", "available": 6}], replace=True)) == (0, 1, 0, 1)
    assert shop.one("select sum(available) from stock_level") == 6


# --- categories --------------------------------------------------------------------------------------------------


def test_the_category_tree_can_be_rebuilt_by_a_replacing_file(shop: Importer) -> None:
    shop.load("categories", [{"key": "old", "name": "Old", "children": [{"key": "leaf", "name": "Leaf"}]}])
    moved = [{"key": "new", "name": "New", "children": [{"key": "old", "name": "Old"}]}]
    assert shop.load("categories", moved).errors
    assert counts(shop.load("categories", moved, replace=True))[:3] == (1, 1, 0)
    tree = "select key, parent_key from category where active order by key"
    assert shop.query(tree) == [("new", None), ("old", "new")]


def test_children_keep_the_order_of_the_file(shop: Importer) -> None:
    children = [{"key": key, "name": key} for key in ("zebra", "ape", "mole")]
    shop.load("categories", [{"key": "zoo", "name": "Zoo", "children": children}])
    shop.load("categories", [{"key": "zoo", "name": "Zoo", "children": list(reversed(children))}])
    in_order = "select key from category where parent_key = 'zoo' order by position"
    assert shop.query(in_order) == [("mole",), ("ape",), ("zebra",)]


# --- dates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-07-01", datetime(2026, 6, 30, 23, 0, 0, tzinfo=UTC)),
        ("2026-12-01", datetime(2026, 12, 1, 0, 0, 0, tzinfo=UTC)),
        ("2026-07-01T14:05:59", datetime(2026, 7, 1, 13, 5, 59, tzinfo=UTC)),
        ("2028-02-29T23:59:59", datetime(2028, 2, 29, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_delivery_is_expected_at_a_uk_date_or_time_to_the_second(text: str, moment: datetime, shop: Importer) -> None:
    shop.load("incoming", [{"sku": "PHONE", "incoming": 5, "expected_on": text}], replace=True)
    assert shop.query("select expected_on, incoming from incoming_stock") == [(moment, 5)]


def test_contract_prices_may_be_open_at_either_end(shop: Importer) -> None:
    shop.load("customers", [{"email_address": "c@c.example", "first_name": "C", "last_name": "C"}])
    customer_id = shop.one("select id from customer where email_key = 'c@c.example'")
    rows = [
        {"customer_id": customer_id, "sku": "PHONE", "single_unit_cost": 1, "valid_from": start, "valid_until": end}
        for start, end in ((None, None), ("2026-01-01", None), ("2026-02-01", "2026-02-01"))
    ]
    assert counts(shop.load("contract-prices", rows)) == (3, 0, 0, 0)
    assert counts(shop.load("contract-prices", rows)) == (0, 0, 3, 0)
    until = [{**rows[0], "valid_until": "2026-12-31"}]
    assert counts(shop.load("contract-prices", until, ".csv")) == (0, 1, 0, 0)
    periods = "select valid_from::text, valid_until::text from contract_price order by valid_from nulls first"
    assert shop.query(periods) == [(None, "2026-12-31"), ("2026-01-01", None), ("2026-02-01", "2026-02-01")]


# --- customers ---------------------------------------------------------------------------------------------------


def test_customers_imported_twice_do_not_double_their_addresses(shop: Importer) -> None:
    other = {**ADDRESS, "street_two": "Back door", "contact_number": "0113 496 0000"}
    row = {"email_address": "d@d.example", "first_name": "D", "last_name": "D", "addresses": [ADDRESS, other, ADDRESS]}
    assert counts(shop.load("customers", [row])) == (1, 0, 0, 0)
    assert counts(shop.load("customers", [row], ".csv")) == (0, 0, 1, 0)
    addresses = "select count(*) from address a join customer c on c.id = customer_id where email_key = 'd@d.example'"
    assert shop.one(addresses) == 2
    # One more address is a change, though nothing else of the customer differs.
    assert counts(shop.load("customers", [{**row, "addresses": [{**ADDRESS, "zip": "LS2"}]}])) == (0, 1, 0, 0)
    assert counts(shop.load("customers", [{**row, "first_name": "E", "addresses": [other]}])) == (0, 1, 0, 0)
    assert shop.one(addresses) == 3


def test_a_customers_credit_and_list_can_be_taken_away(shop: Importer) -> None:
    shop.load("price-list", [{"price_list": "silver", "sku": "PHONE", "single_unit_cost": 1}])
    row = {"email_address": "e@e.example", "first_name": "E", "last_name": "E", "price_list": "silver"}
    shop.load("customers", [{**row, "credit_limit": "100", "term_days": 30, "accounts_email": "x@x.example"}])
    terms = "select price_list, credit_limit, term_days, accounts_email from customer where email_key = 'e@e.example'"
    assert shop.query(terms) == [("silver", 100, 30, "x@x.example")]
    assert counts(shop.load("customers", [{"email_address": "E@e.example", "credit_limit": "200"}])) == (0, 1, 0, 0)
    assert shop.query(terms) == [("silver", 200, 30, "x@x.example")]
    text = "email_address,price_list,credit_limit,term_days,accounts_email\ne@e.example,,,,\n"
    assert counts(shop.load_text("customers", text)) == (0, 1, 0, 0)
    assert shop.query(terms) == [(None, None, None, None)]
