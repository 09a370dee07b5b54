"""`/api/payment/import`, `/api/bank-file` and `/api/bank-line`: bank files, and what of them waits to be placed."""

import asyncio
import hashlib
from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.backoffice import bank_examples as examples
from tradecounter.backoffice.bank_wire import (
    BankFileParameters,
    BankLineParameters,
    SettingAside,
)
from tradecounter.backoffice.desk import NEXT, POST_HEADERS, Desk, DryRun, Made, Nothing, PageParameters, page
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.backoffice.import_wire import RollBackParameters
from tradecounter.billing.bank_file import MOST_LINES, read_bank_file
from tradecounter.billing.bank_headings import read_renamed
from tradecounter.billing.bank_wire import (
    PaymentImport,
    PlacedLine,
    RolledBackFile,
    StoredFile,
    StoredLine,
    present_file,
    present_line,
)
from tradecounter.billing.import_payments import import_payments
from tradecounter.billing.place_bank_line import Placement, place_bank_line, set_bank_line_aside
from tradecounter.billing.queries.bank_files import list_bank_files
from tradecounter.billing.queries.bank_lines import BankLineFilter, list_bank_lines, the_bank_line
from tradecounter.billing.roll_back_bank_file import roll_back_bank_file
from tradecounter.db.transaction import Transaction
from tradecounter.imports.from_stream import FORMS
from tradecounter.kit.local_time import uk_date
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.idempotency import fingerprint_of_upload
from tradecounter.rest.operation import ID, Body, ErrorResponse, Media, Operation, Parameter, Success, endpoint
from tradecounter.rest.responses import json_response, to_json

_UPLOADED = {"type": "string", "format": "binary"}
_FILES = {name: Media(_UPLOADED, {"BankFile": examples.FILE} if name == "text/csv" else {}) for name in FORMS}
_LINE_ID = Parameter("id", "The line's id.", ID, 8)
_OK = 200


