"""Guards of a customer's program: the most that an order may cost, and whether it may wait for stock.

An order that a guard stops is rejected as a whole; the error has its cost or the available units.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Self

from msgspec import Struct

from tradecounter.kit.errors import Code, DomainError, FieldError, Kind, conflicts
from tradecounter.kit.money import in_pounds
from tradecounter.orders.lines import OrderLine, added_up
from tradecounter.orders.states import PendingOrder, PricedQuote, pricing_of
from tradecounter.orders.wire import ConfirmOrderRequest, CreateOrderRequest

_MAX_COST = "max_cost_gross"


class ConfirmationGuards(Struct, frozen=True):
    """The guards of a confirmation. If `allow_back_orders` is None, the request of the creation decides.

    `pricing` is the number of the quote's price that the caller has seen; `total` is the total with VAT and shipping
    that the caller has seen.
    """

    max_cost_gross: Decimal | None = None
    allow_back_orders: bool | None = None
    pricing: int | None = None
    total: Decimal | None = None

    @classmethod
    def of(cls, request: ConfirmOrderRequest, pricing: int | None = None) -> Self:
        """Return the guards of a request; `pricing` is the number of the quote's price that was shown."""
        return cls(request.max_cost_gross, request.allow_back_orders, pricing)


NO_GUARDS = ConfirmationGuards()


def require_prices(request: CreateOrderRequest, lines: Sequence[OrderLine], cost_gross: Decimal) -> None:
    """Check the prices of a new order's lines, and their sum with VAT. Raises DomainError (conflict)."""
    errors = [
        FieldError(
            f"items[{n}].max_unit_cost",
            f"{line.sku} costs {in_pounds(line.unit_cost)} each for {line.quantity}, more than £{item.max_unit_cost:f}",
            Code.PRICE_CHANGED,
            line.unit_cost,
        )
        for n, (item, line) in enumerate(zip(request.items, lines, strict=True))
        if item.max_unit_cost is not None and line.unit_cost > item.max_unit_cost
    ]
    errors += _sum_errors(request.max_cost_gross, cost_gross)
    if errors:
        raise conflicts(errors)


def require_sum(guards: ConfirmationGuards, cost_gross: Decimal) -> None:
    """Check the cost of an order's items with VAT. Raises DomainError (conflict)."""
    if errors := _sum_errors(guards.max_cost_gross, cost_gross):
        raise conflicts(errors)


def require_seen(guards: ConfirmationGuards, order: PendingOrder | PricedQuote, gross: Decimal) -> None:
    """Check that an order has the price that the caller has seen; `gross` is its total with VAT and shipping.

    Raises DomainError (conflict).
    """
    pricing = pricing_of(order)
    is_old = guards.pricing is not None and pricing is not None and pricing.pricings != guards.pricing
    if is_old or (guards.total is not None and gross != guards.total):
        problem = f"it was priced again, and costs {in_pounds(gross)} with VAT and shipping now"
        raise DomainError(Kind.CONFLICT, problem, code=Code.PRICE_CHANGED)


def _sum_errors(most: Decimal | None, cost_gross: Decimal) -> list[FieldError]:
    if most is None or cost_gross <= most:
        return []
    problem = f"the items cost {in_pounds(cost_gross)} with VAT, more than £{most:f}"
    return [FieldError(_MAX_COST, problem, Code.PRICE_CHANGED)]


def require_stock(lines: Sequence[tuple[int, str, int]], available: Mapping[int, int]) -> None:
    """Check that the available units are enough for all lines. Raises DomainError (conflict).

    A line is a product, or its row in the catalogue, with its SKU and a quantity; `available` has the units of each.
    Before the confirmation, which decides, other orders may take the units in the meantime.
    """
    wanted = added_up((product, quantity) for product, _, quantity in lines)
    errors = [
        FieldError(
            f"items[{n}].quantity",
            f"{available[product]} of {sku} are in stock, not {wanted[product]}",
            Code.OUT_OF_STOCK,
        )
        for n, (product, sku, _) in enumerate(lines)
        if available[product] < wanted[product]
    ]
    if errors:
        raise conflicts(errors)
