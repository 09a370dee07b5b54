"""`/bank-file`: the bank files that were recorded, what came of their lines, and their roll-back."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled, listed_apart
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
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import FieldError
from tradecounter.kit.text import plural
from tradecounter.parts.back_office import OfficeParts
from tradecounter.payments.pages.staff.unplaced import LINE_CELLS
from tradecounter.payments.queries.bank_files import BankFileRecord, fetch_bank_file, list_bank_files
from tradecounter.payments.queries.bank_lines import BANK_LINES, BankLineFilter, BankLineRecord
from tradecounter.payments.reseller_wire import RolledBackFile
from tradecounter.payments.roll_back_bank_file import KEEP, roll_back_bank_file

_ONE, _ROLL_BACK = "/bank-file/{id}", "/bank-file/{id}/roll-back"
_COLUMNS = (
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
_STORED = Sort("stored", descending=False)


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
        columns=_COLUMNS,
        order=Order({"id": int}, "-id", lambda made, _: (made.id, 0)),
        template="payments/bank_files.html",
        file="bank-files",
        cells={name: name for name in _HEADINGS},
        scope="billing:read",
    )
    async def list_files(self, tx: Transaction, wanted: TableParameters, at: At) -> list[BankFileRecord]:
        return await list_bank_files(tx, wanted.most, before=None if at["after"] is None else at["after"][0])

    @page(_ONE, "One bank file", scope="billing:read", query=TableParameters)
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
        table = Table.of(call, address, _LINE_COLUMNS, lines, _STORED, _cursor)
        recent = made.rolled_back_at is None and made.at >= self.desk.clock.now() - KEEP
        return self.desk.show(call, "payments/bank_stored.html", made=made, table=table, can_be_undone=recent)

    @page(_ROLL_BACK, "Roll a bank file back", scope="billing:write")
    async def show_roll_back(self, call: Call) -> Response:
        return await self._show_roll_back(call, Filled(), [])

    @form(_ROLL_BACK, "Roll a bank file back", scope="billing:write")
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
            done=_said,
        )

    async def _show_roll_back(self, call: Call, filled: Filled, changed: list[FieldError]) -> Response:
        async with self.desk.reading() as tx:
            made: BankFileRecord = await fetch_bank_file(tx, call.path_id("id", "bank file"))
        return self.desk.show(call, "payments/bank_roll_back.html", form=filled, made=made, changed=changed)


def _cursor(line: BankLineRecord) -> str:
    return cursor_text(*BANK_LINES.place_of(line, "stored"))


def _said(done: RolledBackFile) -> str:
    said = f"The file is rolled back: {plural(len(done.reversed), 'payment')} reversed."
    return f"{said} {plural(len(done.kept), 'line')} stayed." if done.kept else said
