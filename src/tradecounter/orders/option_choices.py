"""Which shipping option a page has chosen at first."""

from collections.abc import Sequence

from tradecounter.orders.shipping_options import choose_shipping
from tradecounter.orders.states import OrderBase


def chosen_option(order: OrderBase, default: int | None) -> Sequence[int]:
    """Return the id of the option that is chosen at first: the order's own, the account's default, or the cheapest."""
    options = order.shipping_options
    chosen = choose_shipping(options, order.shipping_method, default)
    if chosen is None and options:
        chosen = min(options, key=lambda option: option.cost_net)
    return () if chosen is None else (chosen.id,)
