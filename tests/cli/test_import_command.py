"""`import`: files and standard input, its report for programs and for people, and when it is rejected."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from support.command_line import Forker, Program

PRODUCTS = [{"sku": sku, "name": sku.title(), "manufacturer": "acme"} for sku in ("PHONE", "CABLE")]


@pytest.fixture(scope="module")
def tradecounter(database_url: str, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    folder = Path(tmp_path_factory.mktemp("imports"))
    (folder / "manufacturers.csv").write_text("key,name\nacme,Acme\n")
    (folder / "products.jsonl").write_text("".join(json.dumps(row) + "\n" for row in PRODUCTS))
    found = Program(folder, database_url, forker)
    found.json("import", "manufacturers", "manufacturers.csv")
    found.json("import", "products", "products.jsonl")
    return found


def counted(added: int = 0, changed: int = 0, unchanged: int = 0, deactivated: int = 0) -> dict[str, object]:
    return {"added": added, "changed": changed, "unchanged": unchanged, "deactivated": deactivated}


def counts(report: dict[str, Any]) -> dict[str, object]:
    """The numbers of a report."""
    return {name: report[name] for name in counted()}


def test_the_report_is_one_document(tradecounter: Program) -> None:
    facts: dict[str, Any] = {
        "form": "JSON Lines",
        "encoding": "utf-8",
        "separator": None,
        "sheet": None,
        "unknown_columns": [],
    }
    report = tradecounter.json("import", "products", "products.jsonl")
    [newest] = tradecounter.json("imports", "list", "--limit", "1")
    wanted = {"id": newest["id"], **counted(unchanged=2), "errors": [], "skipped": 0, "warnings": [], "file": facts}
    assert report == wanted


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    "given",
    [
        '{"sku":"PHONE","available":%d}\n{"sku":"CABLE","available":%d}',
        '\n\n{"sku":"PHONE","available":%d}\r\n\r\n{"sku":"CABLE","available":%d}\r\n',
        '[{"sku":"PHONE","available":%d},{"sku":"CABLE","available":%d}]',
        '\n [\n {"sku":"PHONE","available":%d},\n {"sku":"CABLE","available":%d}\n]\n',
        "sku,available\nPHONE,%d\nCABLE,%d\n",
        "\ufeffavailable,sku\r\n%d,PHONE\r\n%d,CABLE\r\n",
    ],
)
def test_the_format_of_standard_input_is_detected(given: str, tradecounter: Program) -> None:
    tradecounter.json("import", "stock", "-", given='{"sku":"PHONE","available":0}\n{"sku":"CABLE","available":0}')
    assert counts(tradecounter.json("import", "stock", "-", given=given % (7, 8))) == counted(changed=2)


def test_a_workbook_on_standard_input_is_detected(tradecounter: Program) -> None:
    book = Workbook()
    book.active.append(["sku", "available"])
    book.active.append(["PHONE", 3])
    file = io.BytesIO()
    book.save(file)
    report = tradecounter.json("import", "stock", "-", "--dry-run", given=file.getvalue())
    assert (report["file"]["form"], report["errors"]) == ("XLSX", [])


def test_lines_of_standard_input_are_counted_from_its_start(tradecounter: Program) -> None:
    done = tradecounter.run("import", "stock", "-", "--json", given='\n\n{"sku":"PHONE"}\n')
    assert done.document["errors"] == [{"line": 3, "message": "available: is required"}]


def test_empty_standard_input_is_rejected(tradecounter: Program) -> None:
    assert tradecounter.run("import", "stock", "-").status == 1


def set_stock(tradecounter: Program, phones: int) -> None:
    tradecounter.json("import", "stock", "-", given=f"sku,available\nPHONE,{phones}\n")


def test_the_summary_says_what_was_done(tradecounter: Program) -> None:
    set_stock(tradecounter, 0)
    given = "sku,available\nPHONE,70\n"
    tried = tradecounter.text("import", "stock", "-", "--dry-run", given=given)
    assert tried == "0 would be added, 1 would be changed, 0 unchanged, 0 would be deactivated\n"
    assert tradecounter.text("import", "stock", "-", given=given) == "0 added, 1 changed, 0 unchanged, 0 deactivated\n"
    assert counts(tradecounter.json("import", "stock", "-", "--dry-run", given=given)) == counted(unchanged=1)


def test_a_replacing_file_deactivates(tradecounter: Program) -> None:
    given = '{"sku":"PHONE"}'
    done = tradecounter.json("import", "products", "-", "--replace", "--yes", given=given)
    assert counts(done) == counted(unchanged=1, deactivated=1)
    back = tradecounter.json("import", "products", "products.jsonl", "--replace")
    assert counts(back) == counted(changed=1, unchanged=1)


def test_replacing_more_than_a_fifth_requires_yes(tradecounter: Program) -> None:
    given = '{"sku":"PHONE"}'
    found = "replacing would deactivate 1 of 2, more than a fifth"
    reason = tradecounter.error("import", "products", "-", "--replace", "--json", given=given)
    assert reason == f"{found}: confirm it with --yes"
    tried = tradecounter.json("import", "products", "-", "--replace", "--dry-run", given=given)
    assert counts(tried) == counted(unchanged=1, deactivated=1)
    assert tried["warnings"] == [{"line": None, "message": f"{found}: this requires --yes"}]


def test_a_rejected_import_reports_every_bad_row_and_ends_with_status_1(tradecounter: Program) -> None:
    given = "sku,available\nPHONE,1\nGONE,1\nCABLE,-1\nphone,2\n"
    errors = [
        {"line": 3, "message": 'sku: product "GONE" does not exist'},
        {"line": 4, "message": "available: '-1' has a sign, which has no meaning here: leave it out"},
        {"line": 5, "message": "repeats line 2"},
    ]
    set_stock(tradecounter, 70)
    reason = 'error: nothing was imported: line 3: sku: product "GONE" does not exist (and 2 more errors)\n'
    done = tradecounter.run("import", "stock", "-", "--json", given=given)
    assert (done.status, done.err) == (1, reason)
    assert (counts(done.document), done.document["errors"]) == (counted(), errors)
    told = tradecounter.run("import", "stock", "-", given=given)
    assert (told.status, told.out) == (1, "")
    assert told.err == "".join(f"line {error['line']}: {error['message']}\n" for error in errors) + reason
    # Nothing of it was kept.
    assert counts(tradecounter.json("import", "stock", "-", given="sku,available\nPHONE,70\n")) == counted(unchanged=1)


def test_all_errors_of_the_columns_are_reported_together(tradecounter: Program) -> None:
    given = "Item Code,Availble,Bin\nPHONE,1,A7\n"
    done = tradecounter.run("import", "stock", "-", "--json", given=given)
    assert done.status == 1
    assert [error["message"] for error in done.document["errors"]] == [
        "column 'Item Code' is unknown",
        "column 'Availble' is unknown; did you mean available?",
        "column 'Bin' is unknown",
        "there is no column for sku",
        "there is no column for available",
        "the columns may be sku, available, location",
    ]
    assert {error["line"] for error in done.document["errors"]} == {1}
    assert done.err == (
        "error: nothing was imported: line 1: column 'Item Code' is unknown (and 5 more errors); "
        "--map THEIRS=OURS names a column's field, --ignore-unknown ignores the others\n"
    )


def test_an_invalid_value_gets_no_hint_about_mapping_columns(tradecounter: Program) -> None:
    done = tradecounter.run("import", "stock", "-", "--ignore-unknown", given="sku,available,Bin\nPHONE,many,A7\n")
    problem = "available: 'many' is not a whole number such as 1200"
    assert done.err.splitlines()[-1] == f"error: nothing was imported: line 2: {problem}"


def test_columns_are_mapped_and_unknown_ones_are_ignored(tradecounter: Program) -> None:
    set_stock(tradecounter, 0)
    given = "Item Code;Qty on hand;Bin\nPHONE;1071;A7\n"
    options = ("--map", "item code=sku", "--map", "Qty on hand = available", "--ignore-unknown")
    done = tradecounter.json("import", "stock", "-", *options, given=given)
    assert counts(done) == counted(changed=1)
    assert (done["file"]["separator"], done["file"]["unknown_columns"]) == (";", ["Bin"])
    told = tradecounter.run("import", "stock", "-", *options, "--dry-run", given=given)
    assert (told.status, told.err) == (0, "note: columns without a field: Bin\n")


def test_mapping_a_missing_column_is_an_error(tradecounter: Program) -> None:
    given = "sku,available\nPHONE,1\n"
    done = tradecounter.run("import", "stock", "-", "--map", "Code=sku", "--json", given=given)
    assert done.document["errors"][0] == {"line": 1, "message": "there is no column 'Code' to map"}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("stock", "-", "--map", "Code"), "--map 'Code': must be THEIRS=OURS"),
        (("stock", "-", "--map", "=sku"), "--map '=sku': must be THEIRS=OURS"),
        (("stock", "-", "--map", "Code=code"), "'code' is not one of sku, available"),
        (("stock", "-", "--map", "A=sku", "--map", "B=sku"), "--map 'B=sku': 'sku' has another column already"),
        (("stock", "-", "--map", "A=sku", "--map", "a=available"), "the file's column has another field already"),
        (("products", "-", "--on-hand"), "--on-hand is only for imports of stock"),
        (("stock", "-", "-o", "changes.csv"), "-o is the file for --diff: add --diff"),
        (("shoes", "-"), "'shoes' is not one of categories"),
    ],
)
def test_contradictory_options_are_usage_errors(words: tuple[str, ...], problem: str, tradecounter: Program) -> None:
    assert problem in tradecounter.misused("import", *words)


@pytest.mark.parametrize("option", [("--map", "Code=sku"), ("--ignore-unknown",)])
def test_columns_of_json_cannot_be_mapped(option: tuple[str, ...], tradecounter: Program) -> None:
    reason = tradecounter.error("import", "products", "products.jsonl", *option, "--json")
    assert reason == "products.jsonl: JSON Lines: columns can be mapped in CSV and XLSX files only"


def test_a_note_says_that_a_file_is_read_as_cp1252(tradecounter: Program) -> None:
    given = "sku,name,manufacturer\nCAFE,Café £5,acme\n".encode("cp1252")
    told = tradecounter.run("import", "products", "-", "--dry-run", given=given)
    assert (told.status, told.err) == (
        0,
        "note: the file is not UTF-8, so it was read as Windows-1252 (cp1252)\n",
    )
    assert tradecounter.json("import", "products", "-", "--dry-run", given=given)["file"]["encoding"] == "cp1252"


def test_warnings_are_shown_and_the_import_succeeds(tradecounter: Program) -> None:
    lines = [f"list{number},PHONE,10,12" for number in range(25)]
    given = "price_list,sku,single_unit_cost,five_plus_unit_cost\n" + "\n".join(lines)
    told = tradecounter.run("import", "price-list", "-", "--dry-run", given=given)
    warnings = told.err.splitlines()
    assert told.status == 0
    assert (
        warnings[0]
        == "warning: line 2: five_plus_unit_cost: £12.00 is more than £10.00, the price of fewer units (sku PHONE)"
    )
    shown = [warning for warning in warnings if warning.startswith("warning:")]
    assert (len(shown), shown[-1]) == (21, "warning: 5 more, which --json lists")
    assert warnings[21] == "guarded: line 2: price list list0 has no prices yet and is no customer's (1 row)"
    assert warnings[-2:] == ["guarded: 5 more", "note: 25 price lists are new: the import wants --force"]
    assert len(tradecounter.json("import", "price-list", "-", "--dry-run", given=given)["warnings"]) == 25


def test_files_that_cannot_be_read_are_rejected(tradecounter: Program) -> None:
    (tradecounter.folder / "stock.pdf").write_text("x")
    (tradecounter.folder / "stock.jsonl").write_bytes(b'{"sku": "\xff", "available": 1}')
    (tradecounter.folder / "stock.csv").write_bytes(b"sku,available\n\x81,1\n")
    for name, reason in (
        ("nowhere.csv", "nowhere.csv: No such file or directory"),
        (".", ".: Is a directory"),
        ("stock.pdf", "stock.pdf: .pdf is not one of .jsonl, .ndjson, .json, .csv, .tsv, .txt, .xlsx"),
        ("stock.jsonl", "stock.jsonl: not UTF-8 text"),
        (
            "stock.csv",
            "stock.csv: line 2 is not UTF-8, and the file is not Windows-1252 (cp1252): save the file as UTF-8",
        ),
    ):
        assert tradecounter.error("import", "stock", name, "--json") == reason


def test_customers_cannot_be_replaced(tradecounter: Program) -> None:
    (tradecounter.folder / "customers.jsonl").write_text("")
    reason = "this kind of file cannot replace all records"
    assert tradecounter.error("import", "customers", "customers.jsonl", "--replace", "--json") == reason
