"""The products and shipping options that a customer is offered before an order is confirmed."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.kit.clock import uk_date
from tradecounter.orders.create.draft import cover_of, unknown_skus
from tradecounter.orders.create.quick_lines import BadLine, QuickLine, numbered_quick_lines
from tradecounter.orders.lines import OrderLine, products_of
from tradecounter.orders.shipping_options import choose_shipping
from tradecounter.orders.states import NumberedOrder, OrderBase
from tradecounter.stock.rules import Delivery, is_late
from tradecounter.storefront.find_in_view import ProductListParameters, find_products
from tradecounter.storefront.shown_product import ShownLine, ShownProduct, shown_products
from tradecounter.storefront.storefront import RefreshableViews
from tradecounter.storefront.view import CustomerView

LONGEST_SEARCH = 500


class OfferedLine(ShownLine, frozen=True):
    """Units of a product at a customer's price; `delivery` is the next one, even if the customer may not see it."""

    delivery: Delivery | None

    @property
    def is_delivery_shown(self) -> bool:
        """Whether the customer may see the delivery."""
        return self.product.view.trade_account

    @property
    def back_ordered(self) -> int:
        """The units that are not in stock."""
        return max(self.quantity - self.product.available, 0)


class Search(Struct, frozen=True):
    """The products that match a search: the first ones, how many there are, and how the words were read."""

    text: str
    lines: Sequence[OfferedLine]
    total: int
    note: str


def offered_lines(view: CustomerView, wanted: Iterable[tuple[int, str, int]], now: datetime) -> dict[int, OfferedLine]:
    """Return the products that a customer can buy; `wanted` are numbers of lines, SKUs and quantities."""
    lines = {}
    for number, sku, quantity in wanted:
        if (known := view.find(sku)) is not None:
            lines[number] = _offered(ShownProduct(view, *known), quantity, now)
    return lines


def search_lines(view: CustomerView, text: str, quantity: int, most: int, now: datetime) -> Search:
    """Return the products that words match, at the customer's price for a quantity."""
    rows = find_products(view, ProductListParameters(query=text[:LONGEST_SEARCH]))
    products = shown_products(view, rows[:most].tolist())
    return Search(text, [_offered(product, quantity, now) for product in products], len(rows), rows.note)


def _offered(product: ShownProduct, quantity: int, now: datetime) -> OfferedLine:
    deliveries = product.view.stock.deliveries.get(product.row, ())
    due = (each for each in deliveries if not is_late(each, uk_date(now)))
    return OfferedLine(product, quantity, next(due, None))


def unknown_products(view: CustomerView, wanted: Iterable[tuple[int, str, int]]) -> dict[int, str]:
    """Return the errors of SKUs that a customer cannot buy, by the numbers of their lines."""
    skus = [(number, sku) for number, sku, _ in wanted if view.find(sku) is None]
    errors = unknown_skus(view, skus)
    return {number: error.message for (number, _), error in zip(skus, errors, strict=True)}


def sold_lines(view: CustomerView, text: str) -> tuple[list[QuickLine], list[BadLine]]:
    """Return the lines of a pasted list whose products a customer can buy, and the others, with their errors."""
    lines, bad = numbered_quick_lines(text)
    unknown = unknown_products(view, ((line.number, line.sku, line.units) for line in lines))
    bad += [BadLine(number, f"is wrong: {problem}") for number, problem in unknown.items()]
    return [line for line in lines if line.number not in unknown], bad


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
