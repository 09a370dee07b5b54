"""`/order/{reference}/shipment/{id}`: the forms that correct a shipment and take one back."""

from datetime import datetime

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.orders.operations.staff import BY_WAREHOUSE
from tradecounter.orders.pages.staff.order_forms import reference_of
from tradecounter.orders.reseller_wire import TakingBack
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.shown_order import shown_order
from tradecounter.shipments.correct_shipment import ShipmentCorrection, correct_shipment
from tradecounter.shipments.queries.shipments import fetch_shipment
from tradecounter.shipments.take_back_shipment import take_back_shipment

_PATH = "/order/{reference}/shipment/{id}"
_CORRECT = "orders/correct_shipment.html"
_TAKE_BACK = "orders/take_back.html"


class CorrectionForm(Struct):
    """What is right of a shipment; an empty field is none."""

    tracking_number: str | None = None
    carrier: str | None = None


class ShipmentPages(Struct, frozen=True):
    """The forms of one shipment."""

    desk: PageDesk
    parts: OfficeParts

    @step(
        _PATH,
        "Correct a shipment",
        shown=lambda self, call, filled: self._show(call, _CORRECT, filled),
        to="/order/{reference}",
        done="The shipment is corrected.",
        scope="orders:write",
        roles=BY_WAREHOUSE,
    )
    async def correct(self, tx: Transaction, call: Call, body: CorrectionForm, now: datetime) -> None:
        given = ShipmentCorrection(body.tracking_number, body.carrier)
        await correct_shipment(tx, reference_of(call), _id(call), given, now)

    @step(
        _PATH + "/take-back",
        "Take a shipment back",
        shown=lambda self, call, filled: self._show(call, _TAKE_BACK, filled),
        to="/order/{reference}",
        done="The shipment is taken back. The customer gets an e-mail.",
        scope="orders:write",
        roles=BY_WAREHOUSE,
    )
    async def take_back(self, tx: Transaction, call: Call, body: TakingBack, now: datetime) -> None:
        await take_back_shipment(tx, reference_of(call), _id(call), body.reason, now)

    async def _show(self, call: Call, template: str, filled: Filled) -> Response:
        """Show a form of the shipment that the path names. Raises DomainError as `fetch_shipment` does."""
        async with self.desk.reading() as tx:
            shown = await shown_order(tx, self.parts.orders, call, self.desk.clock.now())
            shipment = await fetch_shipment(tx, shown.found.id, shown.name, _id(call))
        return self.desk.show(call, template, form=filled, shown=shown, shipment=shipment)


def _id(call: Call) -> int:
    return call.path_id("id", "shipment")
