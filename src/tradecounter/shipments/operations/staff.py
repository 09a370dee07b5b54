"""`/api/order/{reference}/shipment/{id}`: a shipment corrected or taken back."""

from datetime import datetime
from typing import Annotated

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.scopes import CONFLICT
from tradecounter.edge.operations.subject import InPath
from tradecounter.orders.operations.staff import BY_WAREHOUSE, ONE_ORDER, ORDERS, OrderReference
from tradecounter.orders.reseller_wire import ResellerOrder, TakingBack
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.shipments.correct_shipment import ShipmentCorrection, correct_shipment
from tradecounter.shipments.take_back_shipment import take_back_shipment

_ONE = f"{ONE_ORDER}/shipment/{{id}}"

ShipmentId = Annotated[int, InPath("id", "The shipment's id.", 31, "shipment")]


class ShipmentOperations(Struct, frozen=True):
    """The endpoints of one shipment."""

    desk: Desk
    orders: OrderPresenter

    @ORDERS.changes("PATCH", _ONE, dry_run=True, errors=(CONFLICT,), roles=BY_WAREHOUSE)
    async def correct_shipment(
        self,
        tx: Transaction,
        now: datetime,
        reference: OrderReference,
        shipment_id: ShipmentId,
        body: ShipmentCorrection,
    ) -> ResellerOrder:
        """Correct the tracking number or the carrier of a shipment."""
        await correct_shipment(tx, reference, shipment_id, body, now)
        return await self.orders.named(tx, reference, now)

    @ORDERS.changes("POST", f"{_ONE}/take-back", dry_run=True, roles=BY_WAREHOUSE)
    async def take_shipment_back(
        self, tx: Transaction, now: datetime, reference: OrderReference, shipment_id: ShipmentId, body: TakingBack
    ) -> ResellerOrder:
        """Take a shipment back that never left.

        Its units are allocated again, and its serial numbers can be dispatched anew. The customer gets an e-mail.
        Nothing of it may be invoiced, or be in a return.
        """
        await take_back_shipment(tx, reference, shipment_id, body.reason, now)
        return await self.orders.named(tx, reference, now)
