"""`/payment/import`: a bank's file of payments, what of it is recorded, and what could not be placed."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.backoffice.desk import Nothing
from tradecounter.billing.bank_file import COLUMNS
from tradecounter.billing.import_payments import PaymentImport, import_payments
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.page_kit.forms import MOST_BYTES, Filled, read_submitted
from tradecounter.pages.backoffice.parts import OfficeParts
from tradecounter.pages.operation import form, page
from tradecounter.pages.page_desk import PageDesk
from tradecounter.rest.call import Call

_FILE = "file"
_PARTS_OF_THE_FORM = 16 * 1024  # bytes beside the file's own


@dataclass(frozen=True, slots=True)
class BankFilePages:
    """The upload of a bank file."""

    desk: PageDesk
    parts: OfficeParts

    @page("/payment/import", "Record a bank file", scope="billing:write")
    async def show_upload(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @form("/payment/import", "Record a bank file", scope="billing:write")
    async def upload(self, call: Call) -> Response:
        submitted = await read_submitted(call, most_bytes=MOST_BYTES + _PARTS_OF_THE_FORM, most_files=1)

        async def work(tx: Transaction, _: Nothing, now: datetime) -> PaymentImport:
            file = submitted.files.get(_FILE)
            if file is None:
                raise invalid(_FILE, "choose a CSV file")
            return await import_payments(tx, await file.read(), now)

        return await self.desk.reveal(
            call,
            Nothing,
            work,
            again=lambda filled: self._show(call, filled),
            show=lambda result: self.desk.show(call, "money/imported.html", result=result),
            to="/payment",
            repeated="This file was recorded when you sent it the first time.",
            submitted=submitted,
        )

    async def _show(self, call: Call, filled: Filled) -> Response:
        return self.desk.show(call, "money/bank_file.html", form=filled, columns=",".join(COLUMNS))
