"""`/quote` with POST, `/quote/{confirmation_code}` with GET."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.customers.wire import AddressDetails
from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.headers import IDEMPOTENCY_KEY, IDEMPOTENT_REPLAY
from tradecounter.edge.rest.operation import TEXT, Body, Link, Operation, Parameter, Sample, Success, endpoint
from tradecounter.edge.rest.responses import json_response
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.orders.create.respond import OrderCreation
from tradecounter.orders.error_responses import CONFLICT, PAYMENT_REQUIRED
from tradecounter.orders.examples import ORDER_REQUEST, PENDING_ORDER, QUOTE
from tradecounter.orders.lines import with_components
from tradecounter.orders.present import quote_on_the_wire
from tradecounter.orders.queries.lines import pipe_lines_by_code
from tradecounter.orders.queries.orders import pipe_by_code
from tradecounter.orders.wire import CreatedOrder, CreateOrderRequest, OrderAddressDetails, Quote


@dataclass(frozen=True, slots=True)
class QuoteEndpoints:
    """The endpoints of quotes; `PUT /order/{reference}` confirms one."""

    database: Database
    clock: Clock
    creation: OrderCreation

    @endpoint(
        Operation(
            method="POST",
            path="/quote",
            name="createQuote",
            tag="Orders",
            summary="Request a quote",
            description=(
                "Takes the same body as `POST /order`, except `auto_confirm`, and asks support for better prices. You "
                "will get an e-mail when the quote is priced; then confirm it by its `confirmation_code` to buy at "
                "that price. If no shipping method fits, `shipping_options` is empty until support has priced the "
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
            referenced=(OrderAddressDetails, AddressDetails),
            rate_limited=False,
        )
    )
    async def create_quote(self, call: Call) -> Response:
        return await self.creation.respond(call, "quote")

    @endpoint(
        Operation(
            method="GET",
            path="/quote/{confirmation_code}",
            name="getQuote",
            tag="Orders",
            summary="One quote",
            description="The quote as requested, with support's prices once it is priced.",
            path_parameters=(
                Parameter(
                    "confirmation_code",
                    "The `confirmation_code` from the quote's creation.",
                    TEXT,
                    "657cdc3344bb2a3356c0c53b05b216f8",
                ),
            ),
            success=Success(200, "The quote.", Quote, {"Quote": QUOTE}),
            errors=(NOT_FOUND,),
            links=(
                Link(
                    "createQuote",
                    "The quote, with support's prices once it is priced.",
                    {"confirmation_code": "$response.body#/confirmation_code"},
                ),
            ),
            sample=Sample(after="createQuote"),
        )
    )
    async def show_quote(self, call: Call) -> Response:
        name = call.path_text("confirmation_code", "quote")
        code = name.lower()
        async with reading(self.database) as tx, tx.pipeline() as p:
            found = pipe_by_code(p, call.customer_id, code)
            lines = pipe_lines_by_code(p, call.customer_id, code)
        quote = found.first
        if quote is None or quote.kind != "quote":
            raise not_found("quote", name)
        return json_response(quote_on_the_wire(quote, with_components(lines.rows), self.clock.now()))
