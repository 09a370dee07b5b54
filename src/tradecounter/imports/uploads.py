"""The files to import that staff have uploaded to this process: keeps, checks and imports them.

Reading a file may take longer than a request may, so a task does it. The file's page shows its progress.
"""

import asyncio
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from typing import BinaryIO

import psycopg
import structlog
from msgspec import Struct
from msgspec.structs import replace

from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import ImportFile, form_of, opened_file
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.uploaded_files import UploadedFiles, name_of_upload
from tradecounter.db.fair_shares import IMPORTS, act_for
from tradecounter.db.pipeline import CommitInDoubtError
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction
from tradecounter.edge.permissions import Role
from tradecounter.imports.kinds import IMPORT_KINDS, importable_kinds
from tradecounter.imports.run import StoredBody, import_body
from tradecounter.imports.upload import (
    ImportChoices,
    ImportOutcome,
    ImportUpload,
    State,
    column_options,
    outcome_of,
    with_bad_rows,
)
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.json_text import to_json_lines

log = structlog.get_logger()

_SOON = 1.5  # seconds that a request waits for the task, so that the page of a small file shows the outcome at once
_INTERRUPTED = "it was interrupted; nothing has changed: check it again"
_UNFINISHED = "the database could not finish it; nothing has changed: try again"
_OUTDATED = "prices have changed since this was shown; nothing is applied: see the new prices with “Change the rule”"
_IN_DOUBT = (
    "the database did not confirm it, so it may have been carried out: look in the history before you apply it again"
)


class SentFile(Struct, frozen=True):
    """A file as a browser sent it, with the name there. The one who keeps it closes it."""

    name: str | None
    file: BinaryIO


