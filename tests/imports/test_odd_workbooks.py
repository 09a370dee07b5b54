"""Workbooks whose cells show something else than they hold: each is read as it is shown, or is an error at its cell."""

import io
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import Any
from xml.etree import ElementTree as ET
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from openpyxl import Workbook
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from support.fuzzed import damaged, fuzzed
from support.importing import Importer, counts
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import open_import
from tradecounter.bulk.rows import BadRow, Row

pytestmark = pytest.mark.sweep(every=4)

PRICES = ["price_list", "sku", "single_unit_cost", "five_plus_unit_cost"]


@pytest.fixture(scope="module")
def shop(importer: Importer) -> Importer:
    importer.load("products", [{"sku": "PHONE", "name": "Phone", "manufacturer": "acme"}])
    importer.load("price-list", [{"price_list": "default", "sku": "PHONE", "single_unit_cost": 5}])
    return importer


def book_of(rows: Sequence[Sequence[Any]], formats: dict[str, str] | None = None) -> Any:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    for cell, number_format in (formats or {}).items():
        book.active[cell].number_format = number_format
    return book


def saved(book: Any, change: tuple[str, str] | None = None) -> bytes:
    """A workbook's bytes; `change` replaces a text of its first sheet's XML."""
    file = io.BytesIO()
    book.save(file)
    if change is None:
        return file.getvalue()
    changed = io.BytesIO()
    with ZipFile(file) as old, ZipFile(changed, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                assert change[0].encode() in content
                content = content.replace(change[0].encode(), change[1].encode())
            new.writestr(name, content)
    return changed.getvalue()


def errors(shop: Importer, kind: str, content: bytes) -> list[tuple[int | None, str]]:
    before = shop.content()
    report = shop.load_text(kind, content, ".xlsx")
    assert shop.content() == before or not report.errors
    return [(error.line, error.message) for error in report.errors]


def test_the_first_visible_sheet_is_read(shop: Importer) -> None:
    book = book_of([["sku", "available"], ["PHONE", 1]])
    book.active.sheet_state = "hidden"
    book.create_sheet("Older").sheet_state = "veryHidden"
    book.create_chartsheet("Chart")
    now = book.create_sheet("Now")
    now.append(["sku", "available"])
    now.append(["PHONE", 31])
    report = shop.load_text("stock", saved(book), ".xlsx")
    assert report.file is not None
    assert report.file.sheet == "Now"
    assert shop.query("select available from stock_level") == [(31,)]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("kind", "header", "row", "field"),
    [
        ("price-list", PRICES, ["default", "PHONE", 2.5, "=C2*0.9"], "five_plus_unit_cost"),
        ("price-list", PRICES, ["default", '="PHO"&"NE"', 2.5, None], "sku"),
        ("stock", ["sku", "available"], ["PHONE", "=1+1"], "available"),
    ],
)
def test_a_formula_without_a_stored_result_is_an_error_and_deletes_nothing(
    kind: str, header: list[str], row: list[Any], field: str, shop: Importer
) -> None:
    [(line, message)] = errors(shop, kind, saved(book_of([header, row])))
    assert line == 2
    assert message.startswith(f"{field}: the formula =")
    assert "has no stored result: open and save the file in the spreadsheet program" in message


@pytest.mark.parametrize(
    ("cell", "stored"),
    [
        ('<c r="B2"><f>3+4</f><v>7</v></c>', 7),
        ('<c r="B2" t="str"><f>"8"</f><v>8</v></c>', 8),
        ('<c r="B2" t="n"><f t="shared" si="0"/><v>9</v></c>', 9),
    ],
)
def test_the_stored_result_of_a_formula_is_read(cell: str, stored: int, shop: Importer) -> None:
    book = book_of([["sku", "available"], ["PHONE", "=3+4"]])
    counts(shop.load_text("stock", saved(book, ('<c r="B2"><f>3+4</f><v /></c>', cell)), ".xlsx"))
    assert shop.query("select available from stock_level") == [(stored,)]


