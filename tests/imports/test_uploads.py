"""What a page says of an uploaded file is what the database has done."""

import asyncio
import errno
import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import psycopg
from structlog.testing import capture_logs
from structlog.types import EventDict

from support.importing import Importer
from tradecounter.db.pool import Database
from tradecounter.imports.upload import ImportChoices, ImportUpload
from tradecounter.imports.uploads import ImportUploads, SentFile
from tradecounter.kit.actor import SYSTEM
from tradecounter.kit.clock import SystemClock

FILE = b"sku,name,manufacturer\nA,Lamp,acme\nB,,acme\n"
CHOICES = ImportChoices(kind="products", partial=True)

# The commit of an import waits for a minute.
SLOW_COMMIT = """
    create function wait() returns trigger language plpgsql as $$ begin perform pg_sleep(60); return null; end $$;
    create constraint trigger wait after insert on product deferrable initially deferred
        for each row execute function wait()
"""


class FileOnDyingDisk(io.BufferedRandom):
    """A file that cannot be read any more once the database has a product."""

    def __init__(self, path: Path, url: str) -> None:
        super().__init__(io.FileIO(path, "w+"))
        self._url = url

    def seek(self, target: int, whence: int = 0, /) -> int:
        with psycopg.connect(self._url) as connection:
            if connection.execute("select from product").fetchone() is not None:
                raise OSError(errno.EIO, "Input/output error")
        return super().seek(target, whence)


async def applied(database: Database, file: BinaryIO) -> ImportUpload:
    """Keep, check and apply a file; its task has ended."""
    uploads = ImportUploads(database, SystemClock())
    file.write(FILE)
    file.seek(0)
    upload = await uploads.keep(1, SentFile("products.csv", file), CHOICES, ["administrator"])
    await uploads.check(upload, CHOICES, SYSTEM)
    await ended(upload)
    assert upload.can_be_applied
    await uploads.apply(upload, SYSTEM)
    await ended(upload)
    await uploads.close()
    return upload


async def ended(upload: ImportUpload) -> None:
    assert upload.task is not None
    await asyncio.wait({upload.task})


def test_an_import_whose_commit_is_in_doubt_is_not_called_undone(own_importer: Importer) -> None:
    own_importer.change(SLOW_COMMIT)

    async def run() -> ImportUpload:
        async with Database(own_importer.url, connections=1, commit_seconds=0.3) as database:
            with tempfile.TemporaryFile() as file:
                return await applied(database, file)

    upload = asyncio.run(run())
    assert "may have been carried out" in upload.outcome.problem
    assert "nothing has changed" not in upload.outcome.problem
    assert not upload.can_be_applied


def test_an_import_is_applied_even_if_the_file_of_its_bad_rows_cannot_be_made(
    own_importer: Importer, tmp_path: Path
) -> None:
    async def run() -> ImportUpload:
        async with Database(own_importer.url, connections=1) as database:
            return await applied(database, FileOnDyingDisk(tmp_path / "products.csv", own_importer.url))

    with capture_logs() as logs:
        upload = asyncio.run(run())
    assert _logged(logs) == [("the task of an uploaded file failed", "products.csv")]
    assert upload.state == "applied"
    [(latest,)] = own_importer.query("select max(id) from import_run")
    assert upload.outcome.import_id == latest
    assert own_importer.one("select count(*) from product") == 1


def test_an_unexpected_error_of_a_check_is_logged_at_once(own_importer: Importer, tmp_path: Path) -> None:
    async def run() -> ImportUpload:
        async with Database(own_importer.url, connections=1) as database:
            uploads, file = ImportUploads(database, SystemClock()), (tmp_path / "products.csv").open("w+b")
            upload = await uploads.keep(1, SentFile("products.csv", file), CHOICES, ["administrator"])
            file.close()
            await uploads.check(upload, CHOICES, SYSTEM)
            await ended(upload)
            return upload

    with capture_logs() as logs:
        upload = asyncio.run(run())
        assert _logged(logs) == [("the task of an uploaded file failed", "products.csv")]
    assert "nothing has changed" in upload.outcome.problem


def _logged(logs: Sequence[EventDict]) -> list[tuple[str, str]]:
    return [(entry["event"], entry["file"]) for entry in logs if entry["log_level"] == "error"]
