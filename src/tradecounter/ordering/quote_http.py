"""`GET /quote/{confirmation_code}`."""

from dataclasses import dataclass

from starlette.responses import Response

from tradecounter.db.pool import Database
from tradecounter.db.transaction import reading
from tradecounter.kit.clock import Clock
from tradecounter.kit.errors import not_found
from tradecounter.ordering.examples import QUOTE
from tradecounter.ordering.present import quote_on_the_wire
from tradecounter.ordering.queries import by_code, lines_by_code, with_components
from tradecounter.ordering.wire import Quote
from tradecounter.rest.answers import answer
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.operation import TEXT, Link, Operation, Parameter, Sample, Success, endpoint


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
        """Show a quote of the customer in whatever state it is."""
        code = call.path_text("confirmation_code", "quote").lower()
        found, lines = by_code(call.customer_id, code), lines_by_code(call.customer_id, code)
        async with reading(self.database) as tx:
            await tx.ask(found, lines)
        quote = found.first
        if quote is None or quote.kind != "quote":
            raise not_found("quote")
        return answer(quote_on_the_wire(quote, with_components(lines.rows), self.clock.now()))
