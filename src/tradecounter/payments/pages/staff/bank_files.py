"""`/payment/import`: uploads a bank file, shows what it would pay, and records it; `/bank-file`: the recorded ones."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.bulk.files import Form
from tradecounter.bulk.roll_back import ROLL_BACK_WITHIN
from tradecounter.bulk.uploaded_files import UploadedFile, UploadedFiles, name_of_upload
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Nothing
from tradecounter.edge.page_kit.filled_forms import Filled, listed_apart
from tradecounter.edge.page_kit.forms import parse_form
from tradecounter.edge.page_kit.submitted_forms import MOST_BYTES, Submitted, read_submitted
from tradecounter.edge.page_kit.tables import (
    Column,
    Sort,
    Table,
    TableOrder,
    TableParameters,
    csv_of,
    cursor_text,
    read_cursor,
)
from tradecounter.edge.pages.listing import RowsToRead, table_page
from tradecounter.edge.pages.operation import form, page, staff_id_of
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.responses import STATUS
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid
from tradecounter.kit.text import plural
from tradecounter.parts.back_office import OfficeParts
from tradecounter.payments.bank_file import (
    MOST_LINES,
    SOURCES,
    BankFile,
    first_cells,
    form_of_bank_file,
    read_bank_file,
)
from tradecounter.payments.bank_line import BankRow
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.pages.staff.unplaced import LINE_CELLS, shared_reason
from tradecounter.payments.queries.bank_files import StoredFile, fetch_bank_file, list_bank_files
from tradecounter.payments.queries.bank_lines import BANK_LINES, BankLineFilter, BankLineRecord
from tradecounter.payments.roll_back_bank_file import roll_back_bank_file
from tradecounter.payments.wire import PaymentImport, RolledBackFile

_UPLOAD, _CHECK = "/payment/import", "/payment/import/check/{file}"
_BANK_FILE, _ROLL_BACK_FILE = "/bank-file/{id}", "/bank-file/{id}/roll-back"
_FILE_FIELD = "file"
_PARTS_OF_THE_FORM = 16 * 1024  # bytes beside the file's own
_MOST_SHOWN = 500  # lines
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


class UploadedBankFile(UploadedFile, kw_only=True):
    """An uploaded bank file, kept in memory.

    Attributes:
        headings: the cells of its first line.
        renamed: the field of each heading that its owner has chosen.
        result: what recording it would do, as of the last look.
        problem: why it is unreadable.
        recorded_as: the id of the bank file, once it is recorded.
    """

    form: Form
    content: bytes
    headings: Sequence[str] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    result: PaymentImport | None = None
    problem: str = ""
    recorded_as: int | None = None

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"/payment/import/check/{self.id}"


class RollBackForm(Struct):
    """Whether lines that have changed since the import stay as they are."""

    force: bool = False


class BankFilePages(Struct, frozen=True):
    """The upload of a bank file, the preview of its payments, and its recording; the recorded files."""

    desk: PageDesk
    parts: OfficeParts
    files: UploadedFiles[UploadedBankFile] = field(default_factory=UploadedFiles)

    @page(_UPLOAD, "Upload a bank file", scope="billing:write")
    async def show_upload(self, call: Call) -> Response:
        return self._show_upload(call, Filled())

    @form(_UPLOAD, "Upload a bank file", scope="billing:write")
    async def upload(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=MOST_BYTES + _PARTS_OF_THE_FORM, most_files=1)
        try:
            bank_file = await self._keep(call, submitted)
        except DomainError as error:
            return self._show_upload(call, Filled.of(submitted, error, STATUS[error.kind]))
        finally:
            submitted.close()
        await self._look(call, bank_file)
        return self.desk.go(call, bank_file.path)

    @page(_CHECK, "What a bank file would pay", scope="billing:write")
    async def show_check(self, call: Call) -> Response:
        bank_file = self._find(call)
        if bank_file.recorded_as is not None:
            return self.desk.go(call, f"/bank-file/{bank_file.recorded_as}")
        return self._show(call, bank_file, Filled())

    @form(_CHECK, "Read a bank file differently", scope="billing:write")
    async def check(self, call: Call) -> Response:
        bank_file, submitted = self._find(call), await read_submitted(call)
        chosen = parse_form(submitted, BankRow)
        columns = [(name, heading) for name in BankRow.__struct_fields__ if (heading := getattr(chosen, name))]
        renamed = {heading: name for name, heading in columns}
        twice = [name for name, heading in columns if renamed[heading] != name]
        if twice:
            error = invalid(twice[0], "must be another column than the one chosen for another field")
            return self._show(call, bank_file, Filled.of(submitted, error, STATUS[error.kind]))
        bank_file.renamed = renamed
        await self._look(call, bank_file)
        return self.desk.go(call, bank_file.path)

    @form("/payment/import/check/{file}/apply", "Record a bank file", scope="billing:write")
    async def apply(self, call: Call) -> Response:
        bank_file = self._find(call)
        if bank_file.recorded_as is not None:
            return self.desk.go(call, f"/bank-file/{bank_file.recorded_as}")
        content = bank_file.content  # which the same form, sent twice, may forget meanwhile

        async def work(tx: Transaction, _: Nothing, now: datetime, prepared: Any = None) -> PaymentImport:
            result = await import_payments(tx, prepared, now, name=bank_file.name)
            if bank_file.result is None or _outcome(result) != _outcome(bank_file.result):
                raise DomainError(Kind.CONFLICT, "something has changed since you looked: look again, then record it")
            return result

        def forget_content(result: PaymentImport) -> None:
            bank_file.recorded_as, bank_file.content = result.id, b""

        async def again(filled: Filled) -> Response:
            await self._look(call, bank_file)
            return self._show(call, bank_file, filled)

        return await self.desk.change(
            call,
            Nothing,
            work,
            again=again,
            to=lambda result: f"/bank-file/{result.id}",
            done=_said_of_import,
            before=lambda _body, _key: self._read(bank_file, content),
            after=forget_content,
        )

    @form("/payment/import/check/{file}/discard", "Discard a bank file", scope="billing:write")
    async def discard(self, call: Call) -> Response:
        self.files.discard(self._find(call))
        return self.desk.go(call, _UPLOAD, "The file is discarded. Nothing is recorded.")

    def _find(self, call: Call) -> UploadedBankFile:
        return self.files.fetch(call.path("file"), staff_id_of(call), self.desk.clock.now())

    async def _keep(self, call: Call, submitted: Submitted) -> UploadedBankFile:
        sent = submitted.files.get(_FILE_FIELD)
        if sent is None:
            raise invalid(_FILE_FIELD, "is required")
        content, name, now = await sent.read(), name_of_upload(sent.filename), self.desk.clock.now()
        file_format = form_of_bank_file(name, content)
        headings = await asyncio.to_thread(first_cells, content, file_format)
        bank_file = UploadedBankFile(
            owner=staff_id_of(call), name=name, at=now, form=file_format, content=content, headings=headings
        )
        self.files.keep(bank_file, now)
        return bank_file

    async def _look(self, call: Call, bank_file: UploadedBankFile) -> None:
        """Find out what recording a file would do, with a transaction that is rolled back."""
        bank_file.result = None
        try:
            read = await self._read(bank_file, bank_file.content)
        except DomainError as error:
            bank_file.problem = error.message.removeprefix(f"{_FILE_FIELD}: ")
            return

        async def work(tx: Transaction, _: Nothing, now: datetime) -> PaymentImport:
            return await import_payments(tx, read, now, name=bank_file.name, dry_run=True)

        bank_file.result, filled = await self.desk.preview(call, Nothing, work, Submitted({}))
        bank_file.problem = filled.message

    async def _read(self, file: UploadedBankFile, content: bytes) -> BankFile:
        """Read a file, before a transaction begins: it takes seconds."""
        today = uk_date(self.desk.clock.now())
        return await asyncio.to_thread(read_bank_file, content, file.form, today, file.renamed)

    def _show_upload(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "payments/bank_file.html", form=filled, sources=SOURCES, most_lines=MOST_LINES)

    def _show(self, call: Call, bank_file: UploadedBankFile, filled: Filled) -> Response:
        chosen = {name: heading for heading, name in bank_file.renamed.items()}
        shared = shared_reason(line.why for line in bank_file.result.unplaced) if bank_file.result else None
        return self.desk.show(
            call,
            "payments/bank_check.html",
            form=filled,
            kept=bank_file,
            result=bank_file.result,
            chosen=chosen or (bank_file.result.columns if bank_file.result else {}),
            headings=[heading for heading in dict.fromkeys(bank_file.headings) if heading],
            most=_MOST_SHOWN,
            shared=shared,
        )

    @table_page(
        "/bank-file",
        "Bank files",
        columns=_HISTORY_COLUMNS,
        order=TableOrder({"id": int}, "-id", lambda made, _: (made.id, 0)),
        template="payments/bank_files.html",
        file="bank-files",
        cells={name: name for name in _HEADINGS},
        scope="billing:read",
    )
    async def list_files(self, tx: Transaction, wanted: TableParameters, at: RowsToRead) -> list[StoredFile]:
        return await list_bank_files(tx, wanted.most, before=None if at["after"] is None else at["after"][0])

    @page(_BANK_FILE, "One bank file", scope="billing:read", query=TableParameters)
    async def show_file(self, call: Call) -> Response:
        wanted, file_id = call.query(TableParameters), call.path_id("id", "bank file")
        after = read_cursor(wanted.after, int)
        async with self.desk.reading() as tx:
            bank_file = await fetch_bank_file(tx, file_id)
            lines = await BANK_LINES.page(
                tx, BankLineFilter(bank_file_id=file_id), "stored", wanted.most, descending=False, after=after
            )
        if wanted.is_file:
            return csv_of(f"bank-file-{file_id}", LINE_CELLS, lines)
        address = self.desk.view(call).at(f"/bank-file/{file_id}")
        table = Table.of(call, address, _LINE_COLUMNS, lines, _AS_STORED, _cursor)
        recent = bank_file.rolled_back_at is None and bank_file.at >= self.desk.clock.now() - ROLL_BACK_WITHIN
        return self.desk.show(call, "payments/bank_stored.html", made=bank_file, table=table, can_be_undone=recent)

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
            bank_file = await fetch_bank_file(tx, call.path_id("id", "bank file"))
        return self.desk.show(call, "payments/bank_roll_back.html", form=filled, made=bank_file, changed=changed)


def _outcome(result: PaymentImport) -> tuple[Any, ...]:
    """Return what two results have in common if they record the same; ids differ, also those in reasons."""
    paid = [(line.line, line.amount, line.customer_id, line.allocations) for line in result.payments]
    return result.lines, result.repeated, paid, [line.line for line in result.unplaced]


def _said_of_import(result: PaymentImport) -> str:
    done = f"{plural(result.recorded, 'payment')} {'is' if result.recorded == 1 else 'are'} recorded."
    if not result.recorded:
        done = "No payment is recorded."
    return f"{done} {plural(len(result.unplaced), 'line')} could not be placed." if result.unplaced else done


def _cursor(line: BankLineRecord) -> str:
    return cursor_text(*BANK_LINES.place_of(line, "stored"))


def _said_of_roll_back(rolled_back: RolledBackFile) -> str:
    message = f"The file is rolled back: {plural(len(rolled_back.reversed), 'payment')} reversed."
    return f"{message} {plural(len(rolled_back.kept), 'line')} stayed." if rolled_back.kept else message
