"""`/order` with GET and POST, `/order/{reference}` with GET and PUT; creating an order or a quote once for a key."""

import asyncio
from typing import Annotated
from weakref import WeakValueDictionary

from msgspec import Struct, field
from starlette.responses import Response

from tradecounter.customers.wire import AddressDetails
from tradecounter.db.idempotency import KeyedRequest, RecordedResponse, pipe_claim, record, recorded, used_once
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading, transaction
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.headers import CONTENT_DISPOSITION, IDEMPOTENCY_KEY, IDEMPOTENT_REPLAY, PAGING
from tradecounter.edge.rest.idempotency import IDEMPOTENCY_HEADER, REPLAY_HEADER, fingerprint, read_key
from tradecounter.edge.rest.negotiation import CSV, JSON, choose_format
from tradecounter.edge.rest.operation import (
    TEXT,
    Body,
    Link,
    Operation,
    Parameter,
    Sample,
    Success,
    csv_media,
    endpoint,
)
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE, Page
from tradecounter.edge.rest.responses import json_response
from tradecounter.kit.actor import Actor
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import DomainError
from tradecounter.kit.json_text import to_json
from tradecounter.orders.confirm_order import confirm_order, unknown_code
from tradecounter.orders.create.check_request import read_request
from tradecounter.orders.create.place_order import pipe_standing, place_order, standing_of, with_current_data
from tradecounter.orders.guards import ConfirmationGuards
from tradecounter.orders.interface_document import (
    AUTO_CONFIRMED_ORDER,
    AUTO_CONFIRMED_REQUEST,
    BLOCKED,
    CONFIRMATION,
    CONFIRMED_ORDER,
    CONFLICT,
    EXPIRED,
    FOUND_ORDERS,
    LINKED_ORDER_REQUEST,
    NO_SHIPPING_METHOD,
    NOT_CONFIRMABLE,
    ORDER,
    ORDER_REQUEST,
    ORDERS_CSV,
    PAYMENT_REQUIRED,
    PENDING_ORDER,
    READ_BACK_ORDER,
    UNKNOWN_CODE,
    FoundOrder,
)
from tradecounter.orders.lines import products_of
from tradecounter.orders.operations.order_lists import LAYOUTS, OrderLister, OrderListParameters, order_list_filter
from tradecounter.orders.order_context import OrderContexts
from tradecounter.orders.present import created_order, order_on_the_wire, pending_order
from tradecounter.orders.queries.orders import fetch_readable_order, lines_of_order
from tradecounter.orders.states import NumberedOrder, OrderKind
from tradecounter.orders.wire import ConfirmOrderRequest, CreatedOrder, CreateOrderRequest, OrderAddressDetails
from tradecounter.products.wire import Product
from tradecounter.quotes.handle_quotes import request_quote
from tradecounter.shipments.queries.fulfilment import OrderFulfilment
from tradecounter.storefront.storefront import RefreshableViews

_CREATED_STATUS = 201


class OrderCreation(Struct, frozen=True):
    """Creates orders and quotes for requests."""

    database: Database
    contexts: OrderContexts
    clock: Clock

    async def respond(self, call: Call, kind: OrderKind) -> Response:
        """Create an order or a quote and respond with it."""
        key = read_key(call.request.headers.getlist(IDEMPOTENCY_HEADER))
        raw = await call.json_text()
        keyed = None if key is None else KeyedRequest(call.customer_id, key, fingerprint(*call.target, raw))
        try:
            created, replayed = await self._create(call.customer_id, call.actor, raw, keyed, kind)
        except DomainError:
            # Another request with the key may have created the order in the meantime. Then that order's credit or
            # reference must not reject this request.
            if keyed is not None and (before := await self._recorded(keyed)) is not None:
                created, replayed = before, True
            else:
                raise
        return Response(created.body, created.status, {REPLAY_HEADER: "true"} if replayed else None, JSON)

    async def create(self, customer_id: int, actor: Actor, raw: bytes, kind: OrderKind) -> bytes:
        """Create an order or a quote of a body, and return it as JSON. Raises DomainError."""
        created, _ = await self._create(customer_id, actor, raw, None, kind)
        return created.body

    async def _create(
        self, customer_id: int, actor: Actor, raw: bytes, keyed: KeyedRequest | None, kind: OrderKind
    ) -> tuple[RecordedResponse, bool]:
        """Return the response, and whether it is that to an earlier request with the key."""
        context = self.contexts.of(customer_id, self.clock.now())
        request = await read_request(raw, context, lambda: reading(self.database), kind)
        with used_once():
            async with transaction(self.database, actor) as tx:
                async with tx.pipeline() as p:
                    claimed = None if keyed is None else pipe_claim(p, keyed)
                    standing = pipe_standing(p, kind, request, context)
                if keyed and claimed and (before := recorded(tx, keyed, claimed)) is not None:
                    return before, True
                current = await with_current_data(tx, request, standing_of(standing, context.customer_id), context)
                create = place_order if kind == "order" else request_quote
                order, lines = await create(tx, request, *current)
                created = created_order(order, lines, auto_confirm=request.auto_confirm)
                recorded_response = RecordedResponse(_CREATED_STATUS, to_json(created))
                if keyed is not None:
                    record(tx, keyed, recorded_response, context.now)
        return recorded_response, False

    async def _recorded(self, keyed: KeyedRequest) -> RecordedResponse | None:
        """Return the response to an earlier request with this key, even if the rules have changed since."""
        async with transaction(self.database) as tx:
            async with tx.pipeline() as p:
                claimed = pipe_claim(p, keyed)
            return recorded(tx, keyed, claimed)


