"""`/quote` with GET and POST, `/quote/{confirmation_code}` with GET, `…/decline` with POST."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct
from msgspec.structs import asdict, replace
from starlette.responses import Response

from tradecounter.customers.wire import AddressDetails
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.common_errors import NOT_FOUND
from tradecounter.edge.rest.headers import IDEMPOTENCY_KEY, IDEMPOTENT_REPLAY, PAGING
from tradecounter.edge.rest.operation import (
    TEXT,
    Body,
    ErrorResponse,
    Link,
    Operation,
    Parameter,
    Sample,
    Success,
    endpoint,
)
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE
from tradecounter.edge.rest.record_lists import Layout, PagedList, RecordLists
from tradecounter.edge.rest.responses import json_response
from tradecounter.kit.clock import Clock
from tradecounter.kit.error_codes import Code
from tradecounter.kit.errors import not_found
from tradecounter.orders.error_responses import CONFLICT, PAYMENT_REQUIRED
from tradecounter.orders.examples import ORDER_REQUEST, PENDING_ORDER
from tradecounter.orders.lines import with_components
from tradecounter.orders.operations.creation import OrderCreation
from tradecounter.orders.queries.lines import lines_of, lines_of_order, pipe_lines_by_code
from tradecounter.orders.queries.orders import pipe_by_code
from tradecounter.orders.states import AnyOrder
from tradecounter.orders.wire import CreatedOrder, CreateOrderRequest, OrderAddressDetails
from tradecounter.quotes.decline_quote import decline_own_quote
from tradecounter.quotes.present import quote_on_the_wire
from tradecounter.quotes.queries.quotes import count_own_quotes, own_quotes
from tradecounter.quotes.wire import DeclineQuoteRequest, Quote

_QUOTE = Quote(
    **{**asdict(PENDING_ORDER), "shipping_method": None},
    status="Priced",
    expires_on="2026-03-09T17:30:00",
)
_DECLINED = replace(_QUOTE, status="Declined", expires_on=None)
_LAYOUT: Layout[Quote] = Layout("quotes")
_NOT_OPEN = ErrorResponse(
    409,
    "The quote is ordered, or has expired.",
    "the quote is already order ORD-100042, which is awaiting dispatch",
    code=Code.CONFLICT,
)


class _Quotes(Struct, frozen=True):
    """A customer's quotes, in their states at a moment."""

    customer_id: int
    now: datetime

    async def count(self, tx: Transaction) -> int:
        return await count_own_quotes(tx, self.customer_id)

    async def read(self, tx: Transaction, most: int, start: int, behind: AnyOrder | None) -> Sequence[AnyOrder]:
        return await own_quotes(tx, self.customer_id, most, None if behind is None else behind.id, start)

    async def shown(self, tx: Transaction, rows: Sequence[AnyOrder]) -> Sequence[Quote]:
        lines = await lines_of(tx, [quote.id for quote in rows])
        return [quote_on_the_wire(quote, lines[quote.id], self.now) for quote in rows]


class QuoteEndpoints(Struct, frozen=True):
    """The endpoints of quotes; `PUT /order/{reference}` confirms one."""

    database: Database
    clock: Clock
    creation: OrderCreation
    lists: RecordLists

    @endpoint(
        Operation(
            method="GET",
            path="/quote",
            name="listQuotes",
            key_scopes=("read", "order"),
            tag="Orders",
            summary="List your quotes, newest first",
            description="In any state, with support's prices where there are some. " + COUNTED_BY_SIZE,
            query=PagedList,
            success=Success(200, "The quotes of one page.", list[Quote], {"List": [_QUOTE]}, headers=PAGING),
            sample=Sample({"limit": "3"}),
            cacheable=True,
        )
    )
    async def list_quotes(self, call: Call) -> Response:
        records = _Quotes(call.customer_id, self.clock.now())
        return await self.lists.respond(call, call.query(PagedList), records, _LAYOUT)

    @endpoint(
        Operation(
            method="POST",
            path="/quote",
            name="createQuote",
            key_scopes=("order",),
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
            key_scopes=("read", "order"),
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
            success=Success(200, "The quote.", Quote, {"Quote": _QUOTE}),
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

    @endpoint(
        Operation(
            method="POST",
            path="/quote/{confirmation_code}/decline",
            name="declineQuote",
            key_scopes=("order",),
            tag="Orders",
            summary="Decline a quote",
            description="Support learns that you do not want it. Declining again changes nothing.",
            path_parameters=(
                Parameter(
                    "confirmation_code",
                    "The `confirmation_code` from the quote's creation.",
                    TEXT,
                    "7bfea21b97142b57d31cc7911afae7c8",
                ),
            ),
            body=Body(
                DeclineQuoteRequest,
                {"With a reason": DeclineQuoteRequest("The site is closed."), "Without": DeclineQuoteRequest()},
                required=False,
            ),
            success=Success(200, "The quote, which is declined.", Quote, {"Quote": _DECLINED}),
            errors=(NOT_FOUND, _NOT_OPEN),
            links=(
                Link(
                    "createQuote",
                    "Declines the quote.",
                    {"confirmation_code": "$response.body#/confirmation_code"},
                ),
                Link("listQuotes", "Declines a quote.", {"confirmation_code": "$response.body#/0/confirmation_code"}),
            ),
            sample=Sample(after="createQuote"),
        )
    )
    async def decline_quote(self, call: Call) -> Response:
        request, now = await call.body(DeclineQuoteRequest, required=False), self.clock.now()
        code = call.path_text("confirmation_code", "quote")
        async with transaction(self.database, call.actor) as tx:
            quote = await decline_own_quote(tx, call.customer_id, code, request.reason, now)
            lines = await lines_of_order(tx, quote.id)
        return json_response(quote_on_the_wire(quote, lines, now))