@pytest.mark.sweep
def test_a_formula_whose_result_is_an_empty_text_is_an_empty_cell(shop: Importer) -> None:
    book = book_of([["sku", "ean", "name"], ["PHONE", "=1", "Phone"]])
    empty = saved(book, ('<c r="B2"><f>1</f><v /></c>', '<c r="B2" t="str"><f>""</f><v></v></c>'))
    assert errors(shop, "products", empty) == []


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("value", "what"),
    [
        (date(2026, 3, 10), "a date (2026-03-10)"),
        (datetime(2026, 3, 10, 9, 30), "a date (2026-03-10 09:30:00)"),  # noqa: DTZ001 cells have no zone
        (time(9, 30), "a time (09:30:00)"),
        (timedelta(hours=30), "a duration (30:00:00)"),
    ],
)
def test_a_date_or_a_time_in_a_field_of_text_or_of_a_number_is_an_error(value: Any, what: str, shop: Importer) -> None:
    text = f"the cell is {what}: format it as text, then type the value again"
    assert errors(shop, "stock", saved(book_of([["sku", "available"], [value, 1]]))) == [(2, f"sku: {text}")]
    number = f"available: the cell is {what}, not a number"
    assert errors(shop, "stock", saved(book_of([["sku", "available"], ["PHONE", value]]))) == [(2, number)]


def test_dates_of_a_workbook_that_counts_from_1904_are_right(shop: Importer) -> None:
    book = book_of([["sku", "incoming", "expected_on"]])
    book.epoch = CALENDAR_MAC_1904
    book.active.append(["PHONE", 4, date(2026, 12, 24)])
    counts(shop.load_text("incoming", saved(book), ".xlsx"))
    assert shop.query("select to_char(expected_on, 'YYYY-MM-DD') from incoming_stock") == [("2026-12-24",)]


@pytest.mark.parametrize(
    ("number_format", "number", "ean"),
    [
        ("0000000000000", 36000291452, "0036000291452"),
        ("General", 4006381333931, "4006381333931"),
        ("0", 4006381333931, "4006381333931"),
        ("@", 96385074, "96385074"),
    ],
)
def test_a_number_in_a_field_of_text_is_read_as_it_is_shown(
    number_format: str, number: int, ean: str, shop: Importer
) -> None:
    book = book_of([["sku", "ean"], ["PHONE", number]], {"B2": number_format})
    assert errors(shop, "products", saved(book)) == []
    assert shop.query("select ean from product where sku = 'PHONE'") == [(ean,)]


@pytest.mark.parametrize(
    ("number_format", "number"), [("0.00E+00", 5901230000000), ("General", 10**15), ("0", 1.5), ("0,", 12000)]
)
def test_a_number_of_which_digits_are_lost_is_an_error_in_a_field_of_text(
    number_format: str, number: float, shop: Importer
) -> None:
    book = book_of([["sku", "name", "manufacturer"], [number, "N", "acme"]], {"A2": number_format})
    [(line, message)] = errors(shop, "products", saved(book))
    assert line == 2
    assert message.startswith(f"sku: the cell is the number {number}, but ")


@pytest.mark.sweep
@pytest.mark.parametrize("code", ["[$€-407] #,##0.00", '"$"#,##0.00', '#,##0.00\\ "USD"', "[$CHF] 0.00", '0"p"'])
@pytest.mark.parametrize(("kind", "column"), [("price-list", "C2"), ("stock", "B2")])
def test_a_number_in_another_currency_is_an_error(code: str, kind: str, column: str, shop: Importer) -> None:
    rows: dict[str, list[list[Any]]] = {
        "price-list": [PRICES, ["default", "PHONE", 2.5, None]],
        "stock": [["sku", "available"], ["PHONE", 2]],
    }
    [(line, message)] = errors(shop, kind, saved(book_of(rows[kind], {column: code})))
    assert line == 2
    assert "is in another currency than pounds" in message


