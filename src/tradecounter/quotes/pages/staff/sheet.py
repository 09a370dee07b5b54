"""A quote as its page shows it: lines with list price, cost and margin, and its totals."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, FieldError
from tradecounter.kit.money import NOTHING, rounded
from tradecounter.kit.text import fold
from tradecounter.orders.lines import OrderLine, total_costs
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
from tradecounter.quotes.margin import Margin, fetch_costed_quote, margin_of, require_sound_prices


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
        off = rounded((before - self.line.unit_cost) * 100 / before)
        return off.to_integral_value() if off == off.to_integral_value() else off


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
        """The weight of all goods in kilograms."""
        return f"{self.quote.shipping_weight.normalize():f}"

    @property
    def list_net(self) -> Decimal:
        """The goods at the prices of the request."""
        return sum((line.line.cost_at_request * line.line.quantity for line in self.lines), NOTHING)

    @property
    def costs(self) -> tuple[Decimal, Decimal]:
        """Net and VAT of the goods."""
        return total_costs([line.line for line in self.lines])

    @property
    def off(self) -> Decimal:
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
    found = await fetch_costed_quote(tx, code)
    quote, lines, costs = found.quote, found.lines, found.costs
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
    return QuoteSheet(quote, account, quote_status(quote, now), shown, found.margin, guard)
