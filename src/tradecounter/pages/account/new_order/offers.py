"""Products as the form of a new order shows them: with the customer's prices and the stock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tradecounter.kit.money import NOTHING, from_pence
from tradecounter.pages.account.new_order.basket import Line
from tradecounter.pricing.rules import FIVE, TEN
from tradecounter.stock.rules import status
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.query import find_products
from tradecounter.storefront.view import CustomerView

MOST_FOUND = 12


@dataclass(frozen=True, slots=True)
class Offer:
    """A product at the customer's prices. `breaks` are pairs of units and the unit price from so many on."""

    sku: str
    name: str
    manufacturer: str
    available: int
    stock: str
    expected_on: datetime | None
    breaks: Sequence[tuple[int, Decimal]]

    def unit_cost(self, units: int) -> Decimal:
        """Return the net unit price of a line of some units."""
        return [cost for least, cost in self.breaks if least == 1 or least <= units][-1]


@dataclass(frozen=True, slots=True)
class PricedLine:
    """A line of the form; without an offer, the customer cannot buy the product."""

    line: Line
    offer: Offer | None

    @property
    def unit_cost(self) -> Decimal:
        """The net unit price at this quantity."""
        return NOTHING if self.offer is None else self.offer.unit_cost(self.line.units)

    @property
    def net(self) -> Decimal:
        """The net price of the line."""
        return self.unit_cost * self.line.units

    @property
    def short(self) -> int:
        """Units that are not in stock now."""
        return 0 if self.offer is None else max(self.line.units - self.offer.available, 0)


@dataclass(frozen=True, slots=True)
class Search:
    """The products that match a search: the first ones, and how many there are."""

    text: str
    offers: Sequence[Offer]
    total: int


def priced(view: CustomerView, lines: Sequence[Line]) -> list[PricedLine]:
    """Return lines with their prices."""
    found = [(line, view.find(line.sku)) for line in lines]
    return [PricedLine(line, None if product is None else _offer(view, product[0])) for line, product in found]


def search(view: CustomerView, text: str) -> Search | None:
    """Return the products that the words of a text find; None without a text."""
    if not text:
        return None
    rows = find_products(view, ProductListParameters(query=text[:500]))
    return Search(text, [_offer(view, int(row)) for row in rows[:MOST_FOUND]], len(rows))


def _offer(view: CustomerView, row: int) -> Offer:
    product, costs = view.product(row), view.unit_costs(row)
    if costs is None:
        raise LookupError(f"no price for {product.sku}")
    deliveries = view.shown_deliveries.get(row, ())
    breaks = [(1, costs.single)]
    for least, cost in ((FIVE, costs.five_plus), (TEN, costs.ten_plus)):
        if cost != breaks[-1][1]:
            breaks.append((least, cost))
    available = view.available(row)
    return Offer(
        product.sku,
        product.name,
        product.manufacturer,
        available,
        status(available, view.low_stock, delivery_shown=bool(deliveries)),
        deliveries[0].expected_on if deliveries and not available else None,
        [(least, from_pence(cost)) for least, cost in breaks],
    )
