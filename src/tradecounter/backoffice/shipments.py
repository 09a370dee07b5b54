"""`/api/order/{reference}/shipment/{id}`: a shipment corrected or taken back."""

from dataclasses import dataclass
from datetime import datetime

from starlette.responses import Response

from tradecounter.backoffice import examples
from tradecounter.backoffice.desk import CHANGE_HEADERS, Desk, DryRun
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.backoffice.order_wire import ResellerOrder, TakingBack
from tradecounter.backoffice.orders import BY_WAREHOUSE, REFERENCE, order_step
from tradecounter.backoffice.present_order import OrderPresenter
from tradecounter.db.transaction import Transaction
from tradecounter.fulfilment.correct_shipment import ShipmentCorrection, correct_shipment
from tradecounter.fulfilment.take_back_shipment import take_back_shipment
from tradecounter.ordering.lookup import any_order
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.operation import ID, Body, Operation, Parameter, Success, endpoint

_SHIPMENT = Parameter("id", "The shipment's id.", ID, 31)


@dataclass(frozen=True, slots=True)
class ShipmentDesk:
    """The endpoints of one shipment."""

    desk: Desk
    orders: OrderPresenter

    @endpoint(
        Operation(
            method="PATCH",
            path="/api/order/{reference}/shipment/{id}",
            name="correctShipment",
            tag="Orders",
            summary="Correct the tracking number or the carrier of a shipment",
            path_parameters=(REFERENCE, _SHIPMENT),
            request_headers=CHANGE_HEADERS,
            query=DryRun,
            body=Body(ShipmentCorrection, {"Correction": examples.CORRECTION}),
            success=Success(200, "The order.", ResellerOrder, {"Order": examples.ORDER}),
            errors=(NOT_FOUND, CONFLICT),
            scope="orders:write",
            roles=BY_WAREHOUSE,
        )
    )
    async def correct_shipment(self, call: Call) -> Response:
        reference, shipment_id = call.path_text("reference", "order"), call.path_id("id", "shipment")

        async def work(tx: Transaction, body: ShipmentCorrection, now: datetime) -> ResellerOrder:
            await correct_shipment(tx, reference, shipment_id, body, now)
            return await self.orders.one(tx, await any_order(tx, reference), now)

        return await self.desk.change(call, ShipmentCorrection, work, dry_run=call.query(DryRun).is_wanted)

    @endpoint(
        order_step(
            "takeShipmentBack",
            "shipment/{id}/take-back",
            "Take a shipment back that never left",
            parameters=(_SHIPMENT,),
            description=(
                "Its units are allocated again, and its serial numbers can be dispatched anew. The customer gets an "
                "e-mail. Nothing of it may be invoiced, or be in a return."
            ),
            roles=BY_WAREHOUSE,
            query=DryRun,
            body=Body(TakingBack, {"TakingBack": examples.TAKING_BACK}),
        )
    )
    async def take_back(self, call: Call) -> Response:
        reference, shipment_id = call.path_text("reference", "order"), call.path_id("id", "shipment")

        async def work(tx: Transaction, body: TakingBack, now: datetime) -> ResellerOrder:
            await take_back_shipment(tx, reference, shipment_id, body.reason, now)
            return await self.orders.one(tx, await any_order(tx, reference), now)

        return await self.desk.change(call, TakingBack, work, dry_run=call.query(DryRun).is_wanted)
