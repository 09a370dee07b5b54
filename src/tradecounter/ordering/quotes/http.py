"""`/quote` with POST, `/quote/{confirmation_code}` with GET."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.ordering.create.respond import OrderCreation
from tradecounter.ordering.lines import with_components
from tradecounter.ordering.present import quote_on_the_wire
from tradecounter.ordering.queries.lines import fetch_lines_by_code
from tradecounter.ordering.queries.orders import fetch_by_code
from tradecounter.ordering.wire import CreatedOrder, CreateOrderRequest, Quote
from tradecounter.rest.answers import answer
from tradecounter.rest.call import Call
from tradecounter.rest.idempotency import HEADER, REPLAY_HEADER
from tradecounter.rest.operation import Answer, Operation, endpoint


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
        return await self.creation.respond(call, "quote")

    @endpoint(
        Operation(
            method="GET",
            path="/quote/{confirmation_code}",
            name="getQuote",
            tag="Orders",
            summary="One quote",
            description="The quote as requested, with support's prices once it is priced.",
            answer=Answer(200, "The quote.", Quote),
            errors=(401, 404),
        )
    )
    async def show_quote(self, call: Call) -> Response:
        """Show a quote of the customer in whatever state it is."""
        code = call.path_text("confirmation_code", "quote").lower()
        async with reading(self.database) as tx, tx.pipeline() as p:
            found = fetch_by_code(p, call.customer_id, code)
            lines = fetch_lines_by_code(p, call.customer_id, code)
        quote = found.first
        if quote is None or quote.kind != "quote":
            raise not_found("quote")
        return answer(quote_on_the_wire(quote, with_components(lines.rows), self.clock.now()))
