"""The rules of ordering (specification, section 3; decisions, orders): lines, tax, references. Amounts are pounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal, Protocol

from tradecounter.kit.money import NOTHING, percentage

AWAITING_DISPATCH = "Awaiting dispatch"
BACK_ORDERED = "Back-ordered"
PART_DISPATCHED = "Part dispatched"
DISPATCHED = "Dispatched"
INVOICED = "Invoiced"
COMPLETED = "Completed"
CANCELLED = "Cancelled"

QUOTE_WAITING = "Waiting"
QUOTE_PRICED = "Priced"
QUOTE_EXPIRED = "Expired"
QUOTE_DECLINED = "Declined"
QUOTE_ORDERED = "Ordered"

STATUSES = (AWAITING_DISPATCH, BACK_ORDERED, PART_DISPATCHED, DISPATCHED, INVOICED, COMPLETED, CANCELLED)

VAT_AREA = {"GB", "IM"}


@dataclass(frozen=True, slots=True)
class Component:
    """What a line of a bundle holds of one product, in all its bundles together; it has no price of its own."""

    product_id: int
    sku: str
    name: str
    quantity: int


@dataclass(frozen=True, slots=True)
class PricedLine:
    """A line with its price; `cost_net` and `cost_tax` are the line's totals. A bundle has components."""

    product_id: int
    sku: str
    name: str
    quantity: int
    unit_cost: Decimal
    cost_net: Decimal
    cost_tax: Decimal
    components: Sequence[Component] = ()


def tax_rate(country: str, vat_rate: Decimal) -> Decimal:
    """Return the VAT in per cent on deliveries to a country."""
    return vat_rate if country in VAT_AREA else NOTHING


def price_line(
    product_id: int,
    sku: str,
    name: str,
    quantity: int,
    unit_cost: Decimal,
    rate: Decimal,
    components: Sequence[Component] = (),
) -> PricedLine:
    """Return a line with its totals; tax is rounded per line."""
    cost_net = unit_cost * quantity
    return PricedLine(product_id, sku, name, quantity, unit_cost, cost_net, percentage(cost_net, rate), components)


def total_net(lines: Sequence[PricedLine]) -> Decimal:
    """Return the net cost of all lines."""
    return sum((line.cost_net for line in lines), NOTHING)


def total_tax(lines: Sequence[PricedLine]) -> Decimal:
    """Return the tax on all lines."""
    return sum((line.cost_tax for line in lines), NOTHING)


def order_reference(number: int, packing: Literal["own", "plain"], own_prefix: str, plain_prefix: str) -> str:
    """Return an order's reference; its prefix tells how the order is packed."""
    return f"{own_prefix if packing == 'own' else plain_prefix}{number}"


class QuoteDates(Protocol):
    """What decides on the status of a quote."""

    @property
    def state(self) -> Literal["pending", "expired", "confirmed", "cancelled"]:
        """The state of the order that the quote is."""
        ...

    @property
    def number(self) -> int | None:
        """The order's number, once the quote is confirmed."""
        ...

    @property
    def expires_at(self) -> datetime | None:
        """The last moment at which it can be confirmed; None until it is priced."""
        ...


def quote_status(quote: QuoteDates, now: datetime) -> str:
    """Return the label of what has become of a quote at a moment."""
    if quote.number is not None:
        return QUOTE_ORDERED
    if quote.state == "cancelled":
        return QUOTE_DECLINED
    if quote.expires_at is None:
        return QUOTE_WAITING
    return QUOTE_EXPIRED if quote.state == "expired" or now > quote.expires_at else QUOTE_PRICED


def share_out(taken: int, quantities: Sequence[int]) -> list[int]:
    """Share allocated units of a product among its lines, in order."""
    shares = []
    for quantity in quantities:
        share = min(taken, quantity)
        shares.append(share)
        taken -= share
    return shares
