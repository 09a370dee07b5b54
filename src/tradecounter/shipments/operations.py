"""The operations of fulfilment: packing videos and configurations; shipments corrected or taken back; papers."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Meta, Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import FILE, Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import CONFLICT, NOT_FOUND
from tradecounter.edge.rest.negotiation import PDF
from tradecounter.edge.rest.operation import ID, TEXT, Body, Link, Operation, Parameter, Sample, Success, endpoint
from tradecounter.edge.rest.responses import file_response, json_response
from tradecounter.kit.errors import or_not_found
from tradecounter.letterhead.seller import Letterhead
from tradecounter.orders.interface_document import ORDER, FoundOrderItem
from tradecounter.orders.lines import products_of
from tradecounter.orders.operations.public import OwnOrderReference
from tradecounter.orders.operations.staff import BY_WAREHOUSE, ONE_ORDER, ORDERS, OrderReference
from tradecounter.orders.present import item_on_the_wire
from tradecounter.orders.queries.orders import fetch_own_order
from tradecounter.orders.reseller_wire import ResellerOrder, TakingBack
from tradecounter.parts.present_order import OrderPresenter
from tradecounter.products.wire import Product
from tradecounter.shipments.dispatch import ShipmentCorrection, correct_shipment, take_back_shipment
from tradecounter.shipments.fulfilment import configure_item
from tradecounter.shipments.papers import PackingSlip, PickingList, packing_slip, picking_list
from tradecounter.shipments.print_papers import print_packing_slip, print_picking_list
from tradecounter.shipments.queries.fulfilment import OrderFulfilment, find_video
from tradecounter.shipments.wire import AddConfigurationsRequest, ConfigurationRequest, OrderVideoResponse
from tradecounter.storefront.storefront import RefreshableViews

_CONFIGURATIONS = AddConfigurationsRequest(
    [ConfigurationRequest("line1@isp.example", "correct-horse", wifi_ssid="Office", wifi_password="battery-staple")]  # noqa: S106 to be read
)
_VIDEO = OrderVideoResponse("https://video.example/100042.mp4", "https://video.example/100042/index.m3u8")
_CONFIGURABLE_ORDER = {  # of the demo's first customer
    "customer_reference": "PO-1002",
    "items": [{"sku": "HM310", "quantity": 1}],
    "billing_address": {"id": 5001},
    "shipping_address": {"id": 5001},
    "shipping_method": {"id": 101},
    "auto_confirm": True,
}
_BY_REFERENCE = {"reference": "$response.body#/order_reference"}
_FIRST_ITEM = {**_BY_REFERENCE, "orderItemId": "$response.body#/items/0/id"}
_DESCRIBED: Mapping[type, Described] = {OrderVideoResponse: Described("Where to watch the video.", _VIDEO)}
_ORDERS = Subject(tag="Orders", keys=("read",), described=_DESCRIBED)


class FulfilmentEndpoints(Struct, frozen=True):
    """The endpoints of configurations and packing videos."""

    desk: Desk
    views: RefreshableViews
    fulfilment: OrderFulfilment

    @endpoint(
        Operation(
            method="POST",
            path="/order/{reference}/item/{orderItemId}/configuration",
            name="addConfigurations",
            key_scopes=("order",),
            tag="Orders",
            summary="Add broadband configurations to an item",
            description=(
                "`reference` is the numeric order id or the order reference. An item takes one configuration per unit; "
                "the components of a bundle are items too."
            ),
            path_parameters=(
                Parameter("reference", "The order reference or the numeric order id.", TEXT, "PLN-100007"),
                Parameter("orderItemId", "The id of the order's item.", ID, 700012),
            ),
            body=Body(AddConfigurationsRequest, {"AddConfigurationsRequest": _CONFIGURATIONS}),
            success=Success(
                200, "The item with all its configurations.", FoundOrderItem, {"OrderItem": ORDER.items[0]}
            ),
            errors=(NOT_FOUND,),
            links=(
                Link(
                    "createOrder",
                    "Configures an item, if the order was confirmed immediately and the product is configurable.",
                    _FIRST_ITEM,
                ),
                Link("getOrder", "Configures an item, if its product is configurable.", _FIRST_ITEM),
            ),
            referenced=(Product,),
            sample=Sample(after="createOrder", first_body=_CONFIGURABLE_ORDER),
        )
    )
    async def add_configurations(self, call: Call) -> Response:
        request = await call.body(AddConfigurationsRequest)
        async with transaction(self.desk.database, call.actor) as tx:
            order = await fetch_own_order(tx, call.customer_id, call.path_text("reference", "order"))
            item_id = call.path_id("orderItemId", "item")
            now, vault = self.desk.clock.now(), self.fulfilment.vault
            line = await configure_item(tx, order.id, item_id, request.configurations, vault, now)
            fulfilled = (await self.fulfilment.of_orders(tx, [order.id]))[order.id]
        view = await self.views.showing(call.customer_id, products_of([line]))
        return json_response(item_on_the_wire(line, fulfilled, view))

    @_ORDERS.shows("/order/{reference}/video", links=(Link("getOrder", "The order's packing video.", _BY_REFERENCE),))
    async def get_packing_video(self, tx: Transaction, call: Call, reference: OwnOrderReference) -> OrderVideoResponse:
        """The packing video of an order.

        `reference` is the order reference or the numeric order id.
        """
        order = await fetch_own_order(tx, call.customer_id, reference)
        return or_not_found(await find_video(tx, order.id), "packing video of order", order.order_reference)


_ONE = f"{ONE_ORDER}/shipment/{{id}}"

ShipmentId = Annotated[int, InPath("id", "The shipment's id.", 31, "shipment")]


class PackingSlipParameters(Struct, frozen=True):
    """The query parameters of `GET /api/order/{reference}/packing-slip`."""

    shipment: Annotated[int, Meta(ge=1, description="The shipment's id. Default: the latest one.")] | None = None


class ShipmentOperations(Struct, frozen=True):
    """The endpoints of one shipment, and of the warehouse's papers; the letterhead is on packing slips."""

    desk: Desk
    orders: OrderPresenter
    letterhead: Letterhead

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

    @ORDERS.shows(f"{ONE_ORDER}/picking-list", "The PDF file.", files={PDF: FILE}, errors=(CONFLICT,))
    async def get_picking_list(self, reference: OrderReference, now: datetime) -> Response:
        """The picking list as a PDF file.

        What is allocated and not dispatched, with a barcode (Code 128) of the reference, the delivery address, how to
        ship and to pack, and the notes. 409 while nothing can be picked.
        """
        async with self.desk.reading() as tx:
            paper = await picking_list(tx, reference, now)
        return await picking_list_file(paper)

    @ORDERS.shows(f"{ONE_ORDER}/packing-slip", "The PDF file.", files={PDF: FILE}, errors=(CONFLICT,))
    async def get_packing_slip(
        self, reference: OrderReference, now: datetime, query: PackingSlipParameters
    ) -> Response:
        """The packing slip of a shipment as a PDF file.

        What is in the box, with serial numbers, and what is still to come; without prices. For customers with plain
        packing, it does not name the seller. 409 before the first dispatch.
        """
        async with self.desk.reading() as tx:
            paper = await packing_slip(tx, reference, now, query.shipment)
        return await packing_slip_file(paper, self.letterhead)


async def picking_list_file(paper: PickingList) -> Response:
    """Respond with a picking list as a PDF file."""
    pdf = await asyncio.to_thread(print_picking_list, paper)
    return file_response(pdf, f"picking-list-{paper.order_reference}.pdf", PDF)


async def packing_slip_file(paper: PackingSlip, letterhead: Letterhead) -> Response:
    """Respond with a packing slip as a PDF file."""
    pdf = await asyncio.to_thread(print_packing_slip, paper, letterhead)
    return file_response(pdf, f"packing-slip-{paper.order_reference}.pdf", PDF)
