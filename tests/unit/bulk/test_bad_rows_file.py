"""The file of bad rows, which is read as the file that it comes from."""

import csv
import io
from pathlib import Path

import pytest

from tradecounter.bulk.bad_rows import bad_rows_file
from tradecounter.bulk.files import open_import
from tradecounter.bulk.rows import Row
from tradecounter.bulk.tables import ColumnOptions
from tradecounter.products.import_rows import ManufacturerRow


@pytest.mark.parametrize("cell", ['="0417723"', "'=A1", "''-7", "-7", "=A1", "'plain", "@", "\t=A1"])
def test_a_cell_is_read_as_that_of_the_whole_file_and_is_no_formula(cell: str, tmp_path: Path) -> None:
    whole, bad = tmp_path / "whole.csv", tmp_path / "bad.csv"
    text = io.StringIO(newline="")
    csv.writer(text).writerows([["key", "name"], [cell, "Acme"]])
    whole.write_text(text.getvalue(), newline="")
    with open_import(str(whole)) as opened:
        bad.write_text(bad_rows_file(opened, ManufacturerRow, ColumnOptions(), {2: "wrong"}), newline="")
    assert keys(bad) == keys(whole)
    written = list(csv.reader(io.StringIO(bad.read_text(), newline="")))[1][1]
    assert written == '="0417723"' or not written.startswith(("=", "-", "@", "\t"))


@pytest.mark.parametrize("beginning", ["", "sep=;\n", "sep=|\n"])
def test_the_file_has_the_separator_of_the_whole_one(beginning: str, tmp_path: Path) -> None:
    whole, bad = tmp_path / "whole.csv", tmp_path / "bad.csv"
    separator = beginning[4:5] or ";"
    whole.write_text(f"{beginning}key{separator}name\nacme{separator}Acme, Ltd\n")
    line = beginning.count("\n") + 2
    with open_import(str(whole)) as opened:
        bad.write_text(bad_rows_file(opened, ManufacturerRow, ColumnOptions(), {line: "wrong"}), newline="")
    assert keys(bad) == ["acme"]
    assert f"{separator}Acme, Ltd" in bad.read_text()


def keys(path: Path) -> list[str]:
    with open_import(str(path)) as opened:
        return [row.values.key for row in opened.rows(ManufacturerRow) if isinstance(row, Row)]
