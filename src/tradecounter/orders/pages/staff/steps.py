"""Forms of an order: dispatch, notes, tracking, packing video, invoice, return, and corrections of a shipment."""

import re
from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta, Struct

from tradecounter.billing.invoices import IssuedInvoice, issue_invoice
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import in_rows
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind, invalid, named_by
from tradecounter.orders.history import add_note, set_external_id
from tradecounter.orders.lines import ItemId, Units
from tradecounter.orders.operations.staff import BY_WAREHOUSE
from tradecounter.orders.reseller_wire import ExternalIdChange, Invoicing, NoteRequest, TakingBack, Tracking
from tradecounter.orders.wire import MOST_UNITS
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown import shown_order
from tradecounter.returns.handle_returns import open_return
from tradecounter.returns.wire import ReturnedUnits, ReturnRequest
from tradecounter.shipments.dispatch import ShipmentCorrection, correct_shipment, dispatch_order, take_back_shipment
from tradecounter.shipments.fulfilment import add_video, track_shipment
from tradecounter.shipments.queries.fulfilment import fetch_shipment
from tradecounter.shipments.queries.units import shapes_of_labels
from tradecounter.shipments.wire import Dispatch, DispatchedItem, OrderVideoResponse, SerialNumber


def reference_of(call: Call) -> str:
    """Return the order's reference in a path."""
    return call.path_text("reference", "order")


_SERIAL_PARTS = re.compile(r"[\s,;]+")


