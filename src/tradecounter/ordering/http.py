"""`/order` with GET and POST, `/order/{reference}` with GET and PUT, `/quote` with POST."""

import asyncio
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from starlette.responses import Response

from tradecounter.db.idempotency import KeyedRequest, Recorded, claim, record, recorded, used_once
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.confirm_order import confirm_order, unknown_code
from tradecounter.ordering.fulfilled import FulfilmentReader
from tradecounter.ordering.order_lists import LAYOUTS, OrderLister
from tradecounter.ordering.parameters import OrderListParameters, order_filter
from tradecounter.ordering.place_order import place_order
from tradecounter.ordering.policy import OrderingPolicy
from tradecounter.ordering.present import created_order, held_order, order_on_the_wire
from tradecounter.ordering.queries import lines_of, own_order, products_of
from tradecounter.ordering.read_request import read_request
from tradecounter.ordering.records import Kind
from tradecounter.ordering.request_quote import request_quote
from tradecounter.ordering.standing import Standing, standing, standing_found
from tradecounter.ordering.wire import ConfirmOrderRequest, CreatedOrder, CreateOrderRequest, Order
from tradecounter.rest.call import Call
from tradecounter.rest.idempotency import HEADER, REPLAY_HEADER, fingerprint, read_key
from tradecounter.rest.negotiation import JSON, choose_format
from tradecounter.rest.operation import Answer, Operation, endpoint
from tradecounter.rest.paging import COUNTED_BY_SIZE, HEADERS, Page
from tradecounter.rest.responses import json_response, to_json
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.storefront.live_views import LiveViews
from tradecounter.storefront.view import CustomerView

_CREATED = 201


@dataclass(frozen=True, slots=True)
class OrderEndpoints:
    """The order endpoints."""

    database: Database
    views: LiveViews
    methods: ShippingMethods
    policy: OrderingPolicy
    clock: Clock
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
        return await self._create(call, "order")

    @endpoint(
        Operation(
            method="POST",
            path="/quote",
            name="createQuote",
            tag="Orders",
            summary="Request a quote",
            description=(
                "Takes what `POST /order` takes, except `auto_confirm`, and asks support for better prices. You are "
                "told by e-mail when the quote is priced; its `confirmation_code` then confirms the order at that "
                "price. Where no shipping method fits, `shipping_options` is empty, and support names the carriage "
                "with the price."
            ),
            request_headers=(HEADER,),
            body=CreateOrderRequest,
            answer=Answer(201, "The quote, at your prices of today.", CreatedOrder, headers=(REPLAY_HEADER,)),
            errors=(400, 401, 402, 409),
        )
    )
    async def create_quote(self, call: Call) -> Response:
        """Answer `POST /quote`."""
        return await self._create(call, "quote")

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
            lines = await lines_of(tx, [order.id])
            fulfilled = await self.fulfilment.of_orders(tx, [order.id])
        view = await self.views.showing(call.customer_id, products_of(lines))
        return json_response(order_on_the_wire(order, lines[order.id], fulfilled[order.id], view, self.clock.now()))

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
        circumstances = self._circumstances(call, await self.views.last(call.customer_id))
        code = call.path_text("reference", "order", unknown_code()).lower()
        async with transaction(self.database) as tx:
            confirmed = await confirm_order(tx, code, method_id, circumstances)
        return json_response(created_order(confirmed.order, confirmed.lines))

    async def _create(self, call: Call, kind: Kind) -> Response:
        """Create an order or a quote and answer with it; with an idempotency key, once (specification, section 8)."""
        key = read_key(call.request.headers.getlist(HEADER))
        raw = await call.json_text()
        keyed = None if key is None else KeyedRequest(call.customer_id, key, fingerprint(*call.target, raw))
        try:
            return await self._created(call, raw, keyed, kind)
        except DomainError as refusal:
            return await self._refuse(keyed, refusal)

    async def _created(self, call: Call, raw: bytes, keyed: KeyedRequest | None, kind: Kind) -> Response:
        circumstances = self._circumstances(call, await self.views.of(call.customer_id))
        request = read_request(raw, circumstances.view)
        asked = standing(kind, request, circumstances)
        with used_once():
            async with transaction(self.database) as tx:
                if keyed is None:
                    await tx.ask(asked)
                else:
                    claimed = claim(keyed)
                    await tx.ask(claimed, asked)
                    if (before := recorded(keyed, claimed)) is not None:
                        return _again(before)
                create = _place if kind == "order" else _quote
                body = to_json(await create(tx, request, standing_found(asked), circumstances))
                if keyed is not None:
                    record(tx, keyed, Recorded(_CREATED, body), circumstances.now)
        return Response(body, _CREATED, media_type=JSON)

    async def _refuse(self, keyed: KeyedRequest | None, refusal: DomainError) -> Response:
        """Refuse a request; but what its key has made is answered again, whatever the rules are by now.

        Another request with the key may also have made it since this one looked: what that one made, or used up of the
        credit, is no reason to refuse this one.
        """
        if keyed is not None:
            async with transaction(self.database) as tx:
                claimed = claim(keyed)
                await tx.ask(claimed)
                if (before := recorded(keyed, claimed)) is not None:
                    return _again(before)
        raise refusal

    def _circumstances(self, call: Call, view: CustomerView) -> Circumstances:
        return Circumstances(
            customer_id=call.customer_id,
            view=view,
            methods=self.methods.all,
            regions=self.methods.regions,
            policy=self.policy,
            now=self.clock.now(),
        )


async def _place(
    tx: Transaction, request: CreateOrderRequest, standing: Standing, circumstances: Circumstances
) -> CreatedOrder:
    order = await place_order(tx, request, standing, circumstances)
    if not request.auto_confirm:
        return held_order(order, auto_confirm=request.auto_confirm)
    confirmed = await confirm_order(tx, order.confirmation_code, None, circumstances)
    created = created_order(confirmed.order, confirmed.lines)
    created.auto_confirm = True
    return created


async def _quote(
    tx: Transaction, request: CreateOrderRequest, standing: Standing, circumstances: Circumstances
) -> CreatedOrder:
    quote = await request_quote(tx, request, standing, circumstances)
    return held_order(quote, auto_confirm=request.auto_confirm)


def _again(before: Recorded) -> Response:
    return Response(before.body, before.status, {REPLAY_HEADER: "true"}, JSON)
