"""`import --diff` and `import samples`: what is written where."""

import csv
import json
from pathlib import Path

import pytest

from support.command_line import Forker, Program
from tradecounter.bulk.differences import Change
from tradecounter.imports.commands import changes_to
from tradecounter.imports.kinds import IMPORT_KINDS


@pytest.fixture(scope="module")
def tradecounter(database_url: str, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    found = Program(Path(tmp_path_factory.mktemp("imports")), database_url, forker)
    written = found.json("import", "samples", "samples")
    assert written == {"files": [f"samples/{kind}.csv" for kind in IMPORT_KINDS]}
    for kind, path in zip(IMPORT_KINDS, written["files"], strict=True):
        report = found.json("import", kind, path, "--force")  # the list `gold` is new
        assert report["added"] > 0
        assert report["warnings"] == []
    return found


STOCK = "sku,available\nACME-100,121\nbolt-c2,1500\n"


@pytest.mark.sweep
def test_importing_the_samples_again_changes_nothing(tradecounter: Program) -> None:
    for kind in IMPORT_KINDS:
        report = tradecounter.json("import", kind, f"samples/{kind}.csv", "--dry-run")
        assert (report["added"], report["changed"], report["errors"]) == (0, 0, []), kind


def test_the_samples_show_every_field(tradecounter: Program) -> None:
    for kind, how in IMPORT_KINDS.items():
        header = (tradecounter.folder / "samples" / f"{kind}.csv").read_text().splitlines()[0].split(",")
        assert set(header) == set(how.shape.__struct_fields__) - {"manufacturer_name"}, kind


def test_samples_overwrite_no_file(tradecounter: Program) -> None:
    assert tradecounter.error("import", "samples", "samples") == (
        "samples/categories.csv exists: remove it, or choose another folder"
    )
    (tradecounter.folder / "file").write_text("")
    assert tradecounter.error("import", "samples", "file").startswith("file")
    assert tradecounter.text("import", "samples", "more").splitlines()[0] == "more/categories.csv"


def test_differences_are_lines_of_text_on_standard_output(tradecounter: Program) -> None:
    assert tradecounter.text("import", "stock", "-", "--dry-run", "--diff", given=STOCK) == (
        "line 2: ACME-100 changed: available 120 -> 121\n"
        "0 would be added, 1 would be changed, 1 unchanged, 0 would be deactivated\n"
    )


def test_differences_go_to_a_file_of_json_lines(tradecounter: Program) -> None:
    given = "price_list,sku,single_unit_cost\ngold,ACME-100,44.90\ngold,BOLT-C2,2.00\n"
    options = ("--replace", "--dry-run", "--diff", "-o", "changes.jsonl")
    report = tradecounter.json("import", "price-list", "-", *options, given=given)
    assert (report["added"], report["changed"], report["deactivated"]) == (1, 1, 0)
    lines = (tradecounter.folder / "changes.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {
            "line": 2,
            "key": "gold ACME-100",
            "change": "changed",
            "before": {"five_plus_unit_cost": 43.75, "ten_plus_unit_cost": 42.5},
            "after": {"five_plus_unit_cost": None, "ten_plus_unit_cost": None},
            "percent": 5.65,
        },
        {
            "line": 3,
            "key": "gold BOLT-C2",
            "change": "added",
            "before": None,
            "after": {
                "price_list": "gold",
                "sku": "BOLT-C2",
                "single_unit_cost": 2.0,
                "five_plus_unit_cost": None,
                "ten_plus_unit_cost": None,
            },
        },
    ]


def test_differences_are_in_the_json_report_without_a_file(tradecounter: Program) -> None:
    report = tradecounter.json("import", "stock", "-", "--dry-run", "--diff", given=STOCK)
    change = {
        "line": 2,
        "key": "ACME-100",
        "change": "changed",
        "before": {"available": 120},
        "after": {"available": 121},
    }
    assert (report["id"], report["diff"], report["diff_more"]) == (None, [change], False)


