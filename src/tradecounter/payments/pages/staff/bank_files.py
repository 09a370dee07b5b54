"""Bank files on their way in, at `/payment/import`; those that were recorded, at `/bank-file`, and their roll-back."""

import asyncio
from datetime import datetime
from pathlib import PurePath
from typing import Any

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Nothing
from tradecounter.edge.page_kit.forms import MOST_BYTES, Filled, Submitted, listed_apart, parse_form, read_submitted
from tradecounter.edge.page_kit.tables import (
    Column,
    Order,
    Sort,
    Table,
    TableParameters,
    csv_of,
    cursor_text,
    read_cursor,
)
from tradecounter.edge.pages.listing import At, table_page
from tradecounter.edge.pages.operation import form, page, staff_id_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid
from tradecounter.kit.text import plural
from tradecounter.parts.back_office import OfficeParts
from tradecounter.payments.bank_file import MOST_LINES, SOURCES, first_cells, form_of_bank_file, read_bank_file
from tradecounter.payments.bank_line import BankRow
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.kept_files import KeptFile, KeptFiles
from tradecounter.payments.pages.staff.unplaced import LINE_CELLS, shared_reason
from tradecounter.payments.queries.bank_files import BankFileRecord, fetch_bank_file, list_bank_files
from tradecounter.payments.queries.bank_lines import BANK_LINES, BankLineFilter, BankLineRecord
from tradecounter.payments.roll_back_bank_file import ROLL_BACK_WITHIN, roll_back_bank_file
from tradecounter.payments.wire import PaymentImport, RolledBackFile

_UPLOAD, _CHECK = "/payment/import", "/payment/import/check/{file}"
_FILE_FIELD = "file"
_PARTS_OF_THE_FORM = 16 * 1024  # bytes beside the file's own
_MOST_SHOWN = 500  # lines
_SEE_OTHER = 303


class ColumnsForm(BankRow, frozen=True, kw_only=True):
    """The heading that someone chose for each field of a row; empty ones are found by what they are called."""


