"""`/order` with GET and POST, `/order/{reference}` with GET and PUT, `/quote` with POST."""

import asyncio
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from starlette.responses import Response

from tradecounter.catalogue.wire import Product
from tradecounter.customers.wire import AddressDetails
from tradecounter.db.idempotency import KeyedRequest, Recorded, claim, record, recorded, used_once
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError
from tradecounter.ordering.circumstances import Circumstances
from tradecounter.ordering.confirm_order import confirm_order, unknown_code
from tradecounter.ordering.error_responses import (
    CONFLICT,
    EXPIRED,
    NO_SHIPPING_METHOD,
    NOT_CONFIRMABLE,
    PAYMENT_REQUIRED,
    UNKNOWN_CODE,
)
from tradecounter.ordering.examples import (
    AUTO_CONFIRMED_ORDER,
    AUTO_CONFIRMED_REQUEST,
    CONFIRMATION,
    CONFIRMED_ORDER,
    LINKED_ORDER_REQUEST,
    ORDER,
    ORDER_REQUEST,
    ORDERS_CSV,
    PENDING_ORDER,
)
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
from tradecounter.ordering.wire import AddressReference, ConfirmOrderRequest, CreatedOrder, CreateOrderRequest, Order
from tradecounter.rest.answers import answer, to_json
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import CONTENT_DISPOSITION, IDEMPOTENCY_KEY, IDEMPOTENT_REPLAY, PAGING
from tradecounter.rest.idempotency import HEADER, REPLAY_HEADER, fingerprint, read_key
from tradecounter.rest.negotiation import CSV, JSON, choose_format
from tradecounter.rest.operation import TEXT, Body, Link, Media, Operation, Parameter, Sample, Success, endpoint
from tradecounter.rest.paging import COUNTED_BY_SIZE, Page
from tradecounter.shipping.methods import ShippingMethods
from tradecounter.storefront.live_views import LiveViews
from tradecounter.storefront.view import CustomerView

_CREATED = 201

_BY_REFERENCE = {"reference": "$response.body#/order_reference"}
_BY_CODE = {"reference": "$response.body#/confirmation_code"}
_FIRST_OPTION = {"shipping_method": {"id": "$response.body#/shipping_options/0/id"}}


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
                "Confirmed orders, open and completed, that match all filters. Without an `Accept` header the response "
                "is CSV. With `limit=0` it has the orders that are confirmed when the request arrives, each in its "
                "state when that part of the response is sent. " + COUNTED_BY_SIZE
            ),
            query=OrderListParameters,
            success=Success(
                200,
                "The orders of one page.",
                list[Order],
                {"List": [ORDER]},
                {CSV: Media({"type": "string"}, {"A table": ORDERS_CSV})},
                headers=(*PAGING, CONTENT_DISPOSITION),
            ),
            referenced=(Product,),
            sample=Sample({"limit": "3"}),
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
                "Validates and prices the order, and returns the shipping options and a `confirmation_code`. The order "
                "is pending: confirm it within 24 hours to buy at this price. With `auto_confirm` it is "
                "confirmed immediately."
            ),
            request_headers=(IDEMPOTENCY_KEY,),
            body=Body(
                CreateOrderRequest,
                {"An order to confirm": ORDER_REQUEST, "Confirmed immediately": AUTO_CONFIRMED_REQUEST},
            ),
            success=Success(
                201,
                "The priced order.",
                CreatedOrder,
                {"Pending": PENDING_ORDER, "Confirmed immediately": AUTO_CONFIRMED_ORDER},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            errors=(PAYMENT_REQUIRED, CONFLICT, NO_SHIPPING_METHOD),
            links=(Link("listProducts", "Orders one of the products, by its SKU.", body=LINKED_ORDER_REQUEST),),
            referenced=(AddressDetails, AddressReference),
            rate_limited=False,
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
                "Takes what `POST /order` takes, except `auto_confirm`, and asks support for better prices. You will "
                "get an e-mail when the quote is priced; then confirm it by its `confirmation_code` to buy at that "
                "price. If no shipping method fits, `shipping_options` is empty until support has priced the "
                "quote."
            ),
            request_headers=(IDEMPOTENCY_KEY,),
            body=Body(CreateOrderRequest, {"A quote to price": ORDER_REQUEST}),
            success=Success(
                201,
                "The quote, at your current prices.",
                CreatedOrder,
                {"CreatedOrder": PENDING_ORDER},
                headers=(IDEMPOTENT_REPLAY,),
            ),
            errors=(PAYMENT_REQUIRED, CONFLICT),
            referenced=(AddressDetails, AddressReference),
            rate_limited=False,
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
            path_parameters=(
                Parameter("reference", "The order reference or the numeric order id.", TEXT, "PLN-100004"),
            ),
            success=Success(200, "The order.", Order, {"Order": ORDER}),
            errors=(NOT_FOUND,),
            links=(
                Link("createOrder", "The order, by its reference, if it was confirmed immediately.", _BY_REFERENCE),
                Link("confirmOrder", "The confirmed order, by its reference.", _BY_REFERENCE),
                Link(
                    "listOrders",
                    "One of the orders, by its reference.",
                    {"reference": "$response.body#/0/order_reference"},
                ),
            ),
            referenced=(Product,),
        )
    )
    async def show_order(self, call: Call) -> Response:
        """Answer `GET /order/{reference}`."""
        async with reading(self.database) as tx:
            order = await own_order(tx, call.customer_id, call.path_text("reference", "order"))
            lines = await lines_of(tx, [order.id])
            fulfilled = await self.fulfilment.of_orders(tx, [order.id])
        view = await self.views.showing(call.customer_id, products_of(lines))
        return answer(order_on_the_wire(order, lines[order.id], fulfilled[order.id], view, self.clock.now()))

    @endpoint(
        Operation(
            method="PUT",
            path="/order/{reference}",
            name="confirmOrder",
            tag="Orders",
            summary="Confirm a pending order or a quote",
            description=(
                "`reference` is the `confirmation_code` of an order or of a priced quote. Without `shipping_method`, "
                "the one from its creation is used, or else the account's default. Confirming it again returns the "
                "same order."
            ),
            path_parameters=(
                Parameter(
                    "reference",
                    "The `confirmation_code` from the order's or the quote's creation.",
                    TEXT,
                    "5417fc98db0f9cf4c67baceff5629b04",
                ),
            ),
            body=Body(
                ConfirmOrderRequest,
                {"With a shipping option": CONFIRMATION, "With the account's default": ConfirmOrderRequest()},
                required=False,
            ),
            success=Success(
                200, "The confirmed order, with its id and reference.", CreatedOrder, {"Confirmed": CONFIRMED_ORDER}
            ),
            errors=(PAYMENT_REQUIRED, UNKNOWN_CODE, EXPIRED, NOT_CONFIRMABLE),
            links=(
                Link("createOrder", "Confirms the pending order, by its code.", _BY_CODE, _FIRST_OPTION),
                Link(
                    "createQuote",
                    "Confirms the quote, by its code, once support has priced it.",
                    _BY_CODE,
                    _FIRST_OPTION,
                ),
            ),
            sample=Sample(after="createOrder"),
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
        return answer(created_order(confirmed.order, confirmed.lines))

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
