"""Whatever a file that is imported contains, it is taken, or rejected without a trace."""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from support.backoffice import BackOfficeSite
from support.fuzzed import damaged, fuzzed
from support.import_examples import EXAMPLES
from support.orders import rows
from support.stored import stored
from tradecounter.bulk.tables import normal_name
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.payments.bank_file import FIELD_OF, SOURCES

pytestmark = pytest.mark.long

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
JSON_LINES = "application/jsonl"
PIECES = [
    b",", b";", b"\t", b"\n", b"\r", b'"', b'""', b"'", b"\x00", b"\xff", b"\x81", b"\xef\xbb\xbf", b"\xff\xfe",
    b"=1+1", b"@x",
    b"1e999", b"-1", b"NaN", b"99999999999999999999", b"2026-02-30", b"31/12/9999", b"1,200.00", b"true", b"null",
    b"{}", b"[",
    b"]", b"{", b"}", b":", b"\\u0000", b"\\ud800", b"a" * 40_000, b"\n" * 3000, b"," * 3000, b"\xe2\x80\xae",
    b"<v>", b"</row>",
    b"<!DOCTYPE x [<!ENTITY a 'b'>]>", b"&a;", b"&#0;", b't="s"', b"<c/>", b'r="XFD1048576"', b'r="A99999999"',
    b"PK\x05\x06",
]  # fmt: skip
pieces = st.sampled_from(PIECES) | st.binary(max_size=6)
kinds = st.sampled_from(sorted(IMPORT_KINDS))
queries = st.sampled_from(["", "?dry_run=true&diff=true", "?replace=true&confirmed=true", "?ignore_unknown=true"])


@cache
def sample(kind: str) -> bytes:
    return (files("tradecounter.imports") / "sample_files" / f"{kind}.csv").read_bytes()


@cache
def workbook(kind: str) -> dict[str, bytes]:
    """The parts of a workbook with the sample's rows."""
    return workbook_of(csv.reader(sample(kind).decode("utf-8-sig").splitlines()))


def workbook_of(cells: Iterable[Sequence[object]]) -> dict[str, bytes]:
    book, file = Workbook(), io.BytesIO()
    for row in cells:
        book.active.append(row)
    book.save(file)
    with ZipFile(file) as parts:
        return {name: parts.read(name) for name in parts.namelist()}


def archive(parts: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with ZipFile(file, "w", ZIP_DEFLATED) as zipped:
        for name, content in parts.items():
            zipped.writestr(name, content)
    return file.getvalue()


@cache
def json_lines(kind: str) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in EXAMPLES[kind].rows).encode()


def sent(
    staff: httpx2.Client, office: BackOfficeSite, path: str, content: bytes, media_type: str
) -> dict[str, Any] | None:
    """The response to a file that is taken; None if it is rejected, without a trace."""
    before = stored(office.service.database_url)
    response = staff.post(path, content=content, headers={"Content-Type": media_type})
    assert response.status_code in {200, 400, 409, 413, 422}, response.text
    if response.status_code != 200:
        assert response.json()["errors" if response.status_code == 422 else "message"]
        assert stored(office.service.database_url) == before
        return None
    taken: dict[str, Any] = response.json()
    return taken


@fuzzed(120)
@given(st.data(), kinds, queries)
def test_a_damaged_text_file_is_taken_or_rejected_without_a_trace(
    staff: httpx2.Client, office: BackOfficeSite, data: st.DataObject, kind: str, query: str
) -> None:
    media_type, whole = data.draw(st.sampled_from([("text/csv", sample(kind)), (JSON_LINES, json_lines(kind))]))
    sent(staff, office, f"/api/import/{kind}{query}", data.draw(damaged(whole, pieces)), media_type)


@fuzzed(80)
@given(st.data(), kinds, queries, st.booleans())
def test_a_damaged_workbook_is_taken_or_rejected_without_a_trace(
    staff: httpx2.Client, office: BackOfficeSite, data: st.DataObject, kind: str, query: str, inside: bool
) -> None:
    sent(staff, office, f"/api/import/{kind}{query}", damaged_workbook(data, workbook(kind), inside=inside), XLSX)


def damaged_workbook(data: st.DataObject, parts: dict[str, bytes], *, inside: bool) -> bytes:
    if inside:
        name = data.draw(st.sampled_from(sorted(parts)))
        return archive({**parts, name: data.draw(damaged(parts[name], pieces))})
    return data.draw(damaged(archive(parts), pieces))


def bank_file(headings: str) -> bytes:
    names = headings.split(",")
    values = {"credit": "10.00", "debit": "", "amount": "10.00", "date": "15/06/2026"}
    row = ",".join(values.get(FIELD_OF.get(normal_name(name), ""), "INV 1") for name in names)
    return f"{headings}\n{row}\n{row.replace('10.00', '-5')}\n".encode()


BANK_FILES = [bank_file(source.headings) for source in SOURCES] + [
    b"date,amount,reference\n2026-06-15,10.00,INV 1\n15/06/2026,-5,\n",
    "date;amount;reference\n15/06/2026;1.50;\u00a3 INV 1\n".encode("utf-16"),
]
bank_queries = st.sampled_from(["", "", "?dry_run=true", "?map=Memo=reference", "?map=Value=amount&map=x=date"])


@fuzzed(120)
@given(st.data(), st.sampled_from(BANK_FILES), bank_queries)
def test_no_line_of_a_damaged_bank_file_is_lost(
    staff: httpx2.Client, office: BackOfficeSite, data: st.DataObject, whole: bytes, query: str
) -> None:
    media_type = data.draw(st.sampled_from(["text/csv", "text/csv", JSON_LINES]))
    none_is_lost(staff, office, query, data.draw(damaged(whole, pieces)), media_type)


BANK_WORKBOOK = workbook_of(
    [
        ["Date", "Amount", "Reference"],
        [date(2026, 6, 15), 10.5, "INV 1"],
        ["15/06/2026", "7.25", 10143],
        [date(2026, 6, 14), -5, ""],
    ]
)


@fuzzed(80)
@given(st.data(), bank_queries, st.booleans())
def test_no_line_of_a_damaged_bank_workbook_is_lost(
    staff: httpx2.Client, office: BackOfficeSite, data: st.DataObject, query: str, inside: bool
) -> None:
    none_is_lost(staff, office, query, damaged_workbook(data, BANK_WORKBOOK, inside=inside), XLSX)


def none_is_lost(staff: httpx2.Client, office: BackOfficeSite, query: str, content: bytes, media_type: str) -> None:
    done = sent(staff, office, f"/api/payment/import{query}", content, media_type)
    if done is not None:
        assert done["recorded"] + done["payments_out"] + done["repeated"] + len(done["unplaced"]) == done["lines"]
        ids = [line["id"] for line in done["unplaced"] if line["id"] is not None]
        stored_ids = {line_id for (line_id,) in rows(office.service, "select id from bank_line")}
        assert len(ids) == len(set(ids))
        assert stored_ids.issuperset(ids)
        assert query == "?dry_run=true" or len(ids) == len(done["unplaced"])


@pytest.mark.parametrize("kind", ["categories", "manufacturers"])
def test_the_undamaged_files_are_taken(staff: httpx2.Client, kind: str) -> None:
    whole = [("text/csv", sample(kind)), (JSON_LINES, json_lines(kind)), (XLSX, archive(workbook(kind)))]
    for media_type, content in whole:
        path = f"/api/import/{kind}?dry_run=true"
        response = staff.post(path, content=content, headers={"Content-Type": media_type})
        assert response.status_code == 200, response.text
