"""`/order/{reference}/video` and `/order/{reference}/item/{orderItemId}/configuration`."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.fulfilment.configure_item import configure_item
from tradecounter.fulfilment.queries import OrderFulfilment, find_video
from tradecounter.fulfilment.wire import AddConfigurationsRequest, OrderVideoResponse
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.ordering.present import item_on_the_wire
from tradecounter.ordering.queries import own_order, products_of
from tradecounter.ordering.wire import OrderItem
from tradecounter.rest.call import Call
from tradecounter.rest.operation import Answer, Operation, endpoint
from tradecounter.rest.responses import json_response
from tradecounter.storefront.live_views import LiveViews


@dataclass(frozen=True, slots=True)
class FulfilmentEndpoints:
    """The endpoints of what happens to an order after its confirmation."""

    database: Database
    views: LiveViews
    fulfilment: OrderFulfilment
    clock: Clock

    @endpoint(
        Operation(
            method="POST",
            path="/order/{reference}/item/{orderItemId}/configuration",
            name="addConfigurations",
            tag="Orders",
            summary="Add broadband configurations to an item",
            description=(
                "`reference` is the numeric order id or the order reference. An item takes one configuration for each "
                "of its units; the components of a bundle are items too."
            ),
            body=AddConfigurationsRequest,
            answer=Answer(200, "The item with all its configurations.", OrderItem),
            errors=(400, 401, 404),
        )
    )
    async def add_configurations(self, call: Call) -> Response:
        """Answer `POST /order/{reference}/item/{orderItemId}/configuration`."""
        request = await call.body(AddConfigurationsRequest)
        async with transaction(self.database) as tx:
            order = await own_order(tx, call.customer_id, call.path_text("reference", "order"))
            item_id = call.path_id("orderItemId", "item")
            now, vault = self.clock.now(), self.fulfilment.vault
            line = await configure_item(tx, order, item_id, request.configurations, vault, now)
            fulfilled = (await self.fulfilment.of_orders(tx, [order.id]))[order.id]
        view = await self.views.showing(call.customer_id, products_of({order.id: [line]}))
        return json_response(item_on_the_wire(line, fulfilled, view))

    @endpoint(
        Operation(
            method="GET",
            path="/order/{reference}/video",
            name="getPackingVideo",
            tag="Orders",
            summary="The packing video of an order",
            description="`reference` is the order reference; the numeric order id does as well.",
            answer=Answer(200, "Where it can be watched.", OrderVideoResponse),
            errors=(401, 404),
        )
    )
    async def show_video(self, call: Call) -> Response:
        """Answer `GET /order/{reference}/video`."""
        async with reading(self.database) as tx:
            order = await own_order(tx, call.customer_id, call.path_text("reference", "order"))
            video = await find_video(tx, order.id)
        if video is None:
            raise not_found("packing video")
        return json_response(video)