@dataclass(frozen=True, slots=True)
class BankDesk:
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
                "with `map`. A line is placed by the invoice numbers in its reference, or by what its payer usually "
                "writes; `unplaced` lists the others, which are stored (`GET /api/bank-line?state=unplaced`). A line "
                "that was placed before is counted in `repeated`, money paid out in `payments_out`."
            ),
            query=BankFileParameters,
            request_headers=POST_HEADERS,
            upload=_FILES,
            success=Success(
                200, "The result.", PaymentImport, {"Result": examples.IMPORT}, headers=(IDEMPOTENT_REPLAY,)
            ),
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
        dry_run, renamed = wanted.is_wanted, read_renamed(wanted.map)
        media_type, content = await call.file(*FORMS)
        today = uk_date(self.desk.clock.now())
        file = await asyncio.to_thread(read_bank_file, content, FORMS[media_type], today, renamed)

        async def work(tx: Transaction, now: datetime) -> Made:
            text = to_json(await import_payments(tx, file, now, dry_run=dry_run))
            return Made(_OK, text, text, lasting=not dry_run)

        target, digest = f"POST {call.target[1]}?{call.raw_query}", hashlib.sha256(content).digest()
        return await self.desk.once(call, lambda: fingerprint_of_upload(target, digest), work, keyed=not dry_run)

    @endpoint(
        Operation(
            method="GET",
            path="/api/bank-file",
            name="listBankFiles",
            tag="Billing",
            summary="The history of bank files",
            description="The newest first.",
            query=PageParameters,
            success=Success(200, "The files.", list[StoredFile], {"List": [examples.STORED_FILE]}, headers=(NEXT,)),
            scope="billing:read",
        )
    )
    async def list_bank_files(self, call: Call) -> Response:
        wanted = call.query(PageParameters)
        async with self.desk.reading() as tx:
            found = await list_bank_files(tx, wanted.limit + 1, before=wanted.after or None)
        return page(call, found, wanted.limit, lambda file: file.id, map(present_file, found[: wanted.limit]))

    @endpoint(
        Operation(
            method="POST",
            path="/api/bank-file/{id}/roll-back",
            name="rollBackBankFile",
            tag="Billing",
            summary="Roll a bank file back",
            description=(
                "Its payments are reversed. Lines that it was the first to store are removed, so that a corrected file "
                "can be imported; lines that waited before wait again. Lines that have changed since are named in a "
                "409; with `force` they stay as they are."
            ),
            path_parameters=(Parameter("id", "The file's id.", ID, 3),),
            query=RollBackParameters,
            request_headers=POST_HEADERS,
            success=Success(
                200,
                "The file after its roll-back.",
                RolledBackFile,
                {"RolledBack": examples.ROLLED_BACK},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def roll_back(self, call: Call) -> Response:
        file_id, force = call.path_id("id", "bank file"), call.query(RollBackParameters).force == "true"

        async def work(tx: Transaction, _: Nothing, now: datetime) -> RolledBackFile:
            return await roll_back_bank_file(tx, file_id, now, force=force)

        return await self.desk.change(call, Nothing, work)

    @endpoint(
        Operation(
            method="GET",
            path="/api/bank-line",
            name="listBankLines",
            tag="Billing",
            summary="Lines of bank files",
            description="All lines with money received, the latest stored first; `state=unplaced` are those that wait.",
            query=BankLineParameters,
            success=Success(200, "The lines.", list[StoredLine], {"List": [examples.LINE]}, headers=(NEXT,)),
            scope="billing:read",
        )
    )
    async def list_bank_lines(self, call: Call) -> Response:
        wanted = call.query(BankLineParameters)
        chosen = BankLineFilter(state=wanted.state, bank_file_id=wanted.bank_file)
        async with self.desk.reading() as tx:
            found = await list_bank_lines(tx, chosen, wanted.limit + 1, before=wanted.after or None)
        return page(call, found, wanted.limit, lambda line: line.id, map(present_line, found[: wanted.limit]))

    @endpoint(
        Operation(
            method="GET",
            path="/api/bank-line/{id}",
            name="getBankLine",
            tag="Billing",
            summary="One line of a bank file",
            path_parameters=(_LINE_ID,),
            success=Success(200, "The line.", StoredLine, {"Line": examples.LINE}),
            errors=(NOT_FOUND,),
            scope="billing:read",
        )
    )
    async def show_bank_line(self, call: Call) -> Response:
        line_id = call.path_id("id", "bank line")
        async with self.desk.reading() as tx:
            return json_response(present_line(await the_bank_line(tx, line_id)))

    @endpoint(
        Operation(
            method="POST",
            path="/api/bank-line/{id}/place",
            name="placeBankLine",
            tag="Billing",
            summary="Place a line of a bank file",
            description=(
                "Records its payment: of an `invoice`, or of the customer `customer_id` and there of the oldest due "
                "invoices. The rest stays on the account. Later lines of the same payer go to the same customer. "
                "`amount` and `received_on` are for lines of which they could not be read. `force` records a payment "
                "although the same reference, amount and date are recorded."
            ),
            path_parameters=(_LINE_ID,),
            query=DryRun,
            request_headers=POST_HEADERS,
            body=Body(Placement, {"Placement": examples.PLACEMENT}),
            success=Success(
                200,
                "The line with its payment.",
                PlacedLine,
                {"Placed": examples.PLACED},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def place_bank_line(self, call: Call) -> Response:
        line_id, dry_run = call.path_id("id", "bank line"), call.query(DryRun).is_wanted

        async def work(tx: Transaction, body: Placement, now: datetime) -> PlacedLine:
            return await place_bank_line(tx, line_id, body, now)

        return await self.desk.change(call, Placement, work, dry_run=dry_run)

    @endpoint(
        Operation(
            method="POST",
            path="/api/bank-line/{id}/set-aside",
            name="setBankLineAside",
            tag="Billing",
            summary="Set a line of a bank file aside",
            description="For money that pays nothing here. It can still be placed later.",
            path_parameters=(_LINE_ID,),
            request_headers=POST_HEADERS,
            body=Body(SettingAside, {"SettingAside": examples.SETTING_ASIDE}),
            success=Success(
                200, "The line.", StoredLine, {"SetAside": examples.SET_ASIDE}, headers=(IDEMPOTENT_REPLAY,)
            ),
            errors=(NOT_FOUND, CONFLICT),
            scope="billing:write",
        )
    )
    async def set_aside(self, call: Call) -> Response:
        line_id = call.path_id("id", "bank line")

        async def work(tx: Transaction, body: SettingAside, now: datetime) -> StoredLine:
            return await set_bank_line_aside(tx, line_id, body.reason, now)

        return await self.desk.change(call, SettingAside, work)
