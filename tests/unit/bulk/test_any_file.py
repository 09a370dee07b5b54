"""Any file is read as rows and bad rows, or rejected as a whole."""

import gc
import io
import os
import threading
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from openpyxl import Workbook

from support.fuzzed import fuzzed
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import open_import
from tradecounter.bulk.rows import BadRow, Row, bad_row

pytestmark = pytest.mark.sweep


class _Renamed(Struct, rename={"external": "external_id"}):
    external: int
    sku: str


def test_a_bad_row_may_have_fields_with_other_names_in_the_file() -> None:
    row = bad_row(3, {"external_id": 7, "sku": 5}, _Renamed, {})
    assert [error.field for error in row.errors] == ["sku"]
    assert row.values is not None
    assert row.values.external == 7


class Level(Struct, forbid_unknown_fields=True):
    """What a row has to look like."""

    sku: str
    available: int


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def read(path: Path, content: bytes) -> list[Row[Level] | BadRow[Level]] | None:
    """The rows of a file, or None when it is rejected as a whole."""
    path.write_bytes(content)
    try:
        with open_import(str(path)) as file:
            return list(file.rows(Level))
    except UnreadableFileError:
        return None


PIECES = st.sampled_from(
    [
        *(
            b"sku",
            b"available",
            b",",
            b";",
            b"\t",
            b"\n",
            b"\r\n",
            b'"',
            b"A1",
            b"5",
            b"-",
            b" ",
            b"\x00",
            b"\xef\xbb\xbf",
        ),
        *(b"\xff\xfe", b"\xc3", b"\xe9", b"\x81", b"{", b"}", b"[", b"]", b":", b"null", b"1e999"),
        b'{"sku":"A","available":1}',
    ]
)


@fuzzed(200)
@given(
    content=st.binary(max_size=300) | st.lists(PIECES, max_size=40).map(b"".join),
    suffix=st.sampled_from([".csv", ".jsonl", ".json", ".xlsx", ".txt"]),
)
def test_any_bytes_are_rows_bad_rows_or_an_error(content: bytes, suffix: str, folder: Path) -> None:
    rows = read(folder / f"any{suffix}", content)
    assert rows is None or all(row.line >= 1 and (isinstance(row, Row) or row.errors) for row in rows)


@fuzzed(100)
@given(
    rows=st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=5), separator=st.sampled_from(",;\t")
)
def test_whatever_cells_contain_only_bad_values_are_rejected(
    rows: list[tuple[str, str]], separator: str, folder: Path
) -> None:
    quoted = [separator.join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
    content = "\n".join([f"sku{separator}available", *quoted]).encode("utf-8", "replace")
    found = read(folder / "cells.csv", content)
    assert found is not None
    assert all(isinstance(row, Row) or row.errors for row in found)


def workbook() -> dict[str, bytes]:
    """The parts of a good workbook, by name."""
    book, file = Workbook(), io.BytesIO()
    book.active.append(["sku", "available"])
    for number in range(20):
        book.active.append([f"S{number}", number])
    book.save(file)
    with ZipFile(file) as parts:
        return {name: parts.read(name) for name in parts.namelist()}


PARTS = workbook()


@fuzzed(100)
@given(name=st.sampled_from(sorted(PARTS)), place=st.floats(0, 1, exclude_max=True), with_what=st.binary(max_size=3))
def test_a_damaged_workbook_is_rows_or_an_error(name: str, place: float, with_what: bytes, folder: Path) -> None:
    part = PARTS[name]
    cut = int(place * len(part))
    damaged = {**PARTS, name: part[:cut] + with_what + part[cut + len(with_what) :]}
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_STORED) as parts:
        for part_name, content in damaged.items():
            parts.writestr(part_name, content)
    rows = read(folder / "damaged.xlsx", file.getvalue())
    assert rows is None or all(row.line >= 1 for row in rows)


@fuzzed(100)
@given(place=st.floats(0, 1, exclude_max=True), with_what=st.binary(min_size=1, max_size=3))
def test_a_damaged_archive_is_rows_or_an_error(place: float, with_what: bytes, folder: Path) -> None:
    file = io.BytesIO()
    with ZipFile(file, "w") as parts:
        for name, content in PARTS.items():
            parts.writestr(name, content)
    whole = file.getvalue()
    cut = int(place * len(whole))
    rows = read(folder / "archive.xlsx", whole[:cut] + with_what + whole[cut + len(with_what) :])
    assert rows is None or all(row.line >= 1 for row in rows)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_reading_may_stop_before_the_end_of_the_file(suffix: str, folder: Path) -> None:
    path = folder / f"left{suffix}"
    lines = ["sku,available", "A,1", "B,2"] if suffix == ".csv" else ['{"sku": "A", "available": 1}'] * 3
    path.write_text("\n".join(lines))
    with open_import(str(path)) as file:
        rows = file.rows(Level)
        first = next(rows)
    del rows
    gc.collect()
    assert isinstance(first, Row)
    assert first.values == Level("A", 1)


def test_a_pipe_with_the_name_of_a_file_is_read_like_one(folder: Path) -> None:
    path = folder / "pipe.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("sku,available\nA,1\n",))
    writer.start()
    with open_import(str(path)) as file:
        rows = list(file.rows(Level))
    writer.join()
    assert [row.values for row in rows] == [Level("A", 1)]
