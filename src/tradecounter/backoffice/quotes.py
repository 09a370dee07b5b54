"""`/api/quote`: quotes of all customers, to which support gives prices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Literal

from msgspec import Meta, structs
from starlette.responses import Response

from tradecounter.backoffice import examples
from tradecounter.backoffice.desk import NEXT, POST_HEADERS, Desk, DryRun, PageParameters, page
from tradecounter.backoffice.error_responses import CONFLICT
from tradecounter.backoffice.order_wire import Declination, QuotePrice, ResellerQuote
from tradecounter.backoffice.present_order import option_in_utc
from tradecounter.backoffice.quote_steps import give_price
from tradecounter.catalogue.queries.lookup import purchase_costs
from tradecounter.db.transaction import Transaction
from tradecounter.ordering.lines import OrderLine
from tradecounter.ordering.present import created_order
from tradecounter.ordering.queries.lines import lines_of, lines_of_order
from tradecounter.ordering.queries.lookup import OrderFilter, orders_after, the_quote
from tradecounter.ordering.quotes.decline_quote import decline_quote
from tradecounter.ordering.quotes.margin import margin_of
from tradecounter.ordering.states import AnyOrder, pricing_of, quote_status
from tradecounter.rest.call import Call
from tradecounter.rest.common_errors import NOT_FOUND
from tradecounter.rest.headers import IDEMPOTENT_REPLAY
from tradecounter.rest.operation import TEXT, Body, Operation, Parameter, Success, endpoint
from tradecounter.rest.responses import json_response

CODE = Parameter("code", "The quote's confirmation code.", TEXT, "657cdc3344bb2a3356c0c53b05b216f8")
_QUOTE = Success(200, "The quote.", ResellerQuote, {"Quote": examples.QUOTE}, headers=(IDEMPOTENT_REPLAY,))


class QuoteListParameters(PageParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/quote`."""

    state: Annotated[
        Literal["pending", "confirmed", "cancelled", "expired"] | None, Meta(description="Only quotes in this state.")
    ] = None
    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's quotes.")] | None = None


@dataclass(frozen=True, slots=True)
class QuoteDesk:
    """The endpoints of quotes; a price holds for `lifetime`. `secret` returns the installation's secret key."""

    desk: Desk
    lifetime: timedelta
    secret: Callable[[], str]

    @endpoint(
        Operation(
            method="GET",
            path="/api/quote",
            name="listQuotes",
            tag="Quotes",
            summary="Quotes of all customers",
            query=QuoteListParameters,
            success=Success(200, "The quotes.", list[ResellerQuote], {"List": [examples.QUOTE]}, headers=(NEXT,)),
            scope="quotes:read",
        )
    )
    async def list_quotes(self, call: Call) -> Response:
        wanted = call.query(QuoteListParameters)
        chosen = OrderFilter(customer_id=wanted.customer_id, state=wanted.state, kind="quote")
        async with self.desk.reading() as tx:
            found = await orders_after(tx, chosen, wanted.after, wanted.limit + 1)
            lines = await lines_of(tx, [quote.id for quote in found])
            costs = await purchase_costs(tx, {line.product_id for each in lines.values() for line in each})
        now = self.desk.clock.now()
        shown = (_shown(quote, lines[quote.id], costs, now) for quote in found[: wanted.limit])
        return page(call, found, wanted.limit, lambda quote: quote.id, shown)

    @endpoint(
        Operation(
            method="GET",
            path="/api/quote/{code}",
            name="getQuote",
            tag="Quotes",
            summary="One quote",
            path_parameters=(CODE,),
            success=Success(200, "The quote.", ResellerQuote, {"Quote": examples.QUOTE}),
            errors=(NOT_FOUND,),
            scope="quotes:read",
        )
    )
    async def show_quote(self, call: Call) -> Response:
        async with self.desk.reading() as tx:
            return json_response(await _read(tx, code_of(call), self.desk.clock.now()))

    @endpoint(
        Operation(
            method="POST",
            path="/api/quote/{code}/price",
            name="priceQuote",
            tag="Quotes",
            summary="Set or change a quote's prices",
            description="The customer gets an e-mail, and can confirm the quote until it expires.",
            path_parameters=(CODE,),
            query=DryRun,
            request_headers=POST_HEADERS,
            body=Body(QuotePrice, {"QuotePrice": examples.QUOTE_PRICE}),
            success=_QUOTE,
            errors=(NOT_FOUND, CONFLICT),
            scope="quotes:write",
        )
    )
    async def price_quote(self, call: Call) -> Response:
        code, dry_run = code_of(call), call.query(DryRun).is_wanted

        async def work(tx: Transaction, body: QuotePrice, now: datetime) -> ResellerQuote:
            await give_price(tx, code, body, now, self.lifetime, self.secret())
            return await _read(tx, code, now)

        return await self.desk.change(call, QuotePrice, work, dry_run=dry_run)

    @endpoint(
        Operation(
            method="POST",
            path="/api/quote/{code}/decline",
            name="declineQuote",
            tag="Quotes",
            summary="Decline a quote",
            description="The customer gets an e-mail with the reason.",
            path_parameters=(CODE,),
            request_headers=POST_HEADERS,
            body=Body(Declination, {"Declination": examples.DECLINATION}),
            success=_QUOTE,
            errors=(NOT_FOUND, CONFLICT),
            scope="quotes:write",
        )
    )
    async def decline_quote(self, call: Call) -> Response:
        code = code_of(call)

        async def work(tx: Transaction, body: Declination, now: datetime) -> ResellerQuote:
            await decline_quote(tx, code, body.reason, now)
            return await _read(tx, code, now)

        return await self.desk.change(call, Declination, work)


def code_of(call: Call) -> str:
    """Return the confirmation code in a path."""
    return call.path_text("code", "quote").lower()


async def _read(tx: Transaction, code: str, now: datetime) -> ResellerQuote:
    quote = await the_quote(tx, code)
    lines = await lines_of_order(tx, quote.id)
    return _shown(quote, lines, await purchase_costs(tx, {line.product_id for line in lines}), now)


def _shown(quote: AnyOrder, lines: Sequence[OrderLine], costs: Mapping[int, Decimal], now: datetime) -> ResellerQuote:
    pricing = pricing_of(quote)
    options = {option.id: option_in_utc(quote, option) for option in quote.shipping_options}
    chosen = None if quote.shipping_method is None else options[quote.shipping_method]
    return ResellerQuote(
        **structs.asdict(created_order(quote, lines))
        | {"shipping_method": chosen, "shipping_options": list(options.values())},
        status=quote_status(quote, now),
        customer_id=quote.customer_id,
        created_at=quote.created_at,
        priced_at=None if pricing is None else pricing.priced_at,
        expires_at=None if pricing is None else pricing.expires_at,
        note=None if pricing is None else pricing.quote_note,
        margin=margin_of(lines, costs),
    )
