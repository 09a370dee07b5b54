"""The shipping options of an order that is not confirmed yet, as a page offers them."""

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from msgspec.structs import replace

from tradecounter.orders.create.draft import cover_of
from tradecounter.orders.lines import OrderLine, products_of
from tradecounter.orders.shipping_options import choose_shipping
from tradecounter.orders.states import NumberedOrder, OrderBase
from tradecounter.storefront.refreshable_views import RefreshableViews

Shown = TypeVar("Shown", bound=OrderBase)


async def dated_now(order: Shown, lines: Sequence[OrderLine], views: RefreshableViews, now: datetime) -> Shown:
    """Return an order with the dates that its options would have if it was confirmed now; a confirmed one unchanged.

    Its creation, from which the stored dates are, may be days ago.
    """
    if isinstance(order, NumberedOrder) or not order.shipping_options:
        return order
    view = await views.showing(order.customer_id, products_of(lines))
    rows = view.snapshot.row_of_id
    needed = cover_of(view, ((rows[line.product_id], line.quantity) for line in lines), now)
    return replace(order, shipping_options=[option.dated(now, needed) for option in order.shipping_options])


def chosen_option(order: OrderBase, default: int | None) -> Sequence[int]:
    """Return the id of the option that is chosen at first: the order's own, the account's default, or the cheapest."""
    options = order.shipping_options
    chosen = choose_shipping(options, order.shipping_method, default)
    if chosen is None and options:
        chosen = min(options, key=lambda option: option.cost_net)
    return () if chosen is None else (chosen.id,)
