"""The shipping options of an order or a quote as choices, each with the total."""

from collections.abc import Sequence

from tradecounter.kit.local_time import day_in_words, uk_date
from tradecounter.kit.money import in_pounds
from tradecounter.orders.shipping_options import ShippingOption, choose_shipping
from tradecounter.orders.states import OrderBase


def shipping_choices(order: OrderBase) -> list[tuple[int, str]]:
    """Return the id and the words of each option."""
    return [(option.id, _in_words(order, option)) for option in order.shipping_options]


def chosen_option(order: OrderBase, default: int | None) -> Sequence[int]:
    """Return the id of the option that is chosen at first: the order's own, the account's default, or the cheapest."""
    options = order.shipping_options
    chosen = choose_shipping(options, order.shipping_method, default)
    if chosen is None and options:
        chosen = min(options, key=lambda option: option.cost_net)
    return () if chosen is None else (chosen.id,)


def _in_words(order: OrderBase, option: ShippingOption) -> str:
    arrives = "" if option.arrival is None else f", arrives {day_in_words(uk_date(option.arrival))}"
    return f"{option.name}: {in_pounds(option.cost_net)}{arrives}. Total with VAT {in_pounds(order.gross_with(option))}"
