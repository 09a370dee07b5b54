"""`/order/{reference}/video` and `/order/{reference}/item/{orderItemId}/configuration`."""

from collections.abc import Mapping

from msgspec import Struct
from starlette.responses import Response

from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.operation import ID, TEXT, Body, Link, Operation, Parameter, Sample, Success, endpoint
from tradecounter.edge.rest.responses import json_response
from tradecounter.kit.errors import not_found
from tradecounter.orders.examples import ORDER
from tradecounter.orders.found_order import FoundOrderItem
from tradecounter.orders.lines import products_of
from tradecounter.orders.operations.public import OwnOrderReference
from tradecounter.orders.present import item_on_the_wire
from tradecounter.orders.queries.orders import fetch_own_order
from tradecounter.products.wire import Product
from tradecounter.shipments.configure_item import configure_item
from tradecounter.shipments.examples import CONFIGURABLE_ORDER, CONFIGURATIONS, VIDEO
from tradecounter.shipments.queries.reads import OrderFulfilment, find_video
from tradecounter.shipments.wire import AddConfigurationsRequest, OrderVideoResponse
from tradecounter.storefront.refreshable_views import RefreshableViews

_BY_REFERENCE = {"reference": "$response.body#/order_reference"}
_FIRST_ITEM = {**_BY_REFERENCE, "orderItemId": "$response.body#/items/0/id"}
_DESCRIBED: Mapping[type, Described] = {OrderVideoResponse: Described("Where to watch the video.", VIDEO)}
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
            body=Body(AddConfigurationsRequest, {"AddConfigurationsRequest": CONFIGURATIONS}),
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
            sample=Sample(after="createOrder", first_body=CONFIGURABLE_ORDER),
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
        video = await find_video(tx, order.id)
        if video is None:
            raise not_found("packing video of order", order.order_reference)
        return video
