"""The lines of a new order with the customer's prices and the stock, and the search for products."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.kit.money import NOTHING
from tradecounter.orders.lines import line_tax
from tradecounter.orders.offers import LONGEST_SEARCH, OfferedLine, offered_lines
from tradecounter.orders.pages.both.form_lines import Line
from tradecounter.orders.rules import VAT_AREA, tax_rate
from tradecounter.storefront.find_in_view import ProductListParameters, find_products
from tradecounter.storefront.shown_product import ShownProduct, shown_skus
from tradecounter.storefront.view import CustomerView

_MOST_SEARCH_RESULTS = 12


class Offer(Struct, frozen=True):
    """A product at the customer's prices, with its stock as the customer may see it."""

    line: OfferedLine
    product: ShownProduct
    expected_on: datetime | None


class PricedLine(Struct, frozen=True):
    """A line of the form; without an offer, the customer cannot buy the product."""

    line: Line
    offer: Offer | None

    @property
    def net(self) -> Decimal:
        """The net price of the line."""
        return NOTHING if self.offer is None else self.offer.line.cost_net


class PricedLines(Struct, frozen=True):
    """The lines of the form for a delivery to a country; `vat_rate` is the reseller's, in per cent."""

    lines: Sequence[PricedLine]
    country: str
    vat_rate: Decimal

    @property
    def is_export(self) -> bool:
        """Whether the delivery has no VAT."""
        return self.country not in VAT_AREA

    @property
    def net(self) -> Decimal:
        """The net price of all lines."""
        return sum((line.net for line in self.lines), NOTHING)

    @property
    def gross(self) -> Decimal:
        """The price of all lines with VAT, without shipping."""
        rate = tax_rate(self.country, self.vat_rate)
        return self.net + sum((line_tax(line.net, rate) for line in self.lines), NOTHING)


class Search(Struct, frozen=True):
    """The products that match a search: the first ones, how many there are, and how the words were read."""

    text: str
    offers: Sequence[Offer]
    total: int
    note: str


def priced(view: CustomerView, lines: Sequence[Line], now: datetime, *, sees_deliveries: bool) -> list[PricedLine]:
    """Return lines with their prices. With `sees_deliveries`, as for staff, they have every product's deliveries."""
    offers = _offers(view, [(line.sku, line.units) for line in lines], now, sees_deliveries=sees_deliveries)
    return [PricedLine(line, offers.get(number)) for number, line in enumerate(lines)]


def search(view: CustomerView, text: str, now: datetime, *, sees_deliveries: bool) -> Search | None:
    """Return the products that match the words of a text; None without a text."""
    if not text:
        return None
    rows = find_products(view, ProductListParameters(query=text[:LONGEST_SEARCH]))
    lines = [(view.product(int(row)).sku, 1) for row in rows[:_MOST_SEARCH_RESULTS]]
    offers = _offers(view, lines, now, sees_deliveries=sees_deliveries)
    return Search(text, list(offers.values()), len(rows), rows.note)


def _offers(
    view: CustomerView, wanted: Sequence[tuple[str, int]], now: datetime, *, sees_deliveries: bool
) -> dict[int, Offer]:
    numbered = [(number, sku, units) for number, (sku, units) in enumerate(wanted)]
    lines = offered_lines(view, numbered, now)
    return {number: _offer(view, line, sees_deliveries=sees_deliveries) for number, line in lines.items()}


def _offer(view: CustomerView, line: OfferedLine, *, sees_deliveries: bool) -> Offer:
    [product] = shown_skus(view, [line.sku])
    due = sees_deliveries or line.is_delivery_shown
    expected = line.delivery.expected_on if due and line.delivery is not None and not line.available else None
    return Offer(line, product, expected)
