"""The margin of a quote's lines, and prices too low to be given without `force`."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct

from tradecounter.kit.errors import FieldError, invalid_fields
from tradecounter.kit.money import NOTHING, in_pounds, rounded
from tradecounter.orders.lines import OrderLine
from tradecounter.prices.importing import suspicion


class Margin(Struct, frozen=True):
    """What remains of the goods' net price after what the reseller pays for them; `percent` is of the net price."""

    net: Decimal
    purchase: Decimal
    margin: Decimal
    percent: Decimal | None


def margin_of(lines: Sequence[OrderLine], costs: Mapping[int, Decimal]) -> Margin | None:
    """Return the margin of all lines, or None when the purchase cost of a product is unknown."""
    if any(line.product_id not in costs for line in lines):
        return None
    net = sum((line.cost_net for line in lines), NOTHING)
    purchase = sum((costs[line.product_id] * line.quantity for line in lines), NOTHING)
    margin = net - purchase
    return Margin(net, purchase, margin, rounded(margin * 100 / net) if net else None)


def require_sound_prices(lines: Sequence[OrderLine], costs: Mapping[int, Decimal]) -> None:
    """Raise DomainError (invalid) when a lowered price is below cost, or less than half of that at the request."""
    errors = [
        FieldError(line.sku, f"{in_pounds(line.unit_cost)} {why}; use force to allow it")
        for line in lines
        if (why := suspicion(line.unit_cost, line.cost_at_request, costs.get(line.product_id))) is not None
    ]
    if errors:
        raise invalid_fields(list(dict.fromkeys(errors)))  # once for all lines of a product
