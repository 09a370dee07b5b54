"""`/order` with GET and POST, `/order/{reference}` with GET and PUT."""

import asyncio
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.kit.clock import Clock
from tradecounter.ordering.confirm_order import confirm_order, unknown_code
from tradecounter.ordering.create.respond import OrderCreation
from tradecounter.ordering.fulfilled import FulfilmentReader
from tradecounter.ordering.lines import products_of
from tradecounter.ordering.order_lists import LAYOUTS, OrderLister
from tradecounter.ordering.parameters import OrderListParameters, order_filter
from tradecounter.ordering.present import created_order, order_on_the_wire
from tradecounter.ordering.queries.lines import lines_of_order
from tradecounter.ordering.queries.orders import own_order
from tradecounter.ordering.wire import ConfirmOrderRequest, CreatedOrder, CreateOrderRequest, Order
from tradecounter.rest.answers import answer
from tradecounter.rest.call import Call
from tradecounter.rest.idempotency import HEADER, REPLAY_HEADER
from tradecounter.rest.negotiation import choose_format
from tradecounter.rest.operation import Answer, Operation, endpoint
from tradecounter.rest.paging import COUNTED_BY_SIZE, HEADERS, Page
from tradecounter.storefront.refreshable_views import RefreshableViews


@dataclass(frozen=True, slots=True)
class OrderEndpoints:
    """The order endpoints."""

    database: Database
    views: RefreshableViews
    clock: Clock
    creation: OrderCreation
    fulfilment: FulfilmentReader
    turns: WeakValueDictionary[int, asyncio.Lock] = field(default_factory=WeakValueDictionary)  # of long lists

    @endpoint(
        Operation(
            method="GET",
            path="/order",
            name="listOrders",
            tag="Orders",
            summary="List your orders, newest first",
            description=(
                "Confirmed orders, open and completed, that match all filters. Without an `Accept` header the answer "
                "is CSV. With `limit=0` it holds the orders that were confirmed when it was asked for, each as it is "
                "when its part is sent. " + COUNTED_BY_SIZE
            ),
            query=OrderListParameters,
            answer=Answer(
                200, "The orders of one page.", list[Order], csv=True, headers=(*HEADERS, "Content-Disposition")
            ),
            errors=(400, 401),
        )
    )
    async def list_orders(self, call: Call) -> Response:
        """Answer `GET /order`."""
        wanted = call.query(OrderListParameters)
        media = choose_format(call.accept, wanted.accept)
        chosen, page = order_filter(wanted), Page(wanted.page, wanted.limit)
        lister = OrderLister(self.database, self.views, self.fulfilment, self.clock, call.customer_id, LAYOUTS[media])
        turn = self.turns.setdefault(call.customer_id, asyncio.Lock())
        return await lister.respond(call, chosen, page, turn)

    @endpoint(
        Operation(
            method="POST",
            path="/order",
            name="createOrder",
            tag="Orders",
            summary="Create an order",
            description=(
                "Validates and prices the order and returns the shipping options and a `confirmation_code`. The order "
                "is pending, at this price, until it is confirmed within 24 hours. With `auto_confirm` it is "
                "confirmed at once."
            ),
            request_headers=(HEADER,),
            body=CreateOrderRequest,
            answer=Answer(201, "The priced order.", CreatedOrder, headers=(REPLAY_HEADER,)),
            errors=(400, 401, 402, 409, 412),
            meanings={
                412: "With `auto_confirm`: no shipping method is named, and the account has no default among the "
                "shipping options."
            },
        )
    )
    async def create_order(self, call: Call) -> Response:
        """Answer `POST /order`."""
        return await self.creation.respond(call, "order")

    @endpoint(
        Operation(
            method="GET",
            path="/order/{reference}",
            name="getOrder",
            tag="Orders",
            summary="One order",
            description="`reference` is the numeric order id or the order reference.",
            answer=Answer(200, "The order.", Order),
            errors=(401, 404),
        )
    )
    async def show_order(self, call: Call) -> Response:
        """Answer `GET /order/{reference}`."""
        async with reading(self.database) as tx:
            order = await own_order(tx, call.customer_id, call.path_text("reference", "order"))
            lines = await lines_of_order(tx, order.id)
            fulfilled = await self.fulfilment.of_orders(tx, [order.id])
        view = await self.views.showing(call.customer_id, products_of(lines))
        return answer(order_on_the_wire(order, lines, fulfilled[order.id], view, self.clock.now()))

    @endpoint(
        Operation(
            method="PUT",
            path="/order/{reference}",
            name="confirmOrder",
            tag="Orders",
            summary="Confirm a pending order or a quote",
            description=(
                "`reference` is the `confirmation_code` of an order or of a priced quote. Without `shipping_method` "
                "the one of the creation is used, else the account's default. Confirming again returns the same order."
            ),
            body=ConfirmOrderRequest,
            body_required=False,
            answer=Answer(200, "The confirmed order, with its id and reference.", CreatedOrder),
            errors=(400, 401, 402, 404, 410, 412),
            meanings={
                404: "No pending order or quote of yours has this `confirmation_code`.",
                410: "The pending order or the quote has expired or was cancelled.",
                412: "No shipping method is named, and the account has no default among the shipping options; or the "
                "quote is not priced yet.",
            },
        )
    )
    async def confirm_order(self, call: Call) -> Response:
        """Answer `PUT /order/{reference}`."""
        request = await call.body(ConfirmOrderRequest, required=False)
        method_id = None if request.shipping_method is None else request.shipping_method.id
        # The price was settled when the order was created; stock and credit are taken from the database.
        context = self.creation.context(call.customer_id, await self.views.last(call.customer_id))
        code = call.path_text("reference", "order", unknown_code()).lower()
        async with transaction(self.database) as tx:
            order, lines = await confirm_order(tx, code, method_id, context)
        return answer(created_order(order, lines))