@pytest.mark.sweep
@pytest.mark.parametrize("code", ["[$£-809]#,##0.00", "£#,##0.00", '0.00" GBP"', "[$-809]#,##0.00", "#,##0.00_);[Red]"])
def test_pounds_are_read(code: str, shop: Importer) -> None:
    book = book_of([PRICES, ["default", "PHONE", 1234.5, None]], {"C2": code})
    assert errors(shop, "price-list", saved(book)) == []
    assert shop.query("select single_unit_cost::text from price") == [("1234.50",)]


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("code", "number", "discount"),
    [('0.0"%"', 0.5, "0.50"), (r"0.0\%", 0.5, "0.50"), ("0.0%", 0.025, "2.50"), ("0;0%;0", 2.5, "2.50")],
)
def test_only_a_plain_per_cent_sign_scales(code: str, number: float, discount: str, shop: Importer) -> None:
    header = ["email_address", "first_name", "last_name", "discount"]
    book = book_of([header, ["p@p.example", "P", "P", number]], {"D2": code})
    assert errors(shop, "customers", saved(book)) == []
    assert shop.query("select discount::text from customer where email_key = 'p@p.example'") == [(discount,)]


@pytest.mark.parametrize(
    ("text", "name"),
    [("one_x000D_", "one"), ("_x0041_B", "AB"), ("_x005F_x000D_", "_x000D_"), ("_xD83D__xDE00_", "\U0001f600")],
)
def test_escaped_characters_are_decoded(text: str, name: str, shop: Importer) -> None:
    book = book_of([["sku", "name"], ["PHONE", "placeholder"]])
    content = saved(book)
    file = io.BytesIO()
    with ZipFile(io.BytesIO(content)) as old, ZipFile(file, "w") as new:
        for part in old.namelist():
            new.writestr(part, old.read(part).replace(b"placeholder", text.encode()))
    assert errors(shop, "products", file.getvalue()) == []
    assert shop.query("select name from product where sku = 'PHONE'") == [(name,)]


class Level(Struct, forbid_unknown_fields=True):
    """What a row has to look like."""

    sku: str
    available: int


SHEET = "xl/worksheets/sheet1.xml"
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
WHOLE = saved(book_of([["sku", "available"], *([f"S{number}", number] for number in range(12))]))
with ZipFile(io.BytesIO(WHOLE)) as parts:
    PARTS = {name: parts.read(name) for name in parts.namelist()}
PIECES = st.sampled_from(
    [
        b"<v/>", b"<f>1</f>", b"</row>", b"<row>", b"<c/>", b"</c>", b't="s"', b't="e"', b't="d"', b's="9"', b'r="A1"',
        b"<sheetData>", b"</sheetData>", b"<x>", b"&amp;", b"\x00", b'r="1"', b'r="99"',
    ]
)  # fmt: skip


def rows_with_content(sheet: bytes) -> int:
    """The rows of a sheet with a cell that is not empty, read by another parser."""
    rows = ET.fromstring(sheet).iter(f"{MAIN}row")  # noqa: S314 of the test
    return sum(1 for row in rows if "".join("".join(cell.itertext()) for cell in row).strip())


@pytest.mark.sweep
@fuzzed(200)
@given(sheet=damaged(PARTS[SHEET], PIECES))
def test_no_row_of_a_damaged_sheet_is_lost(sheet: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("sheets") / "damaged.xlsx"
    with ZipFile(path, "w") as damaged_book:
        for name, content in PARTS.items():
            damaged_book.writestr(name, sheet if name == SHEET else content)
    try:
        with open_import(str(path)) as opened:
            rows: list[Row[Level] | BadRow[Level]] = list(opened.rows(Level))
    except UnreadableFileError:
        return
    if rows and isinstance(rows[0], BadRow) and rows[0].errors[-1].message.startswith("the columns may be"):
        return  # the file is rejected for its header
    assert len(rows) + 1 >= rows_with_content(sheet)
