"""The lines of a new order with the customer's prices and the stock, and their sums."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.kit.money import NOTHING
from tradecounter.orders.lines import line_tax
from tradecounter.orders.offers import OfferedLine, offered_lines
from tradecounter.orders.pages.both.form_lines import Line
from tradecounter.orders.rules import VAT_AREA, tax_rate
from tradecounter.storefront.view import CustomerView


class PricedLine(Struct, frozen=True):
    """A line of the form; without an offer, the customer cannot buy the product."""

    line: Line
    offer: OfferedLine | None

    @property
    def net(self) -> Decimal:
        """The net price of the line."""
        return NOTHING if self.offer is None else self.offer.net


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


def priced(view: CustomerView, lines: Sequence[Line], now: datetime) -> list[PricedLine]:
    """Return lines with their prices."""
    offers = offered_lines(view, [(number, line.sku, line.units) for number, line in enumerate(lines)], now)
    return [PricedLine(line, offers.get(number)) for number, line in enumerate(lines)]
