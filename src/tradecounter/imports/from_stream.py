"""Imports the body of a request while it arrives, without blocking the event loop."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import BinaryIO

from tradecounter.bulk.columns import ColumnOptions
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import Form, opened_file
from tradecounter.bulk.importing import ImportOptions, ImportReport
from tradecounter.db.pool import Database
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.run import import_rows
from tradecounter.kit.actor import Actor
from tradecounter.kit.errors import DomainError, Kind, not_found

MOST_BYTES = 500_000_000

FORMS: Mapping[str, Form] = {
    "application/x-ndjson": "JSON Lines",
    "application/jsonl": "JSON Lines",
    "text/csv": "CSV",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "XLSX",
}


async def import_stream(
    database: Database,
    kind: str,
    content_type: str,
    body: AsyncIterator[bytes],
    options: ImportOptions,
    *,
    actor: Actor,
    now: datetime,
    columns: ColumnOptions | None = None,
    on_hand: bool = False,
) -> ImportReport:
    """Import a request's body and return the report, with the facts of the file.

    The body is stored on disk until all of it is there; the transaction begins only then. Raises DomainError: not found
    (the kind), unsupported media, too large, invalid (an unreadable file) and those of `import_rows`.
    """
    if kind not in IMPORT_KINDS:
        raise not_found(f"import kind {kind}")
    form = FORMS.get(content_type.partition(";")[0].strip().lower())
    if form is None:
        raise DomainError(Kind.UNSUPPORTED_MEDIA, f"Content-Type must be one of {', '.join(FORMS)}")
    with tempfile.TemporaryFile() as file:
        await _store(body, file)
        try:
            opened = await asyncio.to_thread(opened_file, file, form)
            rows = opened.rows(IMPORT_KINDS[kind].shape, columns)
            report = await import_rows(database, kind, rows, options, on_hand=on_hand, actor=actor, now=now)
        except UnreadableFileError as error:
            raise DomainError(Kind.INVALID, f"the body is unreadable: {error}") from error
    report.file = opened.facts
    return report


async def _store(body: AsyncIterator[bytes], file: BinaryIO) -> None:
    size = 0
    async for chunk in body:
        size += len(chunk)
        if size > MOST_BYTES:
            raise DomainError(Kind.TOO_LARGE, f"the body is longer than {MOST_BYTES} bytes")
        await asyncio.to_thread(file.write, chunk)
    file.seek(0)
