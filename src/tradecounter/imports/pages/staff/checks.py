"""`/import`: takes a file; `/import/check/{upload}`: shows what the file would change, and applies it."""

import asyncio
import os
from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace
from starlette.datastructures import UploadFile
from starlette.responses import Response

from tradecounter.audit.record import audit
from tradecounter.bulk.statements import stored_keys
from tradecounter.db.transaction import transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form
from tradecounter.edge.page_kit.submitted_forms import Submitted, read_submitted
from tradecounter.edge.page_kit.tables import Column, Sort, Table, TableParameters, csv_of, cursor_text, read_cursor
from tradecounter.edge.page_kit.values import label
from tradecounter.edge.pages.operation import form, page, roles_of_caller, staff_id_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS, file_response
from tradecounter.imports.current_file import current_file
from tradecounter.imports.kinds import (
    HISTORY_READERS,
    IMPORT_KINDS,
    IMPORTERS,
    ON_HAND,
    fields_of_kind,
    importable_kinds,
    readable_kinds,
)
from tradecounter.imports.pages.staff.one_import import shown_changes
from tradecounter.imports.queries import list_imports
from tradecounter.imports.run import MOST_BYTES
from tradecounter.imports.upload import MOST_BAD_ROWS, ImportChoices, ImportUpload
from tradecounter.imports.uploads import ImportUploads, SentFile
from tradecounter.kit.csv_text import MEDIA_TYPE
from tradecounter.kit.errors import DomainError, Kind, invalid, not_found
from tradecounter.parts.back_office import OfficeParts

_CHECK, _APPLY = "/import/check/{upload}", "/import/check/{upload}/apply"
_ROOM = 1_000_000  # bytes of a form besides its file
_COLUMNS = (
    Column("Import"),
    Column("When"),
    Column("Added", numeric=True),
    Column("Changed", numeric=True),
    Column("Deactivated", numeric=True),
    Column("Unchanged", numeric=True),
    Column("State"),
)
_UNTICKED = "tick this if the prices are right; otherwise correct the file"
_LATEST_FIRST = Sort("id", descending=True)


class ApplyForm(Struct, kw_only=True):
    """Whether prices that may be slips are imported."""

    force: bool = False