class DispatchedLine(Struct):
    """A line in the form; without units, or with 0, it stays for later.

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


def _serials(text: str) -> list[SerialNumber]:
    units = [_SERIAL_PARTS.split(line.strip()) for line in text.splitlines() if line.strip()]
    return [SerialNumber(serial, *more[:2]) for serial, *more in units]


class ReturnedLine(Struct):
    """A line in the form; ticked and typed serial numbers count as units, unless a quantity is given."""

    id: ItemId
    quantity: Units | None = None
    known: list[str] = []
    serials: str = ""

    @property
    def numbers(self) -> list[str]:
        """The serial numbers that come back."""
        typed = [serial for serial in _SERIAL_PARTS.split(self.serials) if serial]
        return list(dict.fromkeys([*self.known, *typed]))

    @property
    def units(self) -> int:
        """The units that come back."""
        return len(self.numbers) if self.quantity is None else self.quantity


class ReturnForm(Struct):
    """What comes back, and why."""

    reason: str
    items: list[ReturnedLine] = []


def _issued(issued: IssuedInvoice) -> str:
    return f"Invoice {issued.number} {'is issued' if issued.new else 'already covers everything dispatched'}."


_SHIPMENT = "/order/{reference}/shipment/{id}"


class CorrectionForm(Struct):
    """The corrected values of a shipment. An empty field removes its value."""

    tracking_number: str | None = None
    carrier: str | None = None


class OrderStepPages(Struct, frozen=True):
    """The forms of an order, and of one of its shipments."""

    desk: PageDesk
    parts: OfficeParts

    async def _order(self, tx: Transaction, call: Call, now: datetime) -> dict[str, Any]:
        return {"shown": await shown_order(tx, self.parts.orders, call, now)}

    async def _order_and_labels(self, tx: Transaction, call: Call, now: datetime) -> dict[str, Any]:
        return {**await self._order(tx, call, now), "labels": await shapes_of_labels(tx)}

    @step(
        "/order/{reference}/dispatch",
        "Dispatch an order",
        template="orders/dispatch.html",
        values=_order_and_labels,
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
        leaving = Dispatch(items, body.tracking_number, body.carrier, body.dispatched_at)
        with named_by(in_rows("items", rows, {"id": "quantity", "serial_numbers": "serials"})):
            await dispatch_order(tx, reference_of(call), leaving, now, invoice=invoice)

    @step(
        "/order/{reference}/note",
        "Add a note to an order",
        template="orders/note.html",
        values=_order,
        to="/order/{reference}",
        done="The note is added.",
        scope="orders:write",
    )
    async def note(self, tx: Transaction, call: Call, body: NoteRequest, now: datetime) -> None:
        await add_note(tx, reference_of(call), body.text, now)

    @step(
        "/order/{reference}/external-id",
        "Give an order an id of another program",
        template="orders/external_id.html",
        values=_order,
        to="/order/{reference}",
        done="The id is stored.",
        scope="orders:write",
    )
    async def external_id(self, tx: Transaction, call: Call, body: ExternalIdChange, now: datetime) -> None:
        await set_external_id(tx, reference_of(call), body.external_id, now)

    @step(
        "/order/{reference}/tracking",
        "Add a tracking event",
        template="orders/tracking.html",
        values=_order,
        to="/order/{reference}",
        done="The tracking event is added.",
        scope="orders:write",
        roles=BY_WAREHOUSE,
    )
    async def track(self, tx: Transaction, call: Call, body: Tracking, now: datetime) -> None:
        await track_shipment(tx, reference_of(call), body, now)

    @step(
        "/order/{reference}/video",
        "Set the packing video",
        template="orders/video.html",
        values=_order,
        to="/order/{reference}",
        done="The packing video is set.",
        scope="orders:write",
        roles=BY_WAREHOUSE,
    )
    async def set_video(self, tx: Transaction, call: Call, body: OrderVideoResponse, now: datetime) -> None:
        await add_video(tx, reference_of(call), body, now)

    @step(
        "/order/{reference}/invoice",
        "Invoice an order",
        template="orders/invoice.html",
        values=_order,
        to="/order/{reference}",
        done=_issued,
        scope="billing:write",
    )
    async def invoice(self, tx: Transaction, call: Call, body: Invoicing, now: datetime) -> IssuedInvoice:
        return await issue_invoice(tx, reference_of(call), self.parts.letterhead, now, part=body.part)

    @step(
        "/order/{reference}/return",
        "Open a return",
        template="orders/return.html",
        values=_order,
        to=lambda number: f"/return/{number}",
        done=lambda number: f"{number} is open. Ask the customer to write the number on the parcel.",
        scope="orders:write",
    )
    async def open_return(self, tx: Transaction, call: Call, body: ReturnForm, now: datetime) -> str:
        rows = [number for number, line in enumerate(body.items) if line.units]
        items = [ReturnedUnits(line.id, line.units, line.numbers) for line in body.items if line.units]
        if not items:
            raise DomainError(Kind.INVALID, "say how many units come back")
        typed = any(line.serials for line in body.items)
        fields = {"id": "quantity", "serial_numbers": "serials" if typed else "known"}
        with named_by(in_rows("items", rows, fields)):
            return await open_return(tx, reference_of(call), ReturnRequest(items, body.reason), now)

    async def _shipment(self, tx: Transaction, call: Call, now: datetime) -> dict[str, Any]:
        """Return the shipment that the path names, and its order. Raises DomainError as `fetch_shipment` does."""
        order = await shown_order(tx, self.parts.orders, call, now)
        return {"shown": order, "shipment": await fetch_shipment(tx, order.found.id, order.name, _shipment_id(call))}

    @step(
        _SHIPMENT,
        "Correct a shipment",
        template="orders/correct_shipment.html",
        values=_shipment,
        to="/order/{reference}",
        done="The shipment is corrected.",
        scope="orders:write",
        roles=BY_WAREHOUSE,
    )
    async def correct(self, tx: Transaction, call: Call, body: CorrectionForm, now: datetime) -> None:
        shipment_correction = ShipmentCorrection(body.tracking_number, body.carrier)
        await correct_shipment(tx, reference_of(call), _shipment_id(call), shipment_correction, now)

    @step(
        _SHIPMENT + "/take-back",
        "Take a shipment back",
        template="orders/take_back.html",
        values=_shipment,
        to="/order/{reference}",
        done="The shipment is taken back. The customer gets an e-mail.",
        scope="orders:write",
        roles=BY_WAREHOUSE,
    )
    async def take_back(self, tx: Transaction, call: Call, body: TakingBack, now: datetime) -> None:
        await take_back_shipment(tx, reference_of(call), _shipment_id(call), body.reason, now)


def _shipment_id(call: Call) -> int:
    return call.path_id("id", "shipment")