class ImportUploads:
    """The uploaded files of this process; their contents are on disk, unnamed."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._files = UploadedFiles[ImportUpload]()

    async def keep(self, owner: int, sent: SentFile, wanted: ImportChoices, roles: Iterable[Role]) -> ImportUpload:
        """Keep a file and detect what it contains. Raises DomainError (invalid) for an unreadable one."""
        try:
            opened, kinds = await asyncio.to_thread(_read, sent)
        except UnreadableFileError as error:
            sent.file.close()
            raise invalid("file", str(error)) from error
        permitted = importable_kinds(roles)
        fitting = [kind for kind in kinds if kind in permitted]
        if not wanted.kind and len(fitting) == 1:
            wanted = replace(wanted, kind=fitting[0])
        upload = ImportUpload(
            owner=owner,
            name=name_of_upload(sent.name),
            at=self._clock.now(),
            file=opened.file,
            form=opened.facts.form,
            size=os.fstat(opened.file.fileno()).st_size,
            fitting=fitting,
            lines=opened.lines,
            wanted=wanted,
        )
        self._files.keep(upload, upload.at)
        return upload

    async def keep_rows(self, owner: int, kind: str, rows: Sequence[Struct], rule: str, origin: str) -> ImportUpload:
        """Keep the rows that a rule has made, as a file of a kind; `rule` and `origin` as in ImportUpload."""
        now, file = self._clock.now(), await asyncio.to_thread(_written, rows)
        upload = ImportUpload(
            owner=owner,
            name=rule,
            at=now,
            file=file,
            form="JSON Lines",
            size=file.tell(),
            fitting=[kind],
            lines=len(rows),
            wanted=ImportChoices(kind=kind),
            rule=rule,
            origin=origin,
        )
        self._files.keep(upload, now)
        return upload

    def fetch(self, upload_id: str, owner: int) -> ImportUpload:
        """Return a file of a member of staff. Raises DomainError (not found)."""
        return self._files.fetch(upload_id, owner, self._clock.now())

    def find_of_import(self, import_id: int, owner: int) -> ImportUpload | None:
        """Return the file of an import, if the member of staff has uploaded it and it is still kept."""
        uploads = self._files.of_owner(owner, self._clock.now())
        return next((upload for upload in uploads if upload.outcome.import_id == import_id), None)

    def unapplied(self, owner: int) -> list[ImportUpload]:
        """Return the files of a member of staff that are not applied, the latest first."""
        return [upload for upload in self._files.of_owner(owner, self._clock.now()) if upload.state != "applied"]

    def discard(self, upload: ImportUpload) -> None:
        """Forget a file. Raises DomainError (conflict) while it is being read, and after it is applied."""
        _require_rest(upload)
        self._files.discard(upload)

    async def check(self, upload: ImportUpload, wanted: ImportChoices, actor: Actor) -> None:
        """Begin a dry run, and wait for it for a moment. Raises DomainError (conflict)."""
        _require_rest(upload)
        upload.wanted, upload.state, upload.force = wanted, "checking", False
        await self._begin(upload, actor)

    async def apply(self, upload: ImportUpload, actor: Actor, *, force: bool = False) -> None:
        """Begin the import, and wait for it for a moment. Raises DomainError (conflict).

        `force`, as in ImportUpload, is for the prices that its check has shown: a partial check has left them out.
        """
        _require_rest(upload)
        if not upload.can_be_applied:
            raise DomainError(Kind.CONFLICT, "only a file whose check found changes and no errors can be applied")
        upload.state, upload.force = "applying", force and upload.wants_force
        await self._begin(upload, actor)

    async def close(self) -> None:
        """Cancel the tasks, which roll back, and forget all files."""
        uploads = self._files.all()
        tasks = [upload.task for upload in uploads if upload.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for upload in uploads:
            self._files.discard(upload)

    async def _begin(self, upload: ImportUpload, actor: Actor) -> None:
        upload.rows, upload.outcome = 0, ImportOutcome()
        upload.task = asyncio.create_task(self._run(upload, actor))
        await asyncio.wait({upload.task}, timeout=_SOON)

    async def _run(self, upload: ImportUpload, actor: Actor) -> None:
        act_for(IMPORTS)
        outcome = ImportOutcome(problem=_INTERRUPTED)
        try:
            outcome = await self._outcome(upload, actor)
            outcome = await with_bad_rows(upload, outcome)
        except Exception:
            log.exception("the task of an uploaded file failed", file=upload.name)
        finally:  # also after a cancellation
            upload.outcome = outcome
            upload.state = "checked" if outcome.import_id is None else "applied"
            if upload.state == "applied":
                upload.close()

    async def _outcome(self, upload: ImportUpload, actor: Actor) -> ImportOutcome:
        """Check or import a file, and return the outcome."""
        try:
            return outcome_of(upload, await self._import(upload, actor))
        except DomainError as error:
            return ImportOutcome(problem=error.message)
        except psycopg.Error as error:
            log.exception("an uploaded file cannot be imported", file=upload.name)
            return ImportOutcome(problem=_IN_DOUBT if isinstance(error, CommitInDoubtError) else _UNFINISHED)

    async def _import(self, upload: ImportUpload, actor: Actor) -> ImportReport:
        def progress(rows: int) -> None:
            upload.rows = rows

        wanted, dry_run = upload.wanted, upload.state == "checking"
        options = ImportOptions(
            dry_run=dry_run,
            replace=wanted.replace,
            confirmed=wanted.confirmed,
            partial=wanted.partial,
            confirmed_by="the box that lets it deactivate more than a fifth",
            force=upload.force,
            forced_by="check the file again: a tick",
            progress=progress,
            diff=dry_run,
            rule=upload.rule,
        )
        body = StoredBody(upload.file, upload.form, b"")
        async with transaction(self._database, actor) as tx:
            report = await import_body(
                tx,
                wanted.kind,
                body,
                options,
                now=self._clock.now(),
                columns=column_options(wanted),
                on_hand=wanted.on_hand,
            )
            if dry_run:
                upload.seen = report.digest
            elif report.digest != upload.seen:
                raise DomainError(Kind.CONFLICT, _OUTDATED)
            return report


_BUSY: Mapping[State, str] = {
    "checking": "being checked",
    "applying": "being applied",
    "applied": "already applied",
}


def _require_rest(upload: ImportUpload) -> None:
    if upload.is_running or upload.state == "applied":
        raise DomainError(Kind.CONFLICT, f"the file is {_BUSY[upload.state]}")


def _read(sent: SentFile) -> tuple[ImportFile, list[str]]:
    """Return a file, opened, and the kinds that its columns fit. Raises UnreadableFileError."""
    opened = opened_file(sent.file, form_of(sent.name or "", sent.file))
    return opened, [name for name, kind in IMPORT_KINDS.items() if opened.fits(kind.shape)]


def _written(rows: Sequence[Struct]) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115 the upload closes it
    file.writelines(line + b"\n" for line in to_json_lines(rows))
    return file