class ImportCheckPages(Struct, frozen=True):
    """Files to import: the upload, the check and the import; and the history of imports."""

    desk: PageDesk
    parts: OfficeParts
    file_lock: asyncio.Lock = field(default_factory=asyncio.Lock)  # of files of what is stored, which may be long

    @page("/import", "Imports", scope="catalogue:read", roles=HISTORY_READERS, query=TableParameters)
    async def list_imports(self, call: Call, filled: Filled) -> Response:
        wanted = call.query(TableParameters) if call.request.method != "POST" else TableParameters()
        after, seen = read_cursor(wanted.after, int), readable_kinds(roles_of_caller(call))
        async with self.desk.reading() as tx:
            records = await list_imports(tx, wanted.most, older_than=None if after is None else after[0], kinds=seen)
        if wanted.is_file:
            names = ("id", "kind", "at", "by", "added", "changed", "deactivated", "unchanged", "rolled_back_at")
            return csv_of("imports", {name: name for name in names}, records)
        address = self.desk.view(call).at("/import")
        table = Table.of(call, address, _COLUMNS, records, _LATEST_FIRST, lambda made: cursor_text(made.id, 0))
        kinds, uploads = importable_kinds(roles_of_caller(call)), self._uploads.unapplied(staff_id_of(call))
        return self.desk.show(
            call,
            "imports/list.html",
            form=filled,
            table=table,
            kinds=_named(kinds),
            kinds_with_fields=_with_fields(kinds),
            files=_named(_stored_kinds(call)),
            uploads=uploads,
        )

    @page("/import/file/{kind}", "A file of what is stored", scope="catalogue:write", roles=IMPORTERS)
    async def show_file(self, call: Call) -> Response:
        kind = call.path("kind")
        if kind not in _stored_kinds(call):
            raise not_found("import kind", kind)
        async with self.file_lock, self.desk.reading() as tx:
            content = await current_file(tx, kind)
        async with transaction(self.desk.database, call.actor) as tx:
            audit(tx, "import-file.download", f"import-file/{kind}", self.desk.clock.now())
        return file_response(content, f"{kind}.csv", MEDIA_TYPE)

    @form("/import", "Check a file", scope="catalogue:write", roles=IMPORTERS)
    async def upload(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=MOST_BYTES + _ROOM, most_files=1)
        try:
            kind = _permitted(call, parse_form(submitted, ImportChoices).kind)
            if "file" not in submitted.files:
                raise invalid("file", "is required")
            sent, wanted = await _taken_over(submitted.files["file"]), ImportChoices(kind=kind)
            made = await self._uploads.keep(staff_id_of(call), sent, wanted, roles_of_caller(call))
        except DomainError as error:
            return await self.list_imports(call, _filled(submitted, error))
        finally:
            submitted.close()
        if made.wanted.kind:
            await self._uploads.check(made, made.wanted, call.actor)
        return self.desk.go(call, made.path)

    @page(_CHECK, "What a file would change", scope="catalogue:write", roles=IMPORTERS)
    async def show_check(self, call: Call) -> Response:
        upload = self._upload(call)
        if upload.state == "applied":
            return self._applied(call, upload)
        return await self._show(call, "imports/check.html", upload, Filled())

    @form(_CHECK, "Check a file again", scope="catalogue:write", roles=IMPORTERS)
    async def check(self, call: Call) -> Response:
        upload, submitted = self._upload(call), await read_submitted(call)
        try:
            wanted = parse_form(submitted, ImportChoices)
            if not wanted.kind:
                raise invalid("kind", "say what the file contains")
            kind = _permitted(call, wanted.kind)
            columns = [column for column in wanted.columns if column.field in fields_of_kind(kind)]
            wanted = replace(wanted, kind=kind, columns=columns, on_hand=wanted.on_hand and kind in ON_HAND)
            await self._uploads.check(upload, wanted, call.actor)
        except DomainError as error:
            if error.kind is Kind.FORBIDDEN:
                raise
            return await self._show(call, "imports/check.html", upload, _filled(submitted, error))
        return self.desk.go(call, upload.path)

    @page("/import/check/{upload}/bad-rows", "The rows of a file with errors", scope="catalogue:write", roles=IMPORTERS)
    async def show_bad_rows(self, call: Call) -> Response:
        upload = self._upload(call)
        if not upload.outcome.bad_rows:
            raise DomainError(Kind.NOT_FOUND, "no rows of this file are left out")
        return file_response(upload.outcome.bad_rows, "bad-rows.csv", MEDIA_TYPE)

    @page(_APPLY, "Apply a file", scope="catalogue:write", roles=IMPORTERS, dangerous=True)
    async def show_apply(self, call: Call) -> Response:
        upload = self._upload(call)
        return await self._show(call, "imports/apply.html", upload, Filled())

    @form(_APPLY, "Apply a file", scope="catalogue:write", roles=IMPORTERS, dangerous=True)
    async def apply(self, call: Call) -> Response:
        upload, submitted = self._upload(call), await read_submitted(call)
        _permitted(call, upload.wanted.kind)
        if upload.state == "applied":
            return self._applied(call, upload)
        force = parse_form(submitted, ApplyForm).force
        if upload.can_be_applied and upload.wants_force and not force:
            filled = Filled(submitted.values, {"force": _UNTICKED}, "", STATUS[Kind.CONFLICT])
            return await self._show(call, "imports/apply.html", upload, filled)
        if upload.state != "applying":
            try:
                await self._uploads.apply(upload, call.actor, force=force)
            except DomainError as error:
                return await self._show(call, "imports/check.html", upload, _filled(Submitted({}), error))
        return self._applied(call, upload) if upload.outcome.import_id is not None else self.desk.go(call, upload.path)

    @form("/import/check/{upload}/discard", "Discard a file", scope="catalogue:write", roles=IMPORTERS)
    async def discard(self, call: Call) -> Response:
        self._uploads.discard(self._upload(call))
        return self.desk.go(call, "/import", "The file is discarded. Nothing has changed.")

    @property
    def _uploads(self) -> ImportUploads:
        return self.parts.uploads

    def _upload(self, call: Call) -> ImportUpload:
        return self._uploads.fetch(call.path("upload"), staff_id_of(call))

    def _applied(self, call: Call, upload: ImportUpload) -> Response:
        return self.desk.go(
            call, f"/import/{upload.outcome.import_id}", f"{upload.name} is applied. It can be rolled back."
        )

    async def _show(self, call: Call, template: str, upload: ImportUpload, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            lists = await stored_keys(tx, "price_list")
        kinds = importable_kinds(roles_of_caller(call))
        return self.desk.show(
            call,
            template,
            form=filled,
            upload=upload,
            most_bad_rows=MOST_BAD_ROWS,
            order=fields_of_kind(upload.wanted.kind),
            **shown_changes(upload.wanted.kind, lists, are_made=False),
            kinds=_named(kinds),
            kinds_with_fields=_with_fields(kinds),
            fitting=list(map(label, upload.fitting)),
            not_replaceable=[label(kind) for kind in kinds if IMPORT_KINDS[kind].removal is None],
            counted_on_hand=list(map(label, ON_HAND)),
        )


async def _taken_over(sent: UploadFile) -> SentFile:
    """Return a file that outlives its request. Nothing else frees the request's own before it is garbage-collected."""
    file = os.fdopen(os.dup(sent.file.fileno()), "rb")
    file.seek(0)
    await sent.close()
    return SentFile(sent.filename, file)


def _stored_kinds(call: Call) -> list[str]:
    """Return the kinds that the person may download. Customers have a file on the page of customers."""
    return [kind for kind in importable_kinds(roles_of_caller(call)) if IMPORT_KINDS[kind].area != "customers"]


def _named(kinds: Iterable[str]) -> list[tuple[str, str]]:
    return [(kind, label(kind)) for kind in kinds]


def _with_fields(kinds: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    return [(label(kind), IMPORT_KINDS[kind].hint, fields_of_kind(kind)) for kind in kinds]


def _permitted(call: Call, kind: str) -> str:
    """Return a kind if the person may import it. Raises DomainError: invalid, forbidden."""
    if kind and kind not in IMPORT_KINDS:
        raise invalid("kind", f"must be one of {', '.join(IMPORT_KINDS)}")
    if kind and kind not in importable_kinds(roles_of_caller(call)):
        raise DomainError(Kind.FORBIDDEN, f"files of the kind {kind} are for administrators")
    return kind


def _filled(submitted: Submitted, error: DomainError) -> Filled:
    """Return the form with an error; a missing file has an error too."""
    errors = {field_error.field: field_error.message for field_error in error.field_errors}
    known = errors.keys() <= {"file", "kind"} and errors
    return Filled(submitted.values, errors if known else {}, "" if known else error.message, STATUS[error.kind])
