"""`GET /quote/{confirmation_code}`."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.ordering.present import quote_on_the_wire
from tradecounter.ordering.queries import by_code, lines_by_code, with_components
from tradecounter.ordering.wire import Quote
from tradecounter.rest.call import Call
from tradecounter.rest.operation import Answer, Operation, endpoint
from tradecounter.rest.responses import json_response


@dataclass(frozen=True, slots=True)
class QuoteEndpoints:
    """The endpoint that reads a quote back; `OrderEndpoints` has the one that requests it."""

    database: Database
    clock: Clock

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
        found, lines = by_code(call.customer_id, code), lines_by_code(call.customer_id, code)
        async with reading(self.database) as tx:
            await tx.ask(found, lines)
        quote = found.first
        if quote is None or quote.kind != "quote":
            raise not_found("quote")
        return json_response(quote_on_the_wire(quote, with_components(lines.rows), self.clock.now()))
