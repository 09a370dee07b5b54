"""The lines of an amended order: other units and prices, and new lines at today's price."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, ErrorCollector, FieldError, Kind, invalid
from tradecounter.orders.create.draft import count_lines, find_products, price_lines, unknown_skus
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.create import reserve_lines
from tradecounter.orders.reseller_wire import AmendedItem, AmendOrderRequest
from tradecounter.orders.rules import check_cost
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.orders.units import Purpose, named_lines, with_quantity
from tradecounter.orders.wire import MOST_ITEMS, CreateOrderItem
from tradecounter.storefront.view import CustomerView

AMEND = Purpose("amend", "is amended with its bundle", "left", lambda line: line.left)


class AmendedLines(Struct, frozen=True, kw_only=True):
    """All lines after an amendment, new ones included, and the ids of the lines that are gone.

    The positions of the new lines begin after `last_position`.
    """

    lines: list[OrderLine]
    added: list[OrderLine]
    removed: list[int]
    last_position: int


async def amend_lines(
    tx: Transaction,
    order: ConfirmedOrder,
    lines: Sequence[OrderLine],
    request: AmendOrderRequest,
    context: OrderContext,
) -> AmendedLines:
    """Return the lines that a checked request asks for, at the order's rate of VAT; new units are back-ordered for now.

    Raises DomainError: invalid, conflict (more is dispatched, or the price of dispatched units would change).
    """
    changes = {item.id: item for item in request.items if item.id is not None}
    named_lines(lines, [item.id for item in request.items], AMEND)
    amended = [_amended(line, changes.get(line.id, AmendedItem()), order) for line in lines]
    added, last_position = await _added(tx, order, request, context)
    kept = [line for line in amended if line.quantity or line.cancelled]
    if not any(line.quantity for line in [*kept, *added]):
        raise invalid("items", "must leave at least one unit in the order: cancel the order instead")
    if added and len(kept) + len(added) > MOST_ITEMS:
        raise invalid("items", f"would make {len(kept) + len(added)} lines: an order has at most {MOST_ITEMS}")
    removed = [line.id for line in amended if not (line.quantity or line.cancelled)]
    return AmendedLines(lines=[*kept, *added], added=added, removed=removed, last_position=last_position)


def check_items(items: Sequence[AmendedItem], view: CustomerView, collector: ErrorCollector) -> None:
    """Collect what is wrong with the items of a request."""
    for number, item in enumerate(items):
        place = f"items[{number}]"
        if (item.id is None) == (item.sku is None):
            problem = "must have either the id of a line or the sku of a product to add"
            collector.errors.append(FieldError(place, problem))
            continue
        if item.sku is not None and not item.quantity:
            collector.errors.append(FieldError(f"{place}.quantity", "must be at least 1 for a new line"))
        if item.unit_cost is not None:
            with collector.collecting():
                check_cost(f"{place}.unit_cost", "unit cost", item.unit_cost)
    named = [(number, item.sku) for number, item in enumerate(items) if item.sku is not None and item.id is None]
    collector.errors += unknown_skus(view, named)


def _amended(line: OrderLine, item: AmendedItem, order: ConfirmedOrder) -> OrderLine:
    quantity = line.quantity if item.quantity is None else item.quantity
    unit_cost = line.unit_cost if item.unit_cost is None else item.unit_cost
    if quantity < line.dispatched:
        raise DomainError(
            Kind.CONFLICT,
            f"{line.sku}: its quantity must be at least {line.dispatched}, the dispatched units",
        )
    if line.dispatched and unit_cost != line.unit_cost:
        raise DomainError(
            Kind.CONFLICT,
            f"{line.sku}: units of it are dispatched, so its price can no longer change",
        )
    return with_quantity(line, quantity, unit_cost, order.tax_rate)


async def _added(
    tx: Transaction, order: ConfirmedOrder, request: AmendOrderRequest, context: OrderContext
) -> tuple[list[OrderLine], int]:
    new = [item for item in request.items if item.sku is not None]
    if not new:
        return [], 0
    items = [CreateOrderItem(item.sku or "", item.quantity or 0) for item in new]
    wanted = find_products(context.view, items)
    last_position, line_ids = await reserve_lines(tx, order.id, count_lines(context.view, items))
    priced = price_lines(context.view, wanted, order.tax_rate, order.id, line_ids)
    return [
        replace(
            line if item.unit_cost is None else line.at_price(item.unit_cost, order.tax_rate),
            back_ordered=line.quantity,
        )
        for line, item in zip(priced, new, strict=True)
    ], last_position
