"""Imports of request bodies: every format has the report of the command line, and the event loop stays free."""

import asyncio
import io
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from openpyxl import Workbook

from support.importing import Importer, as_csv, as_json_lines
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.tables import ColumnOptions
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.imports.run import import_body, stored_body
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError, Kind

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
TOKEN = Actor("token", "ERP", 1, acting_user="ada")
ROWS = [{"sku": "A", "name": "A", "manufacturer": "acme"}, {"sku": "B", "name": "B", "manufacturer": "acme"}]


def as_xlsx(rows: list[dict[str, str]]) -> bytes:
    book, file = Workbook(), io.BytesIO()
    for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
        book.active.append(row)
    book.save(file)
    return file.getvalue()


async def send(importer: Importer, kind: str, content_type: str, body: bytes, **options: Any) -> ImportReport:
    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1000):
            yield body[start : start + 1000]

    columns = options.pop("columns", None)
    wanted = ImportOptions(**options)
    async with (
        Database(importer.url, connections=1) as database,
        stored_body(content_type, chunks()) as stored,
        transaction(database, TOKEN) as tx,
    ):
        return await import_body(tx, kind, stored, wanted, now=datetime.now(UTC), columns=columns)


@pytest.mark.parametrize(
    ("content_type", "body", "form"),
    [
        ("application/x-ndjson", as_json_lines(ROWS).encode(), ".jsonl"),
        ("application/jsonl", as_json_lines(ROWS).encode(), ".jsonl"),
        ("Text/CSV; charset=utf-8", as_csv(ROWS).encode(), ".csv"),
        (XLSX, as_xlsx(ROWS), ".xlsx"),
    ],
)
def test_a_body_has_the_report_of_the_same_file(content_type: str, body: bytes, form: str, importer: Importer) -> None:
    report = asyncio.run(send(importer, "products", content_type, body, dry_run=True, diff=True))
    assert (report.added, [change.key for change in report.diff or ()], report.diff_more) == (2, ["A", "B"], False)
    assert importer.load_text("products", body, form, dry_run=True, diff=True) == report


def test_columns_are_mapped_and_the_history_names_the_token(importer: Importer) -> None:
    columns = ColumnOptions({"Maker": "name"}, ignore_unknown=True)
    body = b"key,Maker,Town\nstream,Stream Ltd,Leeds\n"
    report = asyncio.run(send(importer, "manufacturers", "text/csv", body, columns=columns))
    assert report.added == 1
    assert importer.one("select made_by from import_run where id = %s", report.id) == "ERP (ada)"


@pytest.mark.parametrize(
    ("kind", "content_type", "body", "error"),
    [
        ("products", "application/json", b"[]", Kind.UNSUPPORTED_MEDIA),
        ("shoes", "text/csv", b"", Kind.NOT_FOUND),
        ("products", XLSX, b"PK not a workbook", Kind.INVALID),
        ("products", "text/csv", b"sku\nA\x81\n", Kind.INVALID),
    ],
)
def test_bodies_that_cannot_be_read_are_rejected(
    kind: str, content_type: str, body: bytes, error: Kind, importer: Importer
) -> None:
    with pytest.raises(DomainError) as rejected:
        asyncio.run(send(importer, kind, content_type, body))
    assert rejected.value.kind is error


def test_a_large_body_keeps_the_event_loop_free(importer: Importer) -> None:
    body = as_csv([{"key": f"m{number}", "name": f"Maker {number}"} for number in range(20_000)]).encode()

    async def longest_block() -> float:
        sending = asyncio.create_task(send(importer, "manufacturers", "text/csv", body, diff=True))
        longest, last = 0.0, time.thread_time()
        while not sending.done():
            await asyncio.sleep(0.001)
            longest, last = max(longest, time.thread_time() - last), time.thread_time()
        assert (await sending).added == 20_000
        return longest

    assert asyncio.run(longest_block()) < 0.2  # seconds of the loop's own thread; the whole import takes about one
