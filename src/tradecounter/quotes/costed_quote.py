"""Reads quotes with the purchase costs of their products, against which support weighs prices."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.lines import lines_of
from tradecounter.orders.states import AnyOrder
from tradecounter.products.queries.by_sku import purchase_costs
from tradecounter.quotes.margin import Margin, margin_of
from tradecounter.quotes.queries.quotes import fetch_quote


class CostedQuote(Struct, frozen=True):
    """A quote with its lines; `costs` has what a unit of each product costs the reseller, where that is known."""

    quote: AnyOrder
    lines: Sequence[OrderLine]
    costs: Mapping[int, Decimal]

    @property
    def margin(self) -> Margin | None:
        """The margin of all lines; None when a cost is not known."""
        return margin_of(self.lines, self.costs)


async def with_costs(tx: Transaction, quotes: Sequence[AnyOrder]) -> list[CostedQuote]:
    """Return quotes with their lines and costs."""
    lines = await lines_of(tx, [quote.id for quote in quotes])
    costs = await purchase_costs(tx, {line.product_id for found in lines.values() for line in found})
    return [CostedQuote(quote, lines[quote.id], costs) for quote in quotes]


async def fetch_costed_quote(tx: Transaction, code: str) -> CostedQuote:
    """Return a quote by its confirmation code, in any state. Raises DomainError (not found)."""
    [found] = await with_costs(tx, [await fetch_quote(tx, code)])
    return found
