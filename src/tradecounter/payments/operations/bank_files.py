"""`/api/payment/import`, `/api/bank-file` and `/api/bank-line`: bank files, and what of them waits to be placed."""

import asyncio
import hashlib
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import POST_HEADERS, ChangeResponse, ChangingParameters, Desk, DryRun
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import ListPage, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import CONFLICT
from tradecounter.edge.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.edge.rest.idempotency import fingerprint_of_upload
from tradecounter.edge.rest.operation import ErrorResponse, Media, Operation, Success, endpoint
from tradecounter.imports.run import FORMS
from tradecounter.imports.wire import RollBackParameters
from tradecounter.kit.clock import uk_date
from tradecounter.kit.json_text import to_json
from tradecounter.kit.wire import ReasonRequest
from tradecounter.payments.bank_file import MOST_LINES, read_bank_file, read_renamed
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.operations.examples import BANK_FILES_DESCRIBED, FILE, IMPORT, SET_ASIDE
from tradecounter.payments.place_bank_line import Placement, place_bank_line, set_bank_line_aside
from tradecounter.payments.queries.bank_files import StoredFile, list_bank_files
from tradecounter.payments.queries.bank_lines import BANK_LINES, BankLineFilter, State, fetch_bank_line
from tradecounter.payments.roll_back_bank_file import roll_back_bank_file
from tradecounter.payments.wire import PaymentImport, PlacedLine, RolledBackFile, StoredLine, present_line


class BankFileParameters(DryRun, frozen=True, kw_only=True):
    """The query parameters of `POST /api/payment/import`."""

    map: Annotated[
        tuple[str, ...],
        Meta(
            description="Headings of the file and their fields, such as `Their heading=amount`. The fields: `date`, "
            "`amount`, or `credit` and `debit`, and at least one of `reference`, `description`, `payer`; also "
            "`currency`.",
            examples=["Their heading=amount"],
        ),
    ] = ()


class BankLineParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/bank-line`."""

    state: Annotated[State | None, Meta(description="Only lines in this state.")] = None
    bank_file: Annotated[int, Meta(ge=1, description="Only lines of this bank file.")] | None = None


_BILLING = Subject(tag="Billing", read="billing:read", write="billing:write", described=BANK_FILES_DESCRIBED)
_FILES, _LINES, _LINE = "/api/bank-file", "/api/bank-line", "/api/bank-line/{id}"
_UPLOADED = {"type": "string", "format": "binary"}
_FORMS = {name: Media(_UPLOADED, {"BankFile": FILE} if name == "text/csv" else {}) for name in FORMS}
_OK = 200

BankFileId = Annotated[int, InPath("id", "The file's id.", 3, "bank file")]
BankLineId = Annotated[int, InPath("id", "The line's id.", 8, "bank line")]


class BankOperations(Struct, frozen=True):
    """The endpoints of bank files and their lines."""

    desk: Desk

    @endpoint(
        Operation(
            method="POST",
            path="/api/payment/import",
            name="importPayments",
            tag="Billing",
            summary="Record the payments of a bank file",
            description=(
                "The body is CSV, XLSX or JSON Lines, by its `Content-Type`, with at most "
                f"{MOST_LINES:,} lines. The headings of the usual UK banks and ledgers are known; others can be mapped "
                "with `map`. A line is placed by the invoice numbers in its reference, by a payment that a customer "
                "has announced, or where somebody has placed its payer's earlier money; `unplaced` lists the others, "
                "which are stored (`GET /api/bank-line?state=unplaced`). A line "
                "that was placed before is counted in `repeated`, money paid out in `payments_out`."
            ),
            query=BankFileParameters,
            request_headers=POST_HEADERS,
            upload=_FORMS,
            success=Success(200, "The result.", PaymentImport, {"Result": IMPORT}, headers=(IDEMPOTENT_REPLAY,)),
            errors=(
                CONFLICT,
                ErrorResponse(413, "The file is too long.", "the body is longer than 1048576 bytes"),
                ErrorResponse(
                    415,
                    "The file has none of the known types, or is compressed.",
                    f"Content-Type: must be {' or '.join(FORMS)}, not a/b",
                ),
            ),
            scope="billing:write",
        )
    )
    async def import_payments(self, call: Call) -> Response:
        wanted = call.query(BankFileParameters)
        dry_run, renamed = wanted.dry_run, read_renamed(wanted.map)
        media_type, content = await call.file(*FORMS)
        today = uk_date(self.desk.clock.now())
        file = await asyncio.to_thread(read_bank_file, content, FORMS[media_type], today, renamed)

        async def work(tx: Transaction, now: datetime) -> ChangeResponse:
            text = to_json(await import_payments(tx, file, now, dry_run=dry_run))
            return ChangeResponse(_OK, text, text, lasting=not dry_run)

        target, digest = f"POST {call.target[1]}?{call.raw_query}", hashlib.sha256(content).digest()
        return await self.desk.once(call, lambda: fingerprint_of_upload(target, digest), work, keyed=not dry_run)

    @_BILLING.lists(_FILES, "The files.")
    async def list_bank_files(self, tx: Transaction, query: ChangingParameters) -> ListPage[StoredFile]:
        """The history of bank files.

        The newest first.
        """
        bank_files = await list_bank_files(tx, query.limit + 1, before=query.after or None, changed_since=query.since)
        return ListPage(bank_files, bank_files)

    @_BILLING.changes("POST", f"{_FILES}/{{id}}/roll-back")
    async def roll_back_bank_file(
        self, tx: Transaction, now: datetime, file_id: BankFileId, query: RollBackParameters
    ) -> RolledBackFile:
        """Roll a bank file back.

        Its payments are reversed. Lines that it was the first to store are removed, so that a corrected file can be
        imported; lines that waited before wait again. Lines that have changed since are named in a 409; with `force`
        they stay as they are.
        """
        return await roll_back_bank_file(tx, file_id, now, force=query.force)

    @_BILLING.lists(_LINES, "The lines.")
    async def list_bank_lines(self, tx: Transaction, query: BankLineParameters) -> ListPage[StoredLine]:
        """Lines of bank files.

        All lines with money received, the latest stored first; `state=unplaced` are those that wait.
        """
        bank_line_filter = BankLineFilter(
            state=query.state, bank_file_id=query.bank_file, before=query.after or None, changed_since=query.since
        )
        bank_lines = await BANK_LINES.page(tx, bank_line_filter, "stored", query.limit + 1, descending=True)
        return ListPage(bank_lines, map(present_line, bank_lines))

    @_BILLING.shows(_LINE)
    async def get_bank_line(self, tx: Transaction, line_id: BankLineId) -> StoredLine:
        """One line of a bank file."""
        return present_line(await fetch_bank_line(tx, line_id))

    @_BILLING.changes("POST", f"{_LINE}/place", dry_run=True)
    async def place_bank_line(self, tx: Transaction, now: datetime, line_id: BankLineId, body: Placement) -> PlacedLine:
        """Place a line of a bank file.

        Records its payment: of an `invoice`, or of the customer `customer_id` and there of the oldest due invoices. The
        rest stays on the account. Later lines of the same payer go to the same customer. `amount` and `received_on` are
        for lines in which they could not be read. `force` records a payment although the same reference, amount and
        date are recorded.
        """
        return await place_bank_line(tx, line_id, body, now)

    @_BILLING.changes("POST", f"{_LINE}/set-aside", SET_ASIDE)
    async def set_bank_line_aside(
        self, tx: Transaction, now: datetime, line_id: BankLineId, body: ReasonRequest
    ) -> StoredLine:
        """Set a line of a bank file aside.

        For money that pays nothing here. It can still be placed later.
        """
        return await set_bank_line_aside(tx, line_id, body.reason, now)
