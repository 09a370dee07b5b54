"""One quote with list prices, costs and margin, which staff price, decline, or confirm for the customer."""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.audit.queries import entries_of
from tradecounter.credit.queries import fetch_credit_room
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.submitted_forms import read_submitted
from tradecounter.edge.pages.operation import form, page
from tradecounter.edge.pages.page_desk import PREVIEW, PageDesk
from tradecounter.edge.pages.step import step
from tradecounter.edge.rest.call import Call
from tradecounter.identity.installation_secret import secret_key
from tradecounter.kit.errors import DomainError, FieldError, Kind, invalid, named_by
from tradecounter.kit.money import NOTHING, rounded
from tradecounter.kit.numbers import Percent, Pounds, UnreadableNumberError, in_kilograms, read_percent, read_pounds
from tradecounter.kit.text import fold
from tradecounter.orders.lines import OrderLine, total_costs
from tradecounter.orders.offers import chosen_option, dated_now
from tradecounter.orders.operations.staff import SELLERS
from tradecounter.orders.queries.orders import lines_of_order
from tradecounter.orders.rules import QUOTE_PRICED, QUOTE_WAITING
from tradecounter.orders.shipping_options import ShippingOption
from tradecounter.orders.states import (
    AnyOrder,
    NumberedOrder,
    PricedQuote,
    Pricing,
    UnpricedQuote,
    pricing_of,
    quote_status,
)
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.confirm_form import ConfirmForm, confirmation
from tradecounter.parts.sentences import told_of
from tradecounter.quotes.handle_quotes import confirm_quote, decline_quote
from tradecounter.quotes.operations.staff import code_of
from tradecounter.quotes.price_quote import (
    check_discount,
    discounted_cost,
    fetch_costed_quote,
    margin_of,
    price_quote,
    require_sound_prices,
)
from tradecounter.quotes.queries import fetch_quote
from tradecounter.quotes.wire import Declination, Margin, QuotedItem, QuotedShipping, QuotePrice
from tradecounter.shipping.queries import read_methods
from tradecounter.shipping.rules import ShippingMethod


class SheetLine(Struct, frozen=True):
    """A line of a quote; `is_first` of its SKU, whose price is that of all its lines."""

    line: OrderLine
    cost: Decimal | None
    margin: Margin | None
    is_first: bool

    @property
    def off(self) -> Decimal | None:
        """Per cent off the price at the request; None without a difference."""
        before = self.line.cost_at_request
        if not before or before == self.line.unit_cost:
            return None
        return rounded((before - self.line.unit_cost) * 100 / before)


class QuoteSheet(Struct, frozen=True):
    """A quote with all that support needs to price it; `guard` says which prices need `force`."""

    quote: AnyOrder
    account: Account
    status: str
    lines: Sequence[SheetLine]
    margin: Margin | None
    guard: Sequence[FieldError]

    @property
    def code(self) -> str:
        """The confirmation code."""
        return self.quote.confirmation_code

    @property
    def path(self) -> str:
        """The path of the quote's page."""
        return f"/quote/{self.code}"

    @property
    def pricing(self) -> Pricing | None:
        """Support's price, if there is one."""
        return pricing_of(self.quote)

    @property
    def order(self) -> NumberedOrder | None:
        """The order that the quote has become."""
        return self.quote if isinstance(self.quote, NumberedOrder) else None

    @property
    def is_open(self) -> bool:
        """Whether the quote can be priced."""
        return isinstance(self.quote, UnpricedQuote | PricedQuote) and self.status in {QUOTE_WAITING, QUOTE_PRICED}

    @property
    def options(self) -> Sequence[ShippingOption]:
        """The ways to ship."""
        return self.quote.shipping_options

    @property
    def weight(self) -> str:
        """The weight of all goods."""
        return in_kilograms(self.quote.shipping_weight)

    @property
    def list_net(self) -> Decimal:
        """The goods at the prices of the request."""
        return sum((line.line.cost_at_request * line.line.quantity for line in self.lines), NOTHING)

    @property
    def costs(self) -> tuple[Decimal, Decimal]:
        """Net and VAT of the goods."""
        return total_costs([line.line for line in self.lines])

    @property
    def saved(self) -> Decimal:
        """What the customer saves, net."""
        return self.list_net - self.costs[0]

    @property
    def cheapest(self) -> ShippingOption | None:
        """The cheapest way to ship."""
        return min(self.options, key=lambda option: option.cost_net, default=None)

    @property
    def gross(self) -> Decimal:
        """Goods and the cheapest carriage, with VAT."""
        carriage = NOTHING
        if self.cheapest is not None:
            carriage = self.cheapest.cost_net + self.cheapest.tax(self.quote.tax_rate)
        return sum(self.costs, NOTHING) + carriage


