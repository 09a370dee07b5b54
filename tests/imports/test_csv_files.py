"""CSV as other programs write it: separators, encodings, names of columns, stray cells."""

from typing import Any

import pytest

from support.importing import Importer, counts
from tradecounter.bulk.tables import ColumnOptions

PRODUCTS = [
    {"sku": "PHONE", "name": "Phone", "manufacturer": "acme"},
    {"sku": "CABLE", "name": "Cable", "manufacturer": "acme"},
]


@pytest.fixture(scope="module")
def shop(importer: Importer) -> Importer:
    return with_products(importer)


def with_products(importer: Importer) -> Importer:
    importer.load("categories", [{"key": "phones", "name": "Phones"}, {"key": "desk", "name": "Desk phones"}])
    importer.load("products", PRODUCTS)
    return importer


def levels(shop: Importer) -> dict[str, int]:
    return dict(shop.query("select sku, available from stock_level join product on product.id = product_id"))


def errors(report: Any) -> list[tuple[int | None, str]]:
    return [(error.line, error.message) for error in report.errors]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("sku,available\nPHONE,{0}\nCABLE,{1}\n", ","),
        ("sku;available\r\nPHONE;{0}\r\nCABLE;{1}\r\n", ";"),
        ("sku\tavailable\nPHONE\t{0}\nCABLE\t{1}\n", "\t"),
        ("\n\nsku;available\nPHONE;{0}\n\nCABLE;{1}\n;\n;;;\n", ";"),
        ("sep=;\nsku;available\nPHONE;{0}\nCABLE;{1}\n", ";"),
        ("SEP=|\nsku|available\nPHONE|{0}\nCABLE|{1}\n", "|"),
        ('sku;"available"\n"PHONE";"{0}"\n"CABLE";{1}\n', ";"),
        ("\ufeffsku;available\nPHONE;{0}\nCABLE;{1}\n", ";"),
        # Columns without a name and without values, as spreadsheets leave them behind.
        ("sku,available,,\nPHONE,{0},,\nCABLE,{1},,,,\n", ","),
    ],
)
def test_cells_may_be_separated_by_commas_semicolons_or_tabs(text: str, separator: str, shop: Importer) -> None:
    numbers = (len(text), len(text) + 1)
    report = shop.load_text("stock", text.format(*numbers))
    assert sum(counts(report)) == 2
    assert levels(shop) == {"PHONE": numbers[0], "CABLE": numbers[1]}
    assert report.file is not None
    assert report.file.separator == separator


def test_a_separator_inside_column_names_is_not_misdetected(shop: Importer) -> None:
    columns = ColumnOptions({"Stock, warehouse, all": "available"}, ignore_unknown=True)
    text = "sku;Stock, warehouse, all;Bin, shelf\nPHONE;77;A, 3\n"
    counts(shop.load_text("stock", text, columns=columns))
    assert levels(shop)["PHONE"] == 77


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".tsv", ".CSV"])
def test_the_file_may_be_called_by_any_of_the_usual_names(suffix: str, shop: Importer) -> None:
    assert sum(counts(shop.load_text("stock", "sku\tavailable\nPHONE\t5\n", suffix))) == 1


@pytest.mark.parametrize(
    ("encoding", "said"), [("utf-8", "utf-8"), ("utf-8-sig", "utf-8"), ("cp1252", "cp1252"), ("utf-16", "utf-16")]
)
def test_the_encoding_of_a_file_is_detected(encoding: str, said: str, shop: Importer) -> None:
    name = f"Café “{encoding}” – £5"  # noqa: RUF001 the dash that spreadsheets make of a hyphen
    text = f"sku;name\nPHONE;{name}\n".encode(encoding)
    report = shop.load_text("products", text)
    assert counts(report) == (0, 1, 0, 0)
    assert shop.query("select name from product where sku = 'PHONE'") == [(name,)]
    assert report.file is not None
    assert report.file.encoding == said


def test_a_character_cut_in_two_by_a_block_is_still_utf_8(shop: Importer) -> None:
    filling = "x" * ((1 << 20) - len("sku,name,description\nPHONE,") - 1)
    text = f"sku,name,description\nPHONE,{filling[:400]},{'é' * 50_000}\n".encode()
    report = shop.load_text("products", text + b"\n" * (1 << 20))
    assert report.file is not None
    assert report.file.encoding == "utf-8"


@pytest.mark.parametrize("header", ["SKU,Available", " Sku , AVAILABLE ", '"sku","available"'])
def test_names_of_columns_are_read_without_case_and_blanks(header: str, shop: Importer) -> None:
    counts(shop.load_text("stock", f"{header}\nPHONE,9\n"))
    assert levels(shop)["PHONE"] == 9


def test_names_of_columns_may_have_blanks_or_dashes_for_underscores(shop: Importer) -> None:
    text = "Price List,SKU,Single Unit Cost,Five-Plus Unit Cost\ndefault,PHONE,10.00,9.00\n"
    assert counts(shop.load_text("price-list", text)) == (1, 0, 0, 0)


def test_columns_with_other_names_are_mapped(shop: Importer) -> None:
    columns = ColumnOptions({"Artikel-Nr": "sku", "Qty = free": "available"})
    counts(shop.load_text("stock", "artikel_nr,Qty = free\nCABLE,12\n", columns=columns))
    assert levels(shop)["CABLE"] == 12


