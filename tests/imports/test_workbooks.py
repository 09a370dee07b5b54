"""Workbooks (.xlsx), as Excel and as other programs write them."""

import io
import tracemalloc
from collections import deque
from collections.abc import Callable, Sequence
from datetime import date, datetime, time
from typing import Any
from zipfile import ZipFile

import pytest
from openpyxl import Workbook
from openpyxl.worksheet.datavalidation import DataValidation

from support.importing import Importer, counts
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.workbooks import Workbook as SpreadsheetFile

pytestmark = pytest.mark.sweep(every=3)

_FAR = b'<row><c r="XFD1"/></row>'
METHOD = {"provider": "P", "region": 1, "countries": "GB", "max_weight_kg": 30, "base_cost_net": 5}


@pytest.fixture
def shop(own_importer: Importer) -> Importer:
    own_importer.load("products", [{"sku": "PHONE", "name": "Phone", "manufacturer": "acme"}])
    return own_importer


def workbook(*rows: Sequence[Any], formats: dict[str, str] | None = None) -> bytes:
    """A workbook with one sheet of these rows; `formats` are number formats by cell."""
    book = Workbook()
    sheet = book.active
    for row in rows:
        sheet.append(row)
    for cell, number_format in (formats or {}).items():
        sheet[cell].number_format = number_format
    return saved(book)


def saved(book: Any) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def test_rows_are_read_from_the_first_sheet(shop: Importer) -> None:
    book = Workbook()
    book.active.title = "Levels"
    book.active.append(["SKU", "Available"])
    book.active.append(["PHONE", 17])
    book.create_sheet("Notes").append(["not", "read"])
    report = shop.load_text("stock", saved(book), ".xlsx")
    assert counts(report) == (1, 0, 0, 0)
    assert shop.query("select available from stock_level") == [(17,)]
    assert report.file is not None
    assert (report.file.form, report.file.sheet, report.file.encoding) == ("XLSX", "Levels", None)


def test_cells_keep_what_they_mean(shop: Importer) -> None:
    header = ["sku", "ean", "name", "clearance_product", "weight_kg", "consumer_unit_cost"]
    shop.load_text("products", workbook(header, ["PHONE", 4006381333931, 12345, True, 0.1 + 0.2, 19.99 * 3]), ".xlsx")
    [row] = shop.query("select ean, name, clearance_product, weight_kg::text, consumer_unit_cost::text from product")
    assert row == ("4006381333931", "12345", True, "0.300", "59.97")


def test_dates_and_times_are_read_as_such(shop: Importer) -> None:
    rows: list[list[Any]] = [
        ["PHONE", 5, date(2026, 12, 1)],
        ["PHONE", 6, datetime(2026, 12, 2, 9, 30)],  # noqa: DTZ001 as cells are: without a zone
        ["PHONE", 7, "03/12/2026"],
    ]
    assert counts(shop.load_text("incoming", workbook(["sku", "incoming", "expected_on"], *rows), ".xlsx"))[0] == 3
    uk = "select to_char(expected_on at time zone 'Europe/London', 'YYYY-MM-DD HH24:MI') from incoming_stock order by 1"
    assert shop.query(uk) == [("2026-12-01 00:00",), ("2026-12-02 09:30",), ("2026-12-03 00:00",)]
    method = {"id": 1, **METHOD, "cut_off": time(16, 30)}
    shop.load_text("shipping-methods", workbook(list(method), list(method.values())), ".xlsx")
    assert shop.query("select cut_off from shipping_method") == [(time(16, 30),)]


def test_a_discount_that_is_shown_in_per_cent_is_that(shop: Importer) -> None:
    header = ["email_address", "first_name", "last_name", "discount"]
    rows: list[list[Any]] = [
        ["a@a.example", "A", "A", 0.025],
        ["b@b.example", "B", "B", 2.5],
        ["c@c.example", "C", "C", "2.5%"],
    ]
    counts(shop.load_text("customers", workbook(header, *rows, formats={"D2": "0.0%"}), ".xlsx"))
    assert shop.query("select discount::text from customer") == [("2.50",)] * 3


@pytest.mark.parametrize("error", ["#N/A", "#REF!", "#DIV/0!"])
def test_the_error_of_a_formula_is_a_fault_and_clears_nothing(error: str, shop: Importer) -> None:
    header = ["price_list", "sku", "single_unit_cost", "five_plus_unit_cost"]
    report = shop.load_text("price-list", workbook(header, ["default", "PHONE", 5, error]), ".xlsx")
    assert [(e.line, e.message) for e in report.errors] == [
        (2, f"five_plus_unit_cost: contains the spreadsheet error {error} (sku PHONE)")
    ]


def test_empty_rows_and_cells_do_no_harm_and_lines_count_as_shown(shop: Importer) -> None:
    rows: list[list[Any]] = [
        [],
        ["sku", "available", None],
        [],
        ["PHONE", 3],
        ["PHONE2", 4, None],
        ["PHONE3", None, "x"],
    ]
    report = shop.load_text("stock", workbook(*rows), ".xlsx")
    assert [(e.line, e.message) for e in report.errors] == [
        (5, 'sku: product "PHONE2" does not exist'),
        (6, "has 3 cells where the header has 2"),
    ]


def test_a_wrong_statement_of_the_sheets_size_loses_no_rows(shop: Importer) -> None:
    whole = workbook(["sku", "available"], ["PHONE", 88])
    changed = with_sheet(whole, lambda sheet: sheet.replace(b'<dimension ref="A1:B2"', b'<dimension ref="A1"'))
    counts(shop.load_text("stock", changed, ".xlsx"))
    assert shop.query("select available from stock_level") == [(88,)]


