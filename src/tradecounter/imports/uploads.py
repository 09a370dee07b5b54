"""Files that staff have uploaded to check and then to apply.

They are kept on disk, unnamed, until they are applied or discarded, at most for a day and until the process ends.
Reading a large file takes longer than a request may: it runs as a task, and its page shows how far it is.
"""

import asyncio
import os
import secrets
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from typing import BinaryIO, Literal

import psycopg
import structlog
from msgspec import Struct
from msgspec.structs import asdict, replace
from starlette.datastructures import UploadFile

from tradecounter.bulk.bad_rows import bad_rows_file, messages_by_line
from tradecounter.bulk.encodings import UnreadableFileError
from tradecounter.bulk.files import Form, form_of, opened_file
from tradecounter.bulk.importing import ImportOptions, ImportReport
from tradecounter.bulk.tables import ColumnOptions, UnreadableLineError
from tradecounter.db.pool import IMPORTS, Database, act_for
from tradecounter.db.transaction import transaction
from tradecounter.edge.permissions import Role
from tradecounter.imports.kinds import IMPORT_KINDS, importable_kinds
from tradecounter.imports.run import StoredBody, detected_kinds, import_body
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.json_text import to_json_lines

log = structlog.get_logger()

State = Literal["new", "checking", "checked", "applying", "applied"]

_MOST_KEPT = 20
_KEPT_FOR = timedelta(days=1)
_MOST_MESSAGES = 500  # kept of the errors, and of the warnings
MOST_BAD_ROWS = 5000  # kept of the rows with errors
_SOON = 1.5  # seconds for which a request waits, so that small files need no second look


class RenamedColumn(Struct, frozen=True):
    """The field of a column that has another name; empty if it has none."""

    theirs: str
    field: str = ""


class Wanted(Struct, frozen=True, kw_only=True):
    """How a file is imported; without a kind, nobody has said yet what it contains."""

    kind: str = ""
    columns: list[RenamedColumn] = []
    replace: bool = False
    confirmed: bool = False
    partial: bool = False
    on_hand: bool = False
    ignore_unknown: bool = False


class Upload(Struct):
    """An uploaded file, and how far its check or its import is.

    Attributes:
        owner: the id of the member of the staff who uploaded it, who alone sees it.
        fitting: the kinds that its columns fit.
        lines: the number of lines in the file, about; None if it is unknown.
        rows: the number of rows that were read so far.
        problem: why the last check or import failed as a whole.
        errors, warnings: how many there are; the report keeps the first ones.
        bad_rows: the first rows with errors as a CSV file, while others are good.
        bad_count: how many rows have errors.
        good_rows: rows that are left if those with errors are left out; 0 while no such choice is open.
        force: whether someone has agreed to prices that may be slips, and to new price lists.
        rule: the rule that made the rows, in words; empty for a file of someone.
        origin: the path of the form that made the rows.
    """

    id: str
    owner: int
    name: str
    size: int
    file: BinaryIO
    form: Form
    at: datetime
    fitting: list[str]
    lines: int | None
    wanted: Wanted
    state: State = "new"
    rows: int = 0
    report: ImportReport | None = None
    problem: str = ""
    errors: int = 0
    warnings: int = 0
    good_rows: int = 0
    bad_rows: str = ""
    bad_count: int = 0
    import_id: int | None = None
    force: bool = False
    rule: str = ""
    origin: str = ""
    task: asyncio.Task[None] | None = None

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"/import/check/{self.id}"

    @property
    def is_running(self) -> bool:
        """Whether it is being checked or applied."""
        return self.state in {"checking", "applying"}

    @property
    def changes(self) -> int:
        """How many records it would add, change or deactivate."""
        report = self.report
        return 0 if report is None else report.added + report.changed + report.deactivated

    @property
    def can_be_applied(self) -> bool:
        """Whether its check found something that changes, and no errors but in rows that are left out."""
        return self.state == "checked" and self.report is not None and not self.report.is_rejected and self.changes > 0

    @property
    def wants_force(self) -> bool:
        """Whether it changes prices that may be slips, or makes price lists."""
        return self.report is not None and self.report.prices is not None and self.report.prices.want_force

    @property
    def without_bad_rows(self) -> dict[str, str]:
        """The fields of the form that checks it again, without the rows that have errors."""
        ticked = {name: "true" for name, value in asdict(self.wanted).items() if value is True}
        columns = {
            f"columns-{n}-{key}": value for n, c in enumerate(self.wanted.columns) for key, value in asdict(c).items()
        }
        return {"kind": self.wanted.kind, **ticked, **columns, "partial": "true"}

    @property
    def columns_to_map(self) -> list[RenamedColumn]:
        """The columns that were mapped to a field, and those that still have none."""
        unknown = [] if self.report is None or self.report.file is None else self.report.file.unknown_columns
        return [*self.wanted.columns, *map(RenamedColumn, unknown)]

    def close(self) -> None:
        """Give the file's space back."""
        with suppress(OSError, ValueError):
            self.file.close()