@pytest.mark.parametrize(
    ("header", "renamed", "faults"),
    [
        ("sku,SKU,available", {}, ["column 'SKU' appears twice"]),
        ("Code,Item,available", {"code": "sku", "item": "sku"}, ["columns 'Code' and 'Item' are both sku"]),
        ("sku,Code,available", {"code": "sku"}, ["column 'sku' has no field: another column is mapped to sku"]),
        ("sku,available", {"Code": "sku"}, ["there is no column 'Code' to map"]),
        ("bin,shelf,sku", {}, ["column 'bin' is unknown", "column 'shelf' is unknown", "there is no column for avail"]),
        ("skuu,avail", {}, ["column 'skuu' is unknown; did you mean sku?", "column 'avail' is unknown; did you mean"]),
    ],
)
def test_all_errors_of_a_header_are_reported_together(
    header: str, renamed: dict[str, str], faults: list[str], shop: Importer
) -> None:
    report = shop.load_text("stock", f"{header}\nPHONE,1,1\n", columns=ColumnOptions(renamed))
    found = [message for _, message in errors(report)]
    assert {line for line, _ in errors(report)} == {1}
    assert all(any(message.startswith(fault) for message in found) for fault in faults), found
    assert found[-1] == "the columns may be sku, available, location"


def test_an_endless_column_name_is_an_error(shop: Importer) -> None:
    report = shop.load_text("stock", "sku,available," + '"' + "a" * 200_000 + "\n")
    assert [(error.line, error.message) for error in report.errors] == [
        (1, "not CSV: field larger than field limit (131072)")
    ]


def test_unknown_columns_are_ignored_with_the_option(shop: Importer) -> None:
    report = shop.load_text("stock", "sku,Bin,available\nPHONE,A7,3\n", columns=ColumnOptions(ignore_unknown=True))
    counts(report)
    assert report.file is not None
    assert report.file.unknown_columns == ["Bin"]


def test_a_mapped_column_takes_precedence_over_one_named_after_the_field(shop: Importer) -> None:
    columns = ColumnOptions({"Our code": "sku"}, ignore_unknown=True)
    counts(shop.load_text("stock", "SKU,Our code,available\nSUPPLIERS-1,PHONE,64\n", columns=columns))
    assert levels(shop)["PHONE"] == 64


def test_a_value_in_a_column_without_a_name_is_an_error(shop: Importer) -> None:
    report = shop.load_text("stock", "sku,available,\nPHONE,1,\nCABLE,1,oops\n")
    assert errors(report) == [(3, "cell 3 has a value, but its column has no name")]


def test_white_space_around_cells_is_removed(shop: Importer) -> None:
    counts(shop.load_text("stock", "sku,available\n  phone   , 41 \n"))
    assert levels(shop)["PHONE"] == 41


def test_forms_that_spreadsheets_and_people_use_are_read(shop: Importer) -> None:
    text = (
        "sku,clearance_product,configurable,consumer_unit_cost,weight_kg,categories\n"
        'PHONE,Yes,no,"£1,200.00","1,000.5",phones|desk\n'
    )
    counts(shop.load_text("products", text))
    columns = "clearance_product, configurable, consumer_unit_cost::text, weight_kg::text, categories"
    [row] = shop.query(f"select {columns} from product where sku_key = 'phone'")  # noqa: S608 columns of the test
    assert row == (True, False, "1200.00", "1000.500", ["phones", "desk"])


def test_dates_are_read_day_first(shop: Importer) -> None:
    shop.load_text("incoming", "sku,incoming,expected_on\nPHONE,5,01/12/2026\nPHONE,6,2/12/2026 09:30\n")
    uk = "select to_char(expected_on at time zone 'Europe/London', 'YYYY-MM-DD HH24:MI') from incoming_stock order by 1"
    assert shop.query(uk) == [("2026-12-01 00:00",), ("2026-12-02 09:30",)]


@pytest.mark.parametrize(
    ("kind", "row", "reason"),
    [
        ("products", {"sku": "PHONE", "clearance_product": "yes"}, "clearance_product: must be true or false"),
        ("products", {"sku": "PHONE", "categories": "phones|desk"}, "categories: must be a list"),
        ("products", {"sku": "PHONE", "consumer_unit_cost": "£5.00"}, "consumer_unit_cost: '£5.00' is not a number"),
        ("stock", {"sku": "PHONE", "available": "1,200"}, "available: must be a whole number"),
        ("stock", {"SKU": "PHONE", "available": 5}, "SKU: is not a known field"),
        ("incoming", {"sku": "PHONE", "incoming": 5, "expected_on": "01/12/2026"}, "expected_on: '01/12/2026' is"),
    ],
)
def test_json_is_read_strictly(kind: str, row: dict[str, Any], reason: str, shop: Importer) -> None:
    assert any(message.startswith(reason) for _, message in errors(shop.load(kind, [row])))


def test_the_catalogue_that_the_api_gives_as_csv_can_be_imported(own_importer: Importer) -> None:
    shop = with_products(own_importer)
    text = (
        "sku,ean,name,manufacturer,weight_kg,box_width_mm,box_height_mm,box_length_mm,clearance_product,images,"
        "availability.available,availability.status,availability.incoming,single_unit_cost,five_plus_unit_cost,"
        "ten_plus_unit_cost,consumer_unit_cost,store_url,categories,attributes\r\n"
        'FROM-API,,From the API,acme,1.5,1,2,3,false,"[{""is_primary"":true,""url"":""https://shop.example/u""}]",'
        "4,In stock,[],10.00,9.00,"
        '8.00,12.00,,phones|desk,"{""colour"":""Black""}"\r\n'
    )
    assert counts(shop.load_text("products", text, columns=ColumnOptions(ignore_unknown=True))) == (1, 0, 0, 0)
    columns = ColumnOptions({"availability.available": "available"}, ignore_unknown=True)
    assert counts(shop.load_text("stock", text, columns=columns)) == (1, 0, 0, 0)
    assert levels(shop)["FROM-API"] == 4