def test_what_only_matters_when_writing_is_passed_over_in_silence(
    shop: Importer, recwarn: pytest.WarningsRecorder
) -> None:
    book = Workbook()
    book.active.append(["sku", "available"])
    book.active.append(["PHONE", 3])
    book.active.add_data_validation(DataValidation(type="list", formula1='"1,2"'))
    shop.load_text("stock", saved(book), ".xlsx")
    assert not recwarn.list


@pytest.mark.sweep
def test_many_rows_are_read_in_order(shop: Importer) -> None:
    rows = [[f"maker{number:04}", f"Maker {number}"] for number in range(2500)]
    assert counts(shop.load_text("manufacturers", workbook(["key", "name"], *rows), ".xlsx")) == (2500, 0, 0, 0)
    bad = [*rows, ["", "Nameless"]]
    report = shop.load_text("manufacturers", workbook(["key", "name"], *bad), ".xlsx")
    assert [(e.line, e.message) for e in report.errors] == [(2502, "key: must not be empty")]


@pytest.mark.parametrize("content", [b"", b"sku,available\n", b"PK\x03\x04 not a zip", b"\xd0\xcf\x11\xe0 encrypted"])
def test_what_is_no_workbook_is_rejected(content: bytes, shop: Importer) -> None:
    with pytest.raises(UnreadableFileError, match="not an Excel workbook"):
        shop.load_text("stock", content, ".xlsx")


def test_a_workbook_that_unpacks_to_too_much_is_rejected(shop: Importer) -> None:
    content = workbook(["sku", "available"])
    place = content.index(b"PK\x01\x02") + 24  # the first part's size in the directory
    swollen = content[:place] + (301_000_000).to_bytes(4, "little") + content[place + 4 :]
    with pytest.raises(UnreadableFileError, match="more than 300 MB"):
        shop.load_text("stock", swollen, ".xlsx")


def with_sheet(whole: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """A workbook whose first sheet's XML is changed."""
    changed = io.BytesIO()
    with ZipFile(io.BytesIO(whole)) as old, ZipFile(changed, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    assert changed.getvalue() != whole
    return changed.getvalue()


@pytest.mark.sweep
def test_a_workbook_cut_short_is_rejected(shop: Importer) -> None:
    rows = [[f"maker{number}", f"Maker {number}"] for number in range(500)]
    cut = with_sheet(workbook(["key", "name"], *rows), lambda sheet: sheet[: len(sheet) // 2])
    before = shop.content()
    with pytest.raises(UnreadableFileError, match=r"the workbook is damaged after row \d+$"):
        shop.load_text("manufacturers", cut, ".xlsx")
    assert shop.content() == before


@pytest.mark.parametrize("row", [1, 2])
def test_a_row_number_beyond_the_last_of_excel_is_rejected(row: int, shop: Importer) -> None:
    content = workbook(["sku", "available"], ["PHONE", 7])
    far = with_sheet(content, lambda sheet: sheet.replace(b'<row r="%d"' % row, b'<row r="999999999999"'))
    with pytest.raises(UnreadableFileError, match="the sheet has more than 1,048,576 rows: send it as CSV"):
        shop.load_text("stock", far, ".xlsx")


@pytest.mark.sweep
def test_rows_whose_last_cell_is_far_away_are_rejected(shop: Importer) -> None:
    rows = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (row, row) for row in range(3, 1500))
    content = workbook(["sku", "available"], ["PHONE", 7])
    wide = with_sheet(content, lambda sheet: sheet.replace(b"</sheetData>", rows + b"</sheetData>"))
    with pytest.raises(UnreadableFileError, match=r"the sheet has more than 20,000,000 cells up to row 12\d\d"):
        shop.load_text("stock", wide, ".xlsx")


def test_cells_that_short_rows_pass_over_take_little_memory() -> None:
    content = workbook(["sku", "available"])
    wide = with_sheet(content, lambda sheet: sheet.replace(b"</sheetData>", _FAR * 3000 + b"</sheetData>"))
    lines = SpreadsheetFile(io.BytesIO(wide)).lines()
    tracemalloc.start()
    try:
        with pytest.raises(UnreadableFileError, match="the sheet has more than 20,000,000 cells"):
            deque(lines, maxlen=0)
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()


def _with_undecodable_name(raw: bytes) -> bytes:
    """The first entry's name is announced as UTF-8 and is not."""
    entry = raw.index(b"PK\x01\x02")
    flags = raw[:entry] + raw[entry : entry + 8] + b"\x00\x08" + raw[entry + 10 :]
    return flags[: entry + 46] + b"\xff" + flags[entry + 47 :]


def _of_a_newer_zip_version(raw: bytes) -> bytes:
    entry = raw.index(b"PK\x01\x02")
    return raw[: entry + 6] + b"\x5a\x00" + raw[entry + 8 :]


@pytest.mark.parametrize("damage", [_with_undecodable_name, _of_a_newer_zip_version, lambda raw: raw[:-30]])
def test_a_damaged_archive_is_not_a_workbook(damage: Callable[[bytes], bytes]) -> None:
    raw = workbook(["sku", "available"], ["PHONE", 1])
    with pytest.raises(UnreadableFileError, match=r"^not an Excel workbook"):
        SpreadsheetFile(io.BytesIO(damage(raw)))
