"""`import`: files and standard input, its report for programs and for people, and when it is refused."""

import json
from pathlib import Path

import pytest

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
    return {"added": added, "changed": changed, "unchanged": unchanged, "deactivated": deactivated, "errors": []}


def test_the_report_is_one_document(tradecounter: Program) -> None:
    assert tradecounter.json("import", "products", "products.jsonl") == counted(unchanged=2)


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
def test_standard_input_tells_its_form_by_itself(given: str, tradecounter: Program) -> None:
    tradecounter.json("import", "stock", "-", given='{"sku":"PHONE","available":0}\n{"sku":"CABLE","available":0}')
    assert tradecounter.json("import", "stock", "-", given=given % (7, 8)) == counted(changed=2)


def test_lines_of_standard_input_are_counted_from_its_start(tradecounter: Program) -> None:
    done = tradecounter.run("import", "stock", "-", "--json", given='\n\n{"sku":"PHONE"}\n')
    assert done.document["errors"] == [{"line": 3, "message": "available: is required"}]


def test_nothing_on_standard_input_is_refused(tradecounter: Program) -> None:
    assert tradecounter.run("import", "stock", "-").status == 1


def test_people_are_told_what_was_done(tradecounter: Program) -> None:
    given = "sku,available\nPHONE,70\n"
    tried = tradecounter.text("import", "stock", "-", "--dry-run", given=given)
    assert tried == "0 would be added, 1 would be changed, 0 unchanged, 0 would be deactivated\n"
    assert tradecounter.text("import", "stock", "-", given=given) == "0 added, 1 changed, 0 unchanged, 0 deactivated\n"
    assert tradecounter.json("import", "stock", "-", "--dry-run", given=given) == counted(unchanged=1)


def test_a_replacing_file_deactivates(tradecounter: Program) -> None:
    given = '{"sku":"PHONE"}'
    tried = tradecounter.json("import", "products", "-", "--replace", "--dry-run", given=given)
    assert tried == counted(unchanged=1, deactivated=1)
    assert tradecounter.json("import", "products", "-", "--replace", given=given) == tried
    back = tradecounter.json("import", "products", "products.jsonl", "--replace")
    assert back == counted(changed=1, unchanged=1)


def test_a_refused_import_reports_every_bad_row_and_ends_with_status_1(tradecounter: Program) -> None:
    given = "sku,available\nPHONE,1\nGONE,1\nCABLE,-1\nphone,2\n"
    errors = [
        {"line": 3, "message": 'sku: there is no product "GONE"'},
        {"line": 4, "message": "available: must be at least 0"},
        {"line": 5, "message": "repeats what is on line 2"},
    ]
    done = tradecounter.run("import", "stock", "-", "--json", given=given)
    assert (done.status, done.document) == (1, {**counted(), "errors": errors})
    told = tradecounter.run("import", "stock", "-", given=given)
    assert (told.status, told.out) == (1, "")
    assert told.err.splitlines() == [
        *(f"line {error['line']}: {error['message']}" for error in errors),
        "error: 3 bad rows; nothing was imported",
    ]
    # Nothing of it was kept.
    assert tradecounter.json("import", "stock", "-", given="sku,available\nPHONE,70\n") == counted(unchanged=1)


def test_an_unknown_column_is_reported_with_its_line(tradecounter: Program) -> None:
    done = tradecounter.run("import", "stock", "-", "--json", given="sku,stock\nPHONE,1\n")
    message = "column 'stock' is not one of sku, available"
    assert (done.status, done.document["errors"]) == (1, [{"line": 1, "message": message}])


def test_files_that_cannot_be_read_are_refused(tradecounter: Program) -> None:
    (tradecounter.folder / "stock.txt").write_text("x")
    (tradecounter.folder / "stock.csv").write_bytes(b"sku,available\n\xff,1\n")
    for name, reason in (
        ("nowhere.csv", "nowhere.csv: No such file or directory"),
        (".", ".: Is a directory"),
        ("stock.txt", "stock.txt: .txt is not .jsonl, .json or .csv"),
        ("stock.csv", "stock.csv: not UTF-8 text"),
    ):
        assert tradecounter.refused("import", "stock", name, "--json") == reason


def test_customers_cannot_be_replaced(tradecounter: Program) -> None:
    (tradecounter.folder / "customers.jsonl").write_text("")
    reason = "this kind of file cannot replace what is there"
    assert tradecounter.refused("import", "customers", "customers.jsonl", "--replace", "--json") == reason
