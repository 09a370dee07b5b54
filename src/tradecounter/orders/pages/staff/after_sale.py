"""Forms of an order that is on its way: tracking, packing video, invoice, return."""

import re
from datetime import datetime

from msgspec import Struct

from tradecounter.billing.issue_invoice import IssuedInvoice, issue_invoice
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import in_rows
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.errors import DomainError, Kind, named_by
from tradecounter.orders.operations.staff import BY_WAREHOUSE
from tradecounter.orders.operations.steps import add_tracking
from tradecounter.orders.pages.staff.order_forms import OrderForms, reference_of
from tradecounter.orders.reseller_wire import Tracking
from tradecounter.orders.units import ItemId, Units
from tradecounter.returns.open_return import open_return
from tradecounter.returns.requests import ReturnedUnits, ReturnRequest
from tradecounter.shipments.add_video import add_video
from tradecounter.shipments.wire import OrderVideoResponse

_BETWEEN_SERIALS = re.compile(r"[\s,;]+")


class InvoiceForm(Struct):
    """Whether an order is invoiced although units are still to come."""

    part: bool = False


class ReturnedLine(Struct):
    """A line in the form; ticked and typed serial numbers count as units unless a quantity is given."""

    id: ItemId
    quantity: Units | None = None
    known: list[str] = []
    serials: str = ""

    @property
    def numbers(self) -> list[str]:
        """The serial numbers that come back."""
        typed = [serial for serial in _BETWEEN_SERIALS.split(self.serials) if serial]
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
    return f"Invoice {issued.number} is issued." if issued.new else f"Invoice {issued.number} has it all already."


class AfterSalePages(OrderForms, frozen=True):
    """The forms for what happens after the dispatch."""

    @step(
        "/order/{reference}/tracking",
        "Add a tracking event",
        shown=lambda self, call, filled: self.shown(call, "orders/tracking.html", filled),
        to="/order/{reference}",
        done="The tracking event is added.",
        scope="orders:write",
        roles=BY_WAREHOUSE,
    )
    async def track(self, tx: Transaction, call: Call, body: Tracking, now: datetime) -> None:
        await add_tracking(tx, reference_of(call), body, now)

    @step(
        "/order/{reference}/video",
        "Set the packing video",
        shown=lambda self, call, filled: self.shown(call, "orders/video.html", filled),
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
        shown=lambda self, call, filled: self.shown(call, "orders/invoice.html", filled),
        to="/order/{reference}",
        done=_issued,
        scope="billing:write",
    )
    async def invoice(self, tx: Transaction, call: Call, body: InvoiceForm, now: datetime) -> IssuedInvoice:
        return await issue_invoice(tx, reference_of(call), self.parts.letterhead, now, part=body.part)

    @step(
        "/order/{reference}/return",
        "Open a return",
        shown=lambda self, call, filled: self.shown(call, "orders/return.html", filled),
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
