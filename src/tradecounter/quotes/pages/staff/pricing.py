"""`/quote/{code}`: one quote, and its price with a live total."""

from collections.abc import Callable
from datetime import datetime
from decimal import Decimal

from msgspec import Struct
from starlette.responses import Response

from tradecounter.audit.queries import entries_of
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.forms import Filled, read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PREVIEW, PageDesk
from tradecounter.edge.rest.call import Call
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.errors import invalid, named_by
from tradecounter.kit.number_types import Percent, Pounds
from tradecounter.kit.numbers import UnreadableNumberError, read_percent, read_pounds
from tradecounter.kit.text import fold
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import told_of
from tradecounter.quotes.operations.staff import code_of
from tradecounter.quotes.pages.staff.sheet import QuoteSheet, quote_sheet
from tradecounter.quotes.price_quote import check_discount, discounted_cost, price_quote
from tradecounter.quotes.queries.quotes import fetch_quote
from tradecounter.quotes.requests import QuotedItem, QuotedShipping, QuotePrice
from tradecounter.shipping.queries import read_methods
from tradecounter.shipping.rules import ShippingMethod


class PricedLine(Struct):
    """A SKU in the form; `price` is an amount, or per cent off such as `10%`."""

    sku: str
    price: str | None = None


class Carriage(Struct):
    """A way to ship in the form."""

    id: int
    cost_net: Pounds | None = None


class PriceForm(Struct):
    """The price of a quote as typed."""

    items: list[PricedLine] = []
    shipping: list[Carriage] = []
    discount: Percent | None = None
    method: int | None = None
    method_cost: Pounds | None = None
    note: str | None = None
    force: bool = False


class QuotePages(Struct, frozen=True):
    """The page of one quote, which is also the form that prices it."""

    desk: PageDesk
    parts: OfficeParts

    @page("/quote/{code}", "One quote", scope="quotes:read")
    async def show_quote(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @page("/quote/{code}/price", "Price a quote", scope="quotes:write")
    async def show_price(self, call: Call) -> Response:
        return await self._show(call, Filled())

    @form("/quote/{code}/price", "Price a quote", scope="quotes:write")
    async def price(self, call: Call) -> Response:
        submitted = await read_submitted(call)

        async def price(tx: Transaction, body: PriceForm, now: datetime) -> QuoteSheet:
            return await self._priced(tx, code_of(call), body, now, force=body.force)

        async def look(tx: Transaction, body: PriceForm, now: datetime) -> QuoteSheet:
            return await self._priced(tx, code_of(call), body, now, force=True)

        if submitted.one(PREVIEW):
            sheet, filled = await self.desk.preview(call, PriceForm, look, submitted)
            return await self._show(call, filled, sheet)
        return await self.desk.change(
            call,
            PriceForm,
            price,
            again=lambda filled: self._show(call, filled),
            to="/quote",
            done=lambda sheet: f"The price is sent to {sheet.account.name}.",
            submitted=submitted,
        )

    async def _priced(self, tx: Transaction, code: str, body: PriceForm, now: datetime, *, force: bool) -> QuoteSheet:
        lines = await lines_of_order(tx, (await fetch_quote(tx, code)).id)
        price, name = _quote_price(body, lines, force=force)
        settings = self.parts.settings
        with named_by(name):
            await price_quote(tx, code, price, now, settings.quote_lifetime, secret_key(settings))
        return await quote_sheet(tx, code, now)

    async def _show(self, call: Call, filled: Filled, then: QuoteSheet | None = None) -> Response:
        async with self.desk.reading() as tx:
            sheet = await quote_sheet(tx, code_of(call), self.desk.clock.now())
            methods = await read_methods(tx) if sheet.is_open else []
            history = await entries_of(tx, [f"quote/{sheet.code}"])
        can_price = sheet.is_open and self.desk.view(call).may("/quote/{code}/price")
        return self.desk.show(
            call,
            "quotes/price.html" if can_price else "quotes/quote.html",
            form=filled,
            sheet=sheet,
            then=then or sheet,
            is_preview=then is not None,
            methods=_further(methods, sheet),
            history=told_of(history),
            lifetime=self.parts.settings.quote_lifetime.days,
        )


def _quote_price(body: PriceForm, lines: list[OrderLine], *, force: bool) -> tuple[QuotePrice, Callable[[str], str]]:
    """Return the price as the use case takes it, and how the form names its places. Raises DomainError (invalid)."""
    by_sku = {fold(line.sku): line for line in reversed(lines)}
    items: list[QuotedItem] = []
    places: dict[str, str] = {}
    for number, item in enumerate(body.items):
        line = by_sku.get(fold(item.sku))
        if item.price is not None and line is not None:
            places[f"items[{len(items)}]"] = place = f"items[{number}].price"
            items.append(QuotedItem(item.sku, _unit_cost(place, item.price, line)))
    shipping: list[QuotedShipping] = []
    for number, each in enumerate(body.shipping):
        if each.cost_net is not None:
            places[f"shipping[{len(shipping)}]"] = f"shipping[{number}].cost_net"
            shipping.append(QuotedShipping(each.id, each.cost_net))
    if body.method is not None:
        if body.method_cost is None:
            raise invalid("method_cost", "is required with another way to ship")
        places[f"shipping[{len(shipping)}]"] = "method_cost"
        shipping.append(QuotedShipping(body.method, body.method_cost))
    elif body.method_cost is not None:
        raise invalid("method", "choose the way to ship that has this cost")
    price = QuotePrice(items=items, shipping=shipping, note=body.note, discount=body.discount, force=force)
    return price, lambda place: places.get(place.partition(".")[0], place)


def _unit_cost(field: str, text: str, line: OrderLine) -> Decimal:
    try:
        if not text.endswith("%"):
            return read_pounds(text)
        discount = read_percent(text)
    except UnreadableNumberError as error:
        raise invalid(field, str(error)) from error
    check_discount(field, discount)
    return discounted_cost(line, discount)


def _further(methods: list[ShippingMethod], sheet: QuoteSheet) -> list[tuple[int, str]]:
    offered = {option.id for option in sheet.options}
    return [(each.id, f"{each.provider} {each.description}") for each in methods if each.id not in offered]
