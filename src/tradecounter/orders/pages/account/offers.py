"""Products as the form of a new order shows them: with the customer's prices and the stock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from tradecounter.kit.money import NOTHING
from tradecounter.orders.create.offered_lines import OfferedLine, offered_lines
from tradecounter.orders.pages.account.form_lines import Line
from tradecounter.storefront.parameters import ProductListParameters
from tradecounter.storefront.query import find_products
from tradecounter.storefront.view import CustomerView

_MOST_FOUND = 12
_LONGEST_SEARCH = 500
_QUICK_LINES = 3
_MOST_SUGGESTED = 5


@dataclass(frozen=True, slots=True)
class Offer:
    """A product at the customer's prices, with its stock as the customer may see it."""

    line: OfferedLine
    stock: str
    expected_on: datetime | None


@dataclass(frozen=True, slots=True)
class PricedLine:
    """A line of the form; without an offer, the customer cannot buy the product."""

    line: Line
    offer: Offer | None

    @property
    def net(self) -> Decimal:
        """The net price of the line."""
        return NOTHING if self.offer is None else self.offer.line.cost_net


@dataclass(frozen=True, slots=True)
class Search:
    """The products that match a search: the first ones, how many there are, and how its words were read."""

    text: str
    offers: Sequence[Offer]
    total: int
    note: str


@dataclass(frozen=True, slots=True)
class QuickRow:
    """A quick line: the product that its SKU names, or what its words find."""

    number: int
    sku: str = ""
    quantity: str = ""
    offer: Offer | None = None
    found: Sequence[Offer] = ()


def quick_entry(view: CustomerView, typed: Mapping[int, Line], now: datetime) -> list[QuickRow]:
    """Return the rows of the quick lines, with what is typed."""
    rows = []
    for number in range(max(_QUICK_LINES, *(each + 1 for each in typed)) if typed else _QUICK_LINES):
        line = typed.get(number, Line("", ""))
        offer = _offers(view, [(line.sku, line.units or 1)], now).get(0) if line.sku else None
        matches = None if offer or not line.sku else search(view, line.sku, now)
        rows.append(
            QuickRow(number, line.sku, line.quantity, offer, matches.offers[:_MOST_SUGGESTED] if matches else ())
        )
    return rows


def priced(view: CustomerView, lines: Sequence[Line], now: datetime) -> list[PricedLine]:
    """Return lines with their prices."""
    offers = _offers(view, [(line.sku, line.units) for line in lines], now)
    return [PricedLine(line, offers.get(number)) for number, line in enumerate(lines)]


def search(view: CustomerView, text: str, now: datetime) -> Search | None:
    """Return the products that the words of a text find; None without a text."""
    if not text:
        return None
    rows = find_products(view, ProductListParameters(query=text[:_LONGEST_SEARCH]))
    found = [(view.product(int(row)).sku, 1) for row in rows[:_MOST_FOUND]]
    return Search(text, list(_offers(view, found, now).values()), len(rows), rows.note)


def _offers(view: CustomerView, wanted: Sequence[tuple[str, int]], now: datetime) -> dict[int, Offer]:
    numbered = [(number, sku, units) for number, (sku, units) in enumerate(wanted)]
    return {number: _offer(view, line) for number, line in offered_lines(view, numbered, now).items()}


def _offer(view: CustomerView, line: OfferedLine) -> Offer:
    row = view.snapshot.row(line.sku)
    due = () if row is None else view.shown_deliveries.get(row, ())
    expected = line.delivery.expected_on if due and line.delivery is not None and not line.available else None
    return Offer(line, "" if row is None else view.stock_status(row), expected)
