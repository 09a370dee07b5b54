"""What is done with a customer as a whole: block, unblock, export, erase."""

from datetime import datetime
from io import BytesIO

from msgspec import Struct
from starlette.responses import Response

from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.operation import page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.negotiation import ZIP
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.text import fold
from tradecounter.kit.wire import ReasonRequest
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown_customer import shown_customer
from tradecounter.privacy.erase_customer import erase_customer, what_goes
from tradecounter.privacy.export_customer import export_customer

_BLOCK, _UNBLOCK, _ERASE = "/customer/{id}/block", "/customer/{id}/unblock", "/customer/{id}/erase"


class ErasureForm(Struct):
    """The customer's number, typed so that nobody erases another customer by mistake."""

    number: str


class CustomerStepPages(Struct, frozen=True):
    """The forms that block, unblock and erase, and the export."""

    desk: PageDesk
    parts: OfficeParts

    @step(
        _BLOCK,
        "Block a customer",
        shown=lambda self, call, filled: self._show(call, "block", filled),
        to="/customer/{id}",
        done="The customer is blocked.",
        scope="billing:write",
    )
    async def block(self, tx: Transaction, call: Call, body: ReasonRequest, now: datetime) -> None:
        await block_customer(tx, call.path_id("id", "customer"), body.reason, now)

    @step(
        _UNBLOCK,
        "Unblock a customer",
        shown=lambda self, call, filled: self._show(call, "unblock", filled),
        to="/customer/{id}",
        done="The customer is not blocked any more.",
        scope="billing:write",
    )
    async def unblock(self, tx: Transaction, call: Call, now: datetime) -> None:
        await unblock_customer(tx, call.path_id("id", "customer"), now)

    @page("/customer/{id}/export", "All that is stored of a customer", scope="customers:read", dangerous=True)
    async def export(self, call: Call) -> Response:
        customer_id, copy = call.path_id("id", "customer"), BytesIO()
        async with self.desk.reading() as tx:
            await export_customer(tx, customer_id, copy)
        return file_response(copy.getvalue(), f"customer-{customer_id}.zip", ZIP)

    @step(
        _ERASE,
        "Erase a customer",
        shown=lambda self, call, filled: self._show_erase(call, filled),
        to="/customer/{id}",
        done="The customer's personal data are erased.",
        scope="customers:write",
        roles=("administrator",),
        dangerous=True,
    )
    async def erase(self, tx: Transaction, call: Call, body: ErasureForm, now: datetime) -> None:
        customer_id = call.path_id("id", "customer")
        if fold(body.number) != str(customer_id):
            raise invalid("number", f"must be {customer_id}")
        await erase_customer(tx, customer_id, now)

    async def _show_erase(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
            try:
                erasure, problem = await what_goes(tx, shown.account), ""
            except DomainError as error:
                erasure, problem = None, str(error)
        return self.desk.show(call, "customers/erase.html", form=filled, shown=shown, erasure=erasure, problem=problem)

    async def _show(self, call: Call, name: str, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            shown = await shown_customer(tx, call)
        return self.desk.show(call, f"customers/{name}.html", form=filled, shown=shown)
