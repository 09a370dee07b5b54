"""The products and shipping options that a customer is offered before an order is confirmed."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.kit.clock import uk_date
from tradecounter.kit.money import from_pence
from tradecounter.orders.create.draft import cover_of, unknown_skus
from tradecounter.orders.lines import OrderLine, products_of
from tradecounter.orders.shipping_options import choose_shipping
from tradecounter.orders.states import NumberedOrder, OrderBase
from tradecounter.stock.rules import Delivery, is_late
from tradecounter.storefront.find_in_view import ProductListParameters, find_products
from tradecounter.storefront.storefront import RefreshableViews
from tradecounter.storefront.view import CustomerView

_MOST_FOUND = 5
LONGEST_SEARCH = 500


class OfferedLine(Struct, frozen=True):
    """A product at a customer's price for a quantity; `breaks` are units and net unit costs of its price breaks.

    `stock` is the status of the stock that the customer may see; `is_delivery_shown` is whether it may see the
    delivery.
    """

    sku: str
    name: str
    quantity: int
    unit_cost: Decimal
    breaks: tuple[tuple[int, Decimal], ...]
    available: int
    stock: str
    delivery: Delivery | None
    is_delivery_shown: bool

    @property
    def cost_net(self) -> Decimal:
        """The net cost of all units."""
        return self.unit_cost * self.quantity

    @property
    def back_ordered(self) -> int:
        """The units that are not in stock."""
        return max(self.quantity - self.available, 0)


def offered_lines(view: CustomerView, wanted: Iterable[tuple[int, str, int]], now: datetime) -> dict[int, OfferedLine]:
    """Return the products that a customer can buy; `wanted` are numbers of lines, SKUs and quantities."""
    lines = {}
    for number, sku, quantity in wanted:
        row_and_costs = view.find(sku)
        if row_and_costs is None:
            continue
        row, costs = row_and_costs
        product = view.product(row)
        due = (each for each in view.stock.deliveries.get(row, ()) if not is_late(each, uk_date(now)))
        lines[number] = OfferedLine(
            sku=product.sku,
            name=product.name,
            quantity=quantity,
            unit_cost=from_pence(costs.at(quantity)),
            breaks=tuple((units, from_pence(pence)) for units, pence in costs.breaks),
            available=view.available(row),
            stock=view.stock_status(row),
            delivery=next(due, None),
            is_delivery_shown=view.trade_account,
        )
    return lines


def found_lines(view: CustomerView, text: str, quantity: int, now: datetime) -> list[OfferedLine]:
    """Return the first products that words match, at the customer's price for a quantity."""
    rows = find_products(view, ProductListParameters(query=text[:LONGEST_SEARCH]))[:_MOST_FOUND]
    skus = [view.product(int(row)).sku for row in rows]
    return list(offered_lines(view, [(number, sku, quantity) for number, sku in enumerate(skus)], now).values())


def unknown_products(view: CustomerView, wanted: Iterable[tuple[int, str, int]]) -> dict[int, str]:
    """Return the errors of SKUs that a customer cannot buy, by the numbers of their lines."""
    skus = [(number, sku) for number, sku, _ in wanted if view.find(sku) is None]
    errors = unknown_skus(view, skus)
    return {number: error.message for (number, _), error in zip(skus, errors, strict=True)}


Shown = TypeVar("Shown", bound=OrderBase)


async def dated_now(order: Shown, lines: Sequence[OrderLine], views: RefreshableViews, now: datetime) -> Shown:
    """Return an order with the dates that its options would have if it were confirmed now.

    The stored dates are those of its creation, which may be days ago. A confirmed order stays unchanged.
    """
    if isinstance(order, NumberedOrder) or not order.shipping_options:
        return order
    view = await views.showing(order.customer_id, products_of(lines))
    rows = view.snapshot.row_of_id
    needed = cover_of(view, ((rows[line.product_id], line.quantity) for line in lines), now)
    return replace(order, shipping_options=[option.dated(now, needed) for option in order.shipping_options])


def chosen_option(order: OrderBase, default: int | None) -> Sequence[int]:
    """Return the id of the option that is selected first: the order's own, the account's default, or the cheapest."""
    options = order.shipping_options
    chosen = choose_shipping(options, order.shipping_method, default)
    if chosen is None and options:
        chosen = min(options, key=lambda option: option.cost_net)
    return () if chosen is None else (chosen.id,)