class BankFilePages(Struct, frozen=True):
    """The upload of a bank file, what it would pay, and its recording."""

    desk: PageDesk
    parts: OfficeParts
    files: KeptFiles = field(default_factory=KeptFiles)

    @page(_UPLOAD, "Upload a bank file", scope="billing:write")
    async def show_upload(self, call: Call) -> Response:
        return self._show_upload(call, Filled())

    @form(_UPLOAD, "Upload a bank file", scope="billing:write")
    async def upload(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=MOST_BYTES + _PARTS_OF_THE_FORM, most_files=1)
        try:
            kept = await self._keep(call, submitted)
        except DomainError as error:
            return self._show_upload(call, Filled.of(submitted, error, STATUS[error.kind]))
        finally:
            submitted.close()
        await self._look(call, kept)
        return self.desk.go(call, kept.path)

    @page(_CHECK, "What a bank file would pay", scope="billing:write")
    async def show_check(self, call: Call) -> Response:
        kept = self._kept(call)
        if kept.recorded_as is not None:
            return self.desk.go(call, f"/bank-file/{kept.recorded_as}")
        return self._show(call, kept, Filled())

    @form(_CHECK, "Read a bank file differently", scope="billing:write")
    async def check(self, call: Call) -> Response:
        kept, submitted = self._kept(call), await read_submitted(call)
        chosen = parse_form(submitted, ColumnsForm)
        kept.renamed = {heading: name for name in ColumnsForm.__struct_fields__ if (heading := getattr(chosen, name))}
        await self._look(call, kept)
        return self.desk.go(call, kept.path)

    @form("/payment/import/check/{file}/apply", "Record a bank file", scope="billing:write")
    async def apply(self, call: Call) -> Response:
        kept = self._kept(call)
        if kept.recorded_as is not None:
            return self.desk.go(call, f"/bank-file/{kept.recorded_as}")

        recorded: list[PaymentImport] = []

        async def work(tx: Transaction, _: Nothing, now: datetime) -> PaymentImport:
            result = await self._read(tx, kept, now, dry_run=False)
            if kept.result is None or _outcome(result) != _outcome(kept.result):
                raise DomainError(Kind.CONFLICT, "something has changed since you looked: look again, then record it")
            recorded.append(result)
            return result

        async def again(filled: Filled) -> Response:
            await self._look(call, kept)
            return self._show(call, kept, filled)

        response = await self.desk.change(
            call, Nothing, work, again=again, to=lambda result: f"/bank-file/{result.id}", done=_said_of_import
        )
        if recorded and response.status_code == _SEE_OTHER:
            kept.recorded_as, kept.content = recorded[-1].id, b""
        return response

    @form("/payment/import/check/{file}/discard", "Discard a bank file", scope="billing:write")
    async def discard(self, call: Call) -> Response:
        self.files.discard(self._kept(call))
        return self.desk.go(call, _UPLOAD, "The file is discarded. Nothing is recorded.")

    def _kept(self, call: Call) -> KeptFile:
        return self.files.find(call.path("file"), staff_id_of(call), self.desk.clock.now())

    async def _keep(self, call: Call, submitted: Submitted) -> KeptFile:
        file = submitted.files.get(_FILE_FIELD)
        if file is None:
            raise invalid(_FILE_FIELD, "choose a file")
        content, name = await file.read(), PurePath((file.filename or "").replace("\\", "/")).name[:200]
        kind = form_of_bank_file(name, content)
        headings = await asyncio.to_thread(first_cells, content, kind)
        return self.files.keep(staff_id_of(call), name, kind, content, headings, self.desk.clock.now())

    async def _look(self, call: Call, kept: KeptFile) -> None:
        """Find out what recording a file would do, without doing it."""

        async def work(tx: Transaction, _: Nothing, now: datetime) -> PaymentImport:
            return await self._read(tx, kept, now, dry_run=True)

        kept.result, filled = await self.desk.preview(call, Nothing, work, Submitted({}))
        kept.problem = filled.message.removeprefix(f"{_FILE_FIELD}: ")

    async def _read(self, tx: Transaction, kept: KeptFile, now: datetime, *, dry_run: bool) -> PaymentImport:
        file = await asyncio.to_thread(read_bank_file, kept.content, kept.form, uk_date(now), kept.renamed)
        return await import_payments(tx, file, now, name=kept.name, dry_run=dry_run)

    def _show_upload(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "payments/bank_file.html", form=filled, sources=SOURCES, most_lines=MOST_LINES)

    def _show(self, call: Call, kept: KeptFile, filled: Filled) -> Response:
        chosen = {name: heading for heading, name in kept.renamed.items()}
        shared = shared_reason(line.why for line in kept.result.unplaced) if kept.result else None
        return self.desk.show(
            call,
            "payments/bank_check.html",
            form=filled,
            kept=kept,
            result=kept.result,
            chosen=chosen or (kept.result.columns if kept.result else {}),
            headings=[heading for heading in dict.fromkeys(kept.headings) if heading],
            most=_MOST_SHOWN,
            shared=shared,
        )


def _outcome(result: PaymentImport) -> tuple[Any, ...]:
    """Return what two results must have in common to be the same; ids differ."""
    paid = [(line.line, line.amount, line.customer_id, line.allocations) for line in result.payments]
    return result.lines, result.repeated, paid, [(line.line, line.why) for line in result.unplaced]


def _said_of_import(result: PaymentImport) -> str:
    done = f"{plural(result.recorded, 'payment')} {'is' if result.recorded == 1 else 'are'} recorded."
    if not result.recorded:
        done = "No payment is recorded."
    return f"{done} {plural(len(result.unplaced), 'line')} could not be placed." if result.unplaced else done


_BANK_FILE, _ROLL_BACK_FILE = "/bank-file/{id}", "/bank-file/{id}/roll-back"