def test_imports_are_listed_and_rolled_back(tradecounter: Program) -> None:
    imported = tradecounter.json("import", "stock", "-", given=STOCK)
    newest = tradecounter.json("imports", "list")[0]
    assert (newest["id"], newest["kind"], newest["changed"]) == (imported["id"], "stock", 1)
    assert newest["rolled_back_at"] is None
    tradecounter.json("import", "stock", "-", given="sku,available\nACME-100,122\n")
    reason = tradecounter.error("imports", "roll-back", str(imported["id"]))
    assert reason.startswith("1 record has changed since: ACME-100; ")
    told = tradecounter.text("imports", "roll-back", str(imported["id"]), "--force")
    assert told == (
        f"import {imported['id']} is rolled back: 1 records are what they were\n"
        "overwritten, although changed since: ACME-100\n"
    )
    assert tradecounter.json("imports", "list", "--limit", "2")[1]["rolled_back_at"] is not None
    assert tradecounter.json("import", "stock", "samples/stock.csv", "--dry-run")["changed"] == 0


def test_differences_go_to_a_file_of_csv_with_a_line_for_each_field(tradecounter: Program) -> None:
    given = "sku,name,clearance_product\nACME-100,Acme 100 phone,yes\n"
    tradecounter.json("import", "products", "-", "--dry-run", "--diff", "-o", "changes.csv", given=given)
    with (tradecounter.folder / "changes.csv").open(newline="") as file:
        found = {row["field"]: row for row in csv.DictReader(file)}
    assert found["name"] == {
        "line": "2",
        "key": "ACME-100",
        "change": "changed",
        "field": "name",
        "before": "Acme 100 desk phone",
        "after": "Acme 100 phone",
    }
    assert (found["clearance_product"]["before"], found["clearance_product"]["after"]) == ("false", "true")
    assert len(found) == 2


def test_records_missing_from_a_replacing_file_are_reported_as_such(tradecounter: Program) -> None:
    given = "sku,available\nACME-100,120\nBOLT-C2,1500\n"
    options = ("--replace", "--yes", "--dry-run", "--diff", "--output", "changes.txt")
    tradecounter.text("import", "stock", "-", *options, given=given)
    assert (tradecounter.folder / "changes.txt").read_text() == (
        "not in the file: ACME-H1 deactivated: available 14 -> 0\n"
    )


def test_differences_of_an_import_match_its_changes(tradecounter: Program) -> None:
    told = tradecounter.text("import", "stock", "-", "--diff", "-o", "-", given=STOCK)
    assert told.startswith("line 2: ACME-100 changed: available 120 -> 121\n0 added, 1 changed")
    tradecounter.text("import", "stock", "samples/stock.csv")


def test_differences_are_printed_once_the_transaction_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    with changes_to(None, wanted=True) as write:
        assert write is not None
        write(Change(2, "ACME-100", "changed", {"available": 120}, {"available": 121}))
        assert capsys.readouterr().out == ""
    assert capsys.readouterr().out == "line 2: ACME-100 changed: available 120 -> 121\n"


def test_a_file_that_cannot_be_written_stops_the_import_before_it_begins(tradecounter: Program) -> None:
    reason = tradecounter.error("import", "stock", "-", "--diff", "-o", "nowhere/changes.csv", given=STOCK)
    assert reason == "nowhere/changes.csv: No such file or directory"
    assert tradecounter.json("import", "stock", "samples/stock.csv", "--dry-run")["changed"] == 0


def test_no_spreadsheet_takes_differences_for_formulas(tradecounter: Program) -> None:
    given = "sku,name\nACME-100,=1+1\n"
    tradecounter.json("import", "products", "-", "--dry-run", "--diff", "-o", "formulas.csv", given=given)
    with (tradecounter.folder / "formulas.csv").open(newline="") as file:
        assert [row["after"] for row in csv.DictReader(file)] == ["'=1+1"]
