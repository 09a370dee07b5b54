"""Imports the body of a request while it arrives, without blocking the event loop."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import BinaryIO

from msgspec import Struct

from tradecounter.bulk.columns import ColumnOptions
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import Form, opened_file
from tradecounter.bulk.importing import ImportOptions, ImportReport
from tradecounter.db.transaction import Transaction
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.run import import_in_transaction
from tradecounter.kit.errors import DomainError, Kind, not_found

MOST_BYTES = 500_000_000

FORMS: Mapping[str, Form] = {
    "application/x-ndjson": "JSON Lines",
    "application/jsonl": "JSON Lines",
    "text/csv": "CSV",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "XLSX",
}


class StoredBody(Struct, frozen=True):
    """A request's body on disk; `digest` is the hash of its bytes."""

    file: BinaryIO
    form: Form
    digest: bytes


@asynccontextmanager
async def stored_body(content_type: str, body: AsyncIterator[bytes]) -> AsyncIterator[StoredBody]:
    """Store a request's body on disk while the block runs, so that no transaction waits for it.

    Raises DomainError: unsupported media, too large.
    """
    form = FORMS.get(content_type.partition(";")[0].strip().lower())
    if form is None:
        raise DomainError(Kind.UNSUPPORTED_MEDIA, f"Content-Type must be one of {', '.join(FORMS)}")
    with tempfile.TemporaryFile() as file:
        yield StoredBody(file, form, await _store(body, file))


async def import_body(
    tx: Transaction,
    kind: str,
    body: StoredBody,
    options: ImportOptions,
    *,
    now: datetime,
    columns: ColumnOptions | None = None,
    on_hand: bool = False,
) -> ImportReport:
    """Import a request's body and return the report, with the facts of the file.

    Raises DomainError: not found (the kind), invalid (an unreadable file) and those of `import_in_transaction`.
    """
    if kind not in IMPORT_KINDS:
        raise not_found("import kind", kind)
    try:
        opened = await asyncio.to_thread(opened_file, body.file, body.form)
        rows = opened.rows(IMPORT_KINDS[kind].shape, columns)
        report = await import_in_transaction(tx, kind, rows, options, on_hand=on_hand, now=now)
    except UnreadableFileError as error:
        raise DomainError(Kind.INVALID, f"the body is unreadable: {error}") from error
    report.file = opened.facts
    return report


def detected_kinds(file: BinaryIO, form: Form) -> list[str]:
    """Return the kinds that a file's columns fit. Reads the file, so call it in a thread.

    Raises UnreadableFileError.
    """
    opened = opened_file(file, form)
    return [name for name, kind in IMPORT_KINDS.items() if opened.fits(kind.shape)]


async def _store(body: AsyncIterator[bytes], file: BinaryIO) -> bytes:
    size, digest = 0, hashlib.sha256()
    async for chunk in body:
        size += len(chunk)
        if size > MOST_BYTES:
            raise DomainError(Kind.TOO_LARGE, f"the body is longer than {MOST_BYTES} bytes")
        digest.update(chunk)
        await asyncio.to_thread(file.write, chunk)
    file.seek(0)
    return digest.digest()