async def quote_sheet(tx: Transaction, code: str, now: datetime) -> QuoteSheet:
    """Return a quote by its confirmation code, in any state. Raises DomainError (not found)."""
    costed = await fetch_costed_quote(tx, code)
    quote, lines, costs = costed.quote, costed.lines, costed.costs
    seen: set[str] = set()
    shown = []
    for line in lines:
        shown.append(SheetLine(line, costs.get(line.product_id), margin_of([line], costs), fold(line.sku) not in seen))
        seen.add(fold(line.sku))
    try:
        require_sound_prices(lines, costs)
        guard: Sequence[FieldError] = ()
    except DomainError as error:
        guard = error.field_errors
    account = await fetch_account(tx, quote.customer_id)
    status = quote_status(quote, now)
    return QuoteSheet(quote, account, status=status, lines=shown, margin=costed.margin, guard=guard)


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


class ConfirmQuoteForm(ConfirmForm):
    """How a quote is sent as an order, and which of its prices the page has shown."""

    pricing: int | None = None


class QuotePages(Struct, frozen=True):
    """The page of one quote, which is also the form that prices it, and the forms that end it."""

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
        is_preview = submitted.one(PREVIEW) != ""

        async def priced(tx: Transaction, body: PriceForm, now: datetime) -> QuoteSheet:
            return await self._priced(tx, code_of(call), body, now, force=body.force or is_preview)

        if is_preview:
            sheet, filled = await self.desk.preview(call, PriceForm, priced, submitted)
            return await self._show(call, filled, sheet)
        return await self.desk.change(
            call,
            PriceForm,
            priced,
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

    async def _sheet(self, call: Call, filled: Filled, now: datetime) -> dict[str, Any]:
        async with self.desk.reading() as tx:
            sheet = await quote_sheet(tx, code_of(call), now)
            room = await fetch_credit_room(tx, sheet.account.id)
        if not sheet.is_open and not filled.message:
            raise DomainError(Kind.CONFLICT, f"the quote is {sheet.status.lower()}")
        lines = [shown.line for shown in sheet.lines]
        return {
            "sheet": replace(sheet, quote=await dated_now(sheet.quote, lines, self.parts.views, now)),
            "room": room,
            "chosen": chosen_option(sheet.quote, sheet.account.shipping_method),
            "is_priced": isinstance(sheet.quote, PricedQuote),
        }

    @step(
        "/quote/{code}/decline",
        "Decline a quote",
        template="quotes/decline.html",
        values=_sheet,
        to="/quote",
        done="The quote is declined. The customer gets the reason by e-mail.",
        scope="quotes:write",
    )
    async def decline(self, tx: Transaction, call: Call, body: Declination, now: datetime) -> None:
        await decline_quote(tx, code_of(call), body.reason, now)

    @step(
        "/quote/{code}/confirm",
        "Confirm a quote",
        template="quotes/confirm.html",
        values=_sheet,
        to=lambda order: f"/order/{order.name}",
        done=lambda order: f"The quote is now order {order.name}. The customer gets an e-mail.",
        scope="quotes:write",
        roles=SELLERS,
    )
    async def confirm(self, tx: Transaction, call: Call, body: ConfirmQuoteForm, now: datetime) -> AnyOrder:
        request, policy = confirmation(call, body), self.parts.contexts.policy
        return await confirm_quote(tx, code_of(call), request, policy, now, pricing=body.pricing)


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
        raise invalid("method", "is required with a cost of its own")
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
    return [(method.id, f"{method.provider} {method.description}") for method in methods if method.id not in offered]