_BY_REFERENCE = {"reference": "$response.body#/order_reference"}
_BY_CODE = {"reference": "$response.body#/confirmation_code"}
_FIRST_OPTION = {"shipping_method": {"id": "$response.body#/shipping_options/0/id"}}

OwnOrderReference = Annotated[
    str, InPath("reference", "The order reference or the numeric order id.", "PLN-100004", "order")
]


class OrderEndpoints(Struct, frozen=True):
    """The endpoints of orders."""

    database: Database
    views: RefreshableViews
    clock: Clock
    creation: OrderCreation
    fulfilment: OrderFulfilment
    list_locks: WeakValueDictionary[int, asyncio.Lock] = field(default_factory=WeakValueDictionary)  # by customer

    @endpoint(
        Operation(
            method="GET",
            path="/order",
            name="listOrders",
            key_scopes=("read", "order"),
            tag="Orders",
            summary="List your orders, newest first",
            description=(
                "Confirmed orders, open and completed, that match all filters. Without an `Accept` header the response "
                "is CSV. With `limit=0`, it has the orders that are confirmed when the request arrives, each in its "
                "state when that part of the response is sent. " + COUNTED_BY_SIZE
            ),
            query=OrderListParameters,
            success=Success(
                200,
                "The orders of one page.",
                FOUND_ORDERS,
                {"List": [ORDER]},
                {CSV: csv_media(ORDERS_CSV)},
                headers=(*PAGING, CONTENT_DISPOSITION),
            ),
            referenced=(Product,),
            sample=Sample({"limit": "3"}),
        )
    )
    async def list_orders(self, call: Call) -> Response:
        parameters = call.query(OrderListParameters)
        media = choose_format(call.accept, parameters.accept)
        wanted, page = order_list_filter(parameters), Page(parameters.page, parameters.limit)
        lister = OrderLister(self.database, self.views, self.fulfilment, self.clock, call.customer_id, LAYOUTS[media])
        lock = self.list_locks.setdefault(call.customer_id, asyncio.Lock())
        return await lister.respond(call, wanted, page, lock)

    @endpoint(
        Operation(
            method="POST",
            path="/order",
            name="createOrder",
            key_scopes=("order",),
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
            referenced=(OrderAddressDetails, AddressDetails),
            rate_limited=False,
        )
    )
    async def create_order(self, call: Call) -> Response:
        return await self.creation.respond(call, "order")

    @endpoint(
        Operation(
            method="GET",
            path="/order/{reference}",
            name="getOrder",
            key_scopes=("read", "order"),
            tag="Orders",
            summary="One order",
            description=(
                "`reference` is the numeric order id, the order reference, or the `confirmation_code` of an order. By "
                "its code, a pending order is returned as its creation did, with `status` and `expires_on`; once it is "
                "confirmed, the order is returned. Read quotes with `GET /quote/{confirmation_code}`."
            ),
            path_parameters=(
                Parameter(
                    "reference",
                    "The order reference, the numeric order id, or the `confirmation_code`.",
                    TEXT,
                    "PLN-100004",
                ),
            ),
            success=Success(
                200, "The order, or the pending order.", FoundOrder, {"Order": ORDER, "Pending": READ_BACK_ORDER}
            ),
            errors=(NOT_FOUND,),
            links=(
                Link("createOrder", "The order, by its code; pending until it is confirmed.", _BY_CODE),
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
        now = self.clock.now()
        async with reading(self.database) as tx:
            order = await fetch_readable_order(tx, call.customer_id, call.path_text("reference", "order"))
            lines = await lines_of_order(tx, order.id)
            if not isinstance(order, NumberedOrder):
                return json_response(pending_order(order, lines, now))
            fulfilled = await self.fulfilment.of_orders(tx, [order.id])
        view = await self.views.showing(call.customer_id, products_of(lines))
        return json_response(order_on_the_wire(order, lines, fulfilled[order.id], view, now))

    @endpoint(
        Operation(
            method="PUT",
            path="/order/{reference}",
            name="confirmOrder",
            key_scopes=("order",),
            tag="Orders",
            summary="Confirm a pending order or a quote",
            description=(
                "`reference` is the `confirmation_code` of an order or of a priced quote. Without `shipping_method`, "
                "the method from its creation is used, or else the account's default. Another confirmation returns the "
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
            errors=(PAYMENT_REQUIRED, UNKNOWN_CODE, BLOCKED, EXPIRED, NOT_CONFIRMABLE),
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
        request = await call.body(ConfirmOrderRequest, required=False)
        method_id = None if request.shipping_method is None else request.shipping_method.id
        policy, now = self.creation.contexts.policy, self.clock.now()
        code, guards = call.path_text("reference", "order", unknown_code), ConfirmationGuards.of(request)
        async with transaction(self.database, call.actor) as tx:
            order, lines = await confirm_order(tx, call.customer_id, code, method_id, policy, now, guards=guards)
        return json_response(created_order(order, lines))
