"""Forms of an order: dispatch, add a note. They take the same steps as `/api/order`."""

import re
from dataclasses import dataclass
from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.backoffice.order_steps import dispatch_units
from tradecounter.backoffice.order_wire import (
    Dispatch,
    DispatchedItem,
    ItemId,
    NoteRequest,
    SerialNumber,
    Units,
)
from tradecounter.backoffice.orders import BY_WAREHOUSE
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.add_note import add_note
from tradecounter.page_kit.forms import Filled
from tradecounter.pages.backoffice.orders.order_forms import OrderForms, reference_of
from tradecounter.pages.operation import form, page
from tradecounter.rest.call import Call

_SERIAL_PARTS = re.compile(r"[\s,;]+")


class DispatchedLine(Struct):
    """A line in the form. Each line of `serials` is a unit: its serial number, then its MAC address, if known."""

    id: ItemId
    quantity: Units | None = None
    serials: str = ""


class DispatchForm(Struct):
    """What leaves."""

    items: list[DispatchedLine] = []
    tracking_number: str | None = None


@dataclass(frozen=True, slots=True)
class OrderStepPages(OrderForms):
    """The forms with which units are dispatched and notes added."""

    @page("/order/{reference}/dispatch", "Dispatch an order", scope="orders:write", roles=BY_WAREHOUSE)
    async def show_dispatch(self, call: Call) -> Response:
        return await self.shown(call, "orders/dispatch.html", Filled())

    @form("/order/{reference}/dispatch", "Dispatch an order", scope="orders:write", roles=BY_WAREHOUSE)
    async def dispatch(self, call: Call) -> Response:
        async def work(tx: Transaction, body: DispatchForm, now: datetime) -> None:
            items = [
                DispatchedItem(line.id, line.quantity, _serials(line.serials))
                for line in body.items
                if line.quantity is not None
            ]
            if not items:
                raise DomainError(Kind.INVALID, "say how many units leave")
            invoice = self.parts.settings.invoice_each_dispatch
            await dispatch_units(tx, reference_of(call), Dispatch(items, body.tracking_number), now, invoice=invoice)

        return await self.taken(call, DispatchForm, work, "orders/dispatch.html", "The shipment is recorded.")

    @page("/order/{reference}/note", "Add a note to an order", scope="orders:write")
    async def show_note(self, call: Call) -> Response:
        return await self.shown(call, "orders/note.html", Filled())

    @form("/order/{reference}/note", "Add a note to an order", scope="orders:write")
    async def note(self, call: Call) -> Response:
        async def work(tx: Transaction, body: NoteRequest, now: datetime) -> None:
            await add_note(tx, reference_of(call), body.text, now)

        return await self.taken(call, NoteRequest, work, "orders/note.html", "The note is added.")


def _serials(text: str) -> list[SerialNumber]:
    units = [_SERIAL_PARTS.split(line.strip()) for line in text.splitlines() if line.strip()]
    return [SerialNumber(serial, *more[:2]) for serial, *more in units]
