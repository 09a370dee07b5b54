"""Quotes with the purchase costs of their products: the margin, and the guard against prices that cost money.

Amounts are net pounds.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import FieldError, invalid_fields
from tradecounter.kit.money import NOTHING, in_pounds, rounded
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.queries.lines import lines_of
from tradecounter.orders.states import AnyOrder
from tradecounter.prices.guards import suspicion
from tradecounter.products.queries.by_sku import purchase_costs
from tradecounter.quotes.queries.quotes import fetch_quote


class Margin(Struct, frozen=True):
    """What remains of the goods' net price after what the reseller pays for them; `percent` is of the net price."""

    net: Decimal
    purchase: Decimal
    margin: Decimal
    percent: Decimal | None


def margin_of(lines: Sequence[OrderLine], costs: Mapping[int, Decimal]) -> Margin | None:
    """Return the margin of all lines, or None when the purchase cost of a product is unknown."""
    if any(line.product_id not in costs for line in lines):
        return None
    net = sum((line.cost_net for line in lines), NOTHING)
    purchase = sum((costs[line.product_id] * line.quantity for line in lines), NOTHING)
    margin = net - purchase
    return Margin(net, purchase, margin, rounded(margin * 100 / net) if net else None)


def require_sound_prices(lines: Sequence[OrderLine], costs: Mapping[int, Decimal]) -> None:
    """Raise DomainError (invalid) when a lowered price is below cost, or less than half of that at the request."""
    if errors := list(_unsound(lines, costs)):
        raise invalid_fields(errors)


def _unsound(lines: Sequence[OrderLine], costs: Mapping[int, Decimal]) -> Iterator[FieldError]:
    for line in lines:
        why = suspicion(line.unit_cost, line.cost_at_request, costs.get(line.product_id))
        if why is not None:
            yield FieldError(line.sku, f"{in_pounds(line.unit_cost)} {why}; use force to allow it")


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