_HISTORY_COLUMNS = (
    Column("File"),
    Column("When"),
    Column("By"),
    Column("Lines", numeric=True),
    Column("Recorded", numeric=True),
    Column("Not placed", numeric=True),
    Column("Imported before", numeric=True),
    Column("Paid out", numeric=True),
    Column("State"),
)


_LINE_COLUMNS = (
    Column("Reference"),
    Column("Received"),
    Column("State"),
    Column("Amount", numeric=True),
)
_HEADINGS = ("id", "name", "at", "by", "lines", "recorded", "payments_out", "repeated", "unplaced", "rolled_back_at")
_AS_STORED = Sort("stored", descending=False)


class RollBackForm(Struct):
    """Whether lines that have changed since are left as they are."""

    force: bool = False


class BankHistoryPages(Struct, frozen=True):
    """The history of bank files."""

    desk: PageDesk
    parts: OfficeParts

    @table_page(
        "/bank-file",
        "Bank files",
        columns=_HISTORY_COLUMNS,
        order=Order({"id": int}, "-id", lambda made, _: (made.id, 0)),
        template="payments/bank_files.html",
        file="bank-files",
        cells={name: name for name in _HEADINGS},
        scope="billing:read",
    )
    async def list_files(self, tx: Transaction, wanted: TableParameters, at: At) -> list[BankFileRecord]:
        return await list_bank_files(tx, wanted.most, before=None if at["after"] is None else at["after"][0])

    @page(_BANK_FILE, "One bank file", scope="billing:read", query=TableParameters)
    async def show_file(self, call: Call) -> Response:
        wanted, file_id = call.query(TableParameters), call.path_id("id", "bank file")
        after = read_cursor(wanted.after, int)
        async with self.desk.reading() as tx:
            made = await fetch_bank_file(tx, file_id)
            lines = await BANK_LINES.page(
                tx, BankLineFilter(bank_file_id=file_id), "stored", wanted.most, descending=False, after=after
            )
        if wanted.is_file:
            return csv_of(f"bank-file-{file_id}", LINE_CELLS, lines)
        address = self.desk.view(call).at(f"/bank-file/{file_id}")
        table = Table.of(call, address, _LINE_COLUMNS, lines, _AS_STORED, _cursor)
        recent = made.rolled_back_at is None and made.at >= self.desk.clock.now() - ROLL_BACK_WITHIN
        return self.desk.show(call, "payments/bank_stored.html", made=made, table=table, can_be_undone=recent)

    @page(_ROLL_BACK_FILE, "Roll a bank file back", scope="billing:write")
    async def show_roll_back(self, call: Call) -> Response:
        return await self._show_roll_back(call, Filled(), [])

    @form(_ROLL_BACK_FILE, "Roll a bank file back", scope="billing:write")
    async def roll_back(self, call: Call) -> Response:
        file_id, changed = call.path_id("id", "bank file"), list[FieldError]()

        async def work(tx: Transaction, body: RollBackForm, now: datetime) -> RolledBackFile:
            with listed_apart(changed):
                return await roll_back_bank_file(tx, file_id, now, force=body.force)

        return await self.desk.change(
            call,
            RollBackForm,
            work,
            again=lambda filled: self._show_roll_back(call, filled, changed),
            to=f"/bank-file/{file_id}",
            done=_said_of_roll_back,
        )

    async def _show_roll_back(self, call: Call, filled: Filled, changed: list[FieldError]) -> Response:
        async with self.desk.reading() as tx:
            made: BankFileRecord = await fetch_bank_file(tx, call.path_id("id", "bank file"))
        return self.desk.show(call, "payments/bank_roll_back.html", form=filled, made=made, changed=changed)


def _cursor(line: BankLineRecord) -> str:
    return cursor_text(*BANK_LINES.place_of(line, "stored"))


def _said_of_roll_back(done: RolledBackFile) -> str:
    said = f"The file is rolled back: {plural(len(done.reversed), 'payment')} reversed."
    return f"{said} {plural(len(done.kept), 'line')} stayed." if done.kept else said
