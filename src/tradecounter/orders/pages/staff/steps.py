"""Forms of an order: dispatch, add a note. They take the same steps as `/api/order`."""

import re
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled, in_rows
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind, invalid, named_by
from tradecounter.orders.add_note import add_note
from tradecounter.orders.external_ids import set_external_id
from tradecounter.orders.operations.staff import BY_WAREHOUSE
from tradecounter.orders.pages.staff.order_forms import OrderForms, reference_of
from tradecounter.orders.requests import NoteRequest
from tradecounter.orders.reseller_wire import ExternalIdChange
from tradecounter.orders.units import ItemId
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.shipments.dispatch_order import dispatch_order
from tradecounter.shipments.queries.labels import shapes_of_labels
from tradecounter.shipments.requests import Dispatch, DispatchedItem, DispatchRequest, SerialNumber

_SERIAL_PARTS = re.compile(r"[\s,;]+")


class DispatchedLine(Struct):
    """A line in the form; it stays for later without units, or with 0.

    Each line of `serials` is a unit: its serial number, then its MAC address, if known.
    """

    id: ItemId
    quantity: Annotated[int, Meta(ge=0, le=MOST_UNITS)] | None = None
    serials: str = ""


class DispatchForm(Struct):
    """What leaves."""

    items: list[DispatchedLine] = []
    tracking_number: str | None = None
    carrier: str | None = None
    dispatched_at: datetime | None = None


class OrderStepPages(OrderForms, frozen=True):
    """The forms with which units are dispatched and notes added."""

    @step(
        "/order/{reference}/dispatch",
        "Dispatch an order",
        shown=lambda self, call, filled: self._show_dispatch(call, filled),
        to="/order/{reference}",
        done="The shipment is recorded.",
        scope="orders:write",
        roles=BY_WAREHOUSE,
    )
    async def dispatch(self, tx: Transaction, call: Call, body: DispatchForm, now: datetime) -> None:
        rows = [number for number, line in enumerate(body.items) if line.quantity]
        stay = [number for number, line in enumerate(body.items) if not line.quantity and line.serials.strip()]
        if stay:
            raise invalid(f"items[{stay[0]}].quantity", "is needed for the serial numbers that were scanned")
        lines = [body.items[number] for number in rows]
        if not lines:
            raise DomainError(Kind.INVALID, "say how many units leave")
        items = [DispatchedItem(line.id, line.quantity or 0, _serials(line.serials)) for line in lines]
        invoice = self.parts.settings.invoice_each_dispatch
        request = DispatchRequest.of(
            Dispatch(items, body.tracking_number, body.carrier, body.dispatched_at), invoice=invoice
        )
        with named_by(in_rows("items", rows, {"id": "quantity", "serial_numbers": "serials"})):
            await dispatch_order(tx, reference_of(call), request, now)

    async def _show_dispatch(self, call: Call, filled: Filled) -> Response:
        async with self.desk.reading() as tx:
            labels = await shapes_of_labels(tx)
        return await self.shown(call, "orders/dispatch.html", filled, labels=labels)

    @step(
        "/order/{reference}/note",
        "Add a note to an order",
        shown=lambda self, call, filled: self.shown(call, "orders/note.html", filled),
        to="/order/{reference}",
        done="The note is added.",
        scope="orders:write",
    )
    async def note(self, tx: Transaction, call: Call, body: NoteRequest, now: datetime) -> None:
        await add_note(tx, reference_of(call), body.text, now)

    @step(
        "/order/{reference}/external-id",
        "Give an order an id of another program",
        shown=lambda self, call, filled: self.shown(call, "orders/external_id.html", filled),
        to="/order/{reference}",
        done="The id is stored.",
        scope="orders:write",
    )
    async def external_id(self, tx: Transaction, call: Call, body: ExternalIdChange, now: datetime) -> None:
        await set_external_id(tx, reference_of(call), body.external_id, now)


def _serials(text: str) -> list[SerialNumber]:
    units = [_SERIAL_PARTS.split(line.strip()) for line in text.splitlines() if line.strip()]
    return [SerialNumber(serial, *more[:2]) for serial, *more in units]
