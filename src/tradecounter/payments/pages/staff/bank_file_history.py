"""`/bank-file`: the bank files that are recorded, and their roll-back."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.bulk.roll_back import ROLL_BACK_WITHIN
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled, listed_apart
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
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import FieldError
from tradecounter.kit.text import plural
from tradecounter.parts.back_office import OfficeParts
from tradecounter.payments.pages.staff.unplaced import LINE_CELLS
from tradecounter.payments.queries.bank_files import BankFileRecord, fetch_bank_file, list_bank_files
from tradecounter.payments.queries.bank_lines import BANK_LINES, BankLineFilter, BankLineRecord
from tradecounter.payments.roll_back_bank_file import roll_back_bank_file
from tradecounter.payments.wire import RolledBackFile

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
    """Whether lines that have changed since the import stay as they are."""

    force: bool = False


class BankHistoryPages(Struct, frozen=True):
    """The history of bank files."""

    desk: PageDesk
    parts: OfficeParts

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
    async def list_files(self, tx: Transaction, wanted: TableParameters, at: RowsToRead) -> list[BankFileRecord]:
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
            bank_file: BankFileRecord = await fetch_bank_file(tx, call.path_id("id", "bank file"))
        return self.desk.show(call, "payments/bank_roll_back.html", form=filled, made=bank_file, changed=changed)


def _cursor(line: BankLineRecord) -> str:
    return cursor_text(*BANK_LINES.place_of(line, "stored"))


def _said_of_roll_back(rolled_back: RolledBackFile) -> str:
    message = f"The file is rolled back: {plural(len(rolled_back.reversed), 'payment')} reversed."
    return f"{message} {plural(len(rolled_back.kept), 'line')} stayed." if rolled_back.kept else message