class Uploads:
    """The uploaded files of this process."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._kept: dict[str, Upload] = {}

    async def keep(self, owner: int, uploaded: UploadFile, wanted: Wanted, roles: Iterable[Role]) -> Upload:
        """Keep a file and find out what it contains. Raises DomainError (invalid) for an unreadable one."""
        self._drop_old(room=1)
        own = os.fdopen(os.dup(uploaded.file.fileno()), "rb")
        await uploaded.close()  # nothing else gives the file of the request back before it is collected
        try:
            upload = await asyncio.to_thread(self._read, owner, uploaded.filename or "", own, wanted, set(roles))
        except UnreadableFileError as error:
            own.close()
            raise invalid("file", str(error)) from error
        self._kept[upload.id] = upload
        return upload

    async def keep_rows(self, owner: int, kind: str, rows: Sequence[Struct], rule: str, origin: str) -> Upload:
        """Keep the rows that a rule has made, as a file of a kind; `rule` and `origin` as in Upload."""
        self._drop_old(room=1)
        file = await asyncio.to_thread(_written, rows)
        upload_id, size, now = secrets.token_urlsafe(16), file.tell(), self._clock.now()
        upload = Upload(
            id=upload_id,
            owner=owner,
            name=rule,
            size=size,
            file=file,
            form="JSON Lines",
            at=now,
            fitting=[kind],
            lines=len(rows),
            wanted=Wanted(kind=kind),
            rule=rule,
            origin=origin,
        )
        self._kept[upload.id] = upload
        return upload

    def _read(self, owner: int, name: str, file: BinaryIO, wanted: Wanted, roles: set[Role]) -> Upload:
        file.seek(0, os.SEEK_END)
        size = file.tell()
        file.seek(0)
        form = form_of(name, file)
        lines = opened_file(file, form).lines
        fitting = [kind for kind in detected_kinds(file, form) if kind in importable_kinds(roles)]
        if not wanted.kind and len(fitting) == 1:
            wanted = replace(wanted, kind=fitting[0])
        name = os.path.basename(name.replace("\\", "/"))[:200]  # noqa: PTH119 a browser's path, not this machine's
        upload_id, now = secrets.token_urlsafe(16), self._clock.now()
        return Upload(upload_id, owner, name, size, file, form, now, fitting, lines, wanted)

    def find(self, upload_id: str, owner: int) -> Upload:
        """Return a file of a member of the staff. Raises DomainError (not found)."""
        self._drop_old()
        upload = self._kept.get(upload_id)
        if upload is None or upload.owner != owner:
            raise DomainError(Kind.NOT_FOUND, "this file is not kept any more: choose it again")
        return upload

    def of_import(self, import_id: int, owner: int) -> Upload | None:
        """Return the file of an import, if a member of the staff has uploaded it lately here."""
        self._drop_old()
        own = (upload for upload in self._kept.values() if upload.owner == owner)
        return next((upload for upload in own if upload.import_id == import_id), None)

    def of(self, owner: int) -> list[Upload]:
        """Return the files of a member of the staff that are not applied, the latest first."""
        self._drop_old()
        found = [upload for upload in self._kept.values() if upload.owner == owner and upload.state != "applied"]
        return sorted(found, key=lambda upload: upload.at, reverse=True)

    def discard(self, upload: Upload) -> None:
        """Forget a file. Raises DomainError (conflict) while it is being read."""
        _require_rest(upload)
        upload.close()
        self._kept.pop(upload.id, None)

    async def check(self, upload: Upload, wanted: Wanted, actor: Actor) -> None:
        """Begin a dry run, and wait a moment for it. Raises DomainError (conflict)."""
        _require_rest(upload)
        upload.wanted, upload.state = wanted, "checking"
        await self._begin(upload, actor)

    async def apply(self, upload: Upload, actor: Actor, *, force: bool = False) -> None:
        """Begin the import, and wait a moment for it; `force` as in Upload. Raises DomainError (conflict)."""
        _require_rest(upload)
        if not upload.can_be_applied:
            raise DomainError(Kind.CONFLICT, "only a file whose check found changes and no errors can be applied")
        upload.state, upload.force = "applying", force
        await self._begin(upload, actor)

    async def close(self) -> None:
        """End what runs, without a change, and forget all files."""
        running = [upload.task for upload in self._kept.values() if upload.task is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        for upload in self._kept.values():
            upload.close()
        self._kept.clear()

    async def _begin(self, upload: Upload, actor: Actor) -> None:
        upload.rows, upload.good_rows, upload.bad_count, upload.bad_rows, upload.problem = 0, 0, 0, "", ""
        upload.task = asyncio.create_task(self._run(upload, actor))
        await asyncio.wait({upload.task}, timeout=_SOON)

    async def _run(self, upload: Upload, actor: Actor) -> None:
        act_for(IMPORTS)
        applies = upload.state == "applying"
        try:
            report = await self._imported(upload, actor, dry_run=not applies)
            upload.report, upload.errors, upload.warnings = report, len(report.errors), len(report.warnings)
            bad = messages_by_line(report.errors)
            of_rows = len(bad) > 0 and all(error.line is not None for error in report.errors)
            good = max(0, upload.rows - len(bad)) if of_rows else 0
            upload.good_rows = good if report.is_rejected and not upload.wanted.partial else 0
            if good and upload.form in {"CSV", "XLSX"}:
                upload.bad_count = len(bad)
                first = dict(islice(sorted(bad.items()), MOST_BAD_ROWS))
                upload.bad_rows = await asyncio.to_thread(_bad_rows, upload, first)
            del report.errors[_MOST_MESSAGES:], report.warnings[_MOST_MESSAGES:]
            upload.import_id = report.id if applies else None
            upload.state = "applied" if report.id is not None and applies and not report.is_rejected else "checked"
        except DomainError as error:
            upload.state, upload.problem = "checked", error.message
        except psycopg.Error:
            log.exception("an uploaded file cannot be imported", file=upload.name)
            upload.state, upload.problem = "checked", "the database could not finish it; nothing has changed: try again"
        finally:
            if upload.is_running:  # cancelled, or an error that the log has
                upload.state, upload.problem = "checked", "it was interrupted; nothing has changed: check it again"
            if upload.problem:
                upload.report = None
            if upload.state == "applied":
                upload.close()

    async def _imported(self, upload: Upload, actor: Actor, *, dry_run: bool) -> ImportReport:
        def progress(rows: int) -> None:
            upload.rows = rows

        wanted = upload.wanted
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
            return await import_body(
                tx,
                wanted.kind,
                body,
                options,
                now=self._clock.now(),
                columns=_column_options(wanted),
                on_hand=wanted.on_hand,
            )

    def _drop_old(self, room: int = 0) -> None:
        """Forget files that are too old, and the oldest of too many, with `room` for more."""
        resting = [upload for upload in self._kept.values() if not upload.is_running]
        resting.sort(key=lambda upload: upload.at)
        end = self._clock.now() - _KEPT_FOR
        surplus = max(0, len(self._kept) - _MOST_KEPT + room)
        for number, upload in enumerate(resting):
            if number < surplus or upload.at < end:
                upload.close()
                del self._kept[upload.id]


def _column_options(wanted: Wanted) -> ColumnOptions:
    renamed = {column.theirs: column.field for column in wanted.columns}
    return ColumnOptions(renamed, wanted.ignore_unknown)


def _written(rows: Sequence[Struct]) -> BinaryIO:
    file = tempfile.TemporaryFile()  # noqa: SIM115 the upload closes it
    file.writelines(line + b"\n" for line in to_json_lines(rows))
    return file


def _bad_rows(upload: Upload, messages: dict[int, str]) -> str:
    shape = IMPORT_KINDS[upload.wanted.kind].shape
    opened = opened_file(upload.file, upload.form)
    try:
        return bad_rows_file(opened, shape, _column_options(upload.wanted), messages)
    except UnreadableLineError:  # nothing of such a file is imported
        return ""


def _require_rest(upload: Upload) -> None:
    if upload.is_running or upload.state == "applied":
        raise DomainError(Kind.CONFLICT, f"the file is {upload.state}")
