"""`/quote` with GET and POST, `/quote/{confirmation_code}` with GET, `…/decline` with POST."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.customers.wire import AddressDetails
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import IDEMPOTENCY_KEY, IDEMPOTENT_REPLAY, PAGING
from tradecounter.edge.rest.operation import Body, ErrorResponse, Link, Operation, Sample, Success, endpoint
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE
from tradecounter.edge.rest.record_lists import Layout, PagedList, RecordLists
from tradecounter.kit.errors import Code, not_found
from tradecounter.kit.wire import made_from
from tradecounter.orders.interface_document import CONFLICT, ORDER_REQUEST, PAYMENT_REQUIRED, PENDING_ORDER
from tradecounter.orders.lines import with_components
from tradecounter.orders.operations.public import OrderCreation
from tradecounter.orders.queries.orders import lines_of, lines_of_order, pipe_by_code, pipe_lines_by_code
from tradecounter.orders.states import AnyOrder
from tradecounter.orders.wire import CreatedOrder, CreateOrderRequest, OrderAddressDetails
from tradecounter.quotes.handle_quotes import decline_own_quote
from tradecounter.quotes.queries import count_own_quotes, own_quotes
from tradecounter.quotes.wire import DeclineQuoteRequest, Quote, quote_on_the_wire

_QUOTE = made_from(PENDING_ORDER, Quote, shipping_method=None, status="Priced", expires_on="2026-03-09T17:30:00")
_DECLINED = Described("The quote, which is declined.", replace(_QUOTE, status="Declined", expires_on=None), "Quote")
_DESCRIBED: Mapping[type, Described] = {
    Quote: Described("The quote.", _QUOTE),
    DeclineQuoteRequest: Described(
        "", DeclineQuoteRequest("The site is closed."), "With a reason", {"Without": DeclineQuoteRequest()}
    ),
}
_QUOTES = Subject(tag="Orders", keys=("order",), described=_DESCRIBED)
_BY_CODE = {"confirmation_code": "$response.body#/confirmation_code"}
_LAYOUT: Layout[Quote] = Layout("quotes")
_NOT_OPEN = ErrorResponse(
    409,
    "The quote is ordered, or has expired.",
    "the quote is already order ORD-100042, which is awaiting dispatch",
    code=Code.CONFLICT,
)

_CODE = "The `confirmation_code` from the quote's creation."
QuoteCode = Annotated[str, InPath("confirmation_code", _CODE, "657cdc3344bb2a3356c0c53b05b216f8", "quote")]
OpenQuoteCode = Annotated[str, InPath("confirmation_code", _CODE, "7bfea21b97142b57d31cc7911afae7c8", "quote")]


class _OwnQuotes(Struct, frozen=True):
    """A customer's quotes, in their states at a moment."""

    customer_id: int
    now: datetime

    async def count(self, tx: Transaction) -> int:
        return await count_own_quotes(tx, self.customer_id)

    async def read(self, tx: Transaction, most: int, start: int, after: AnyOrder | None) -> Sequence[AnyOrder]:
        return await own_quotes(tx, self.customer_id, most, None if after is None else after.id, start)

    async def shown(self, tx: Transaction, rows: Sequence[AnyOrder]) -> Sequence[Quote]:
        lines = await lines_of(tx, [quote.id for quote in rows])
        return [quote_on_the_wire(quote, lines[quote.id], self.now) for quote in rows]


class QuoteEndpoints(Struct, frozen=True):
    """The endpoints of quotes; `PUT /order/{reference}` confirms one."""

    desk: Desk
    creation: OrderCreation
    lists: RecordLists

    @_QUOTES.shows(
        "/quote",
        "The quotes of one page.",
        headers=PAGING,
        description="In any state, with support's prices where there are some. " + COUNTED_BY_SIZE,
        key_scopes=("read", "order"),
        sample=Sample({"limit": "3"}),
        cacheable=True,
    )
    async def list_quotes(self, call: Call, now: datetime, query: PagedList) -> list[Quote] | Response:
        """List your quotes, newest first."""
        return await self.lists.respond(call, query, _OwnQuotes(call.customer_id, now), _LAYOUT)

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

    @_QUOTES.shows(
        "/quote/{confirmation_code}",
        key_scopes=("read", "order"),
        links=(Link("createQuote", "The quote, with support's prices once it is priced.", _BY_CODE),),
        sample=Sample(after="createQuote"),
    )
    async def get_quote(self, tx: Transaction, call: Call, now: datetime, code: QuoteCode) -> Quote:
        """One quote.

        The quote as requested, with support's prices once it is priced.
        """
        async with tx.pipeline() as p:
            order = pipe_by_code(p, call.customer_id, code.lower())
            lines = pipe_lines_by_code(p, call.customer_id, code.lower())
        quote = order.first
        if quote is None or quote.kind != "quote":
            raise not_found("quote", code)
        return quote_on_the_wire(quote, with_components(lines.rows), now)

    @_QUOTES.changes(
        "POST",
        "/quote/{confirmation_code}/decline",
        _DECLINED,
        errors=(_NOT_OPEN,),
        links=(
            Link("createQuote", "Declines the quote.", _BY_CODE),
            Link("listQuotes", "Declines a quote.", {"confirmation_code": "$response.body#/0/confirmation_code"}),
        ),
        sample=Sample(after="createQuote"),
    )
    async def decline_quote(
        self, tx: Transaction, call: Call, now: datetime, code: OpenQuoteCode, body: DeclineQuoteRequest
    ) -> Quote:
        """Decline a quote.

        Support learns that you do not want it. Declining again changes nothing.
        """
        quote = await decline_own_quote(tx, call.customer_id, code, body.reason, now)
        return quote_on_the_wire(quote, await lines_of_order(tx, quote.id), now)
