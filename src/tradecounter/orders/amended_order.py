"""The lines and the delivery of an amended order: units, prices, address, VAT, weight and shipping options."""

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from msgspec import Struct, convert
from msgspec.structs import asdict, replace

from tradecounter.customers.address_rules import read_address
from tradecounter.customers.queries.addresses import find_address
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import Code, DomainError, ErrorCollector, FieldError, Kind, invalid
from tradecounter.kit.numbers import in_kilograms
from tradecounter.orders.create.check_request import chosen_address
from tradecounter.orders.create.draft import (
    count_lines,
    find_products,
    offer_shipping,
    price_lines,
    region_of,
    unknown_skus,
)
from tradecounter.orders.create.place_order import GRAM
from tradecounter.orders.lines import OrderLine, Purpose, named_lines, with_quantity
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.create import reserve_lines
from tradecounter.orders.reseller_wire import AmendedItem, AmendOrderRequest
from tradecounter.orders.rules import check_cost, tax_rate
from tradecounter.orders.shipping_options import named_option
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.orders.wire import MOST_ITEMS, CreateOrderItem
from tradecounter.stock.rules import FROM_STOCK
from tradecounter.storefront.view import CustomerView

AMEND = Purpose(verb="amend", most=lambda line: line.undispatched)


class AmendedLines(Struct, frozen=True, kw_only=True):
    """All lines after an amendment, new ones included, and the ids of the removed lines.

    The positions of new lines begin after `last_position`.
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
    """Return the lines of a checked request, at the order's rate of VAT; new units are back-ordered at first.

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
    """Collect the errors of the items of a request."""
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
    new_items = [(number, item.sku) for number, item in enumerate(items) if item.sku is not None and item.id is None]
    collector.errors += unknown_skus(view, new_items)


def _amended(line: OrderLine, item: AmendedItem, order: ConfirmedOrder) -> OrderLine:
    quantity = line.quantity if item.quantity is None else item.quantity
    unit_cost = line.unit_cost if item.unit_cost is None else item.unit_cost
    if quantity < line.dispatched:
        problem = f"its quantity must be at least {line.dispatched}, the dispatched units"
        raise DomainError(Kind.CONFLICT, f"{line.sku}: {problem}")
    if line.dispatched and unit_cost != line.unit_cost:
        raise DomainError(Kind.CONFLICT, f"{line.sku}: units of it are dispatched, so its price can no longer change")
    return with_quantity(line, quantity, unit_cost, order.tax_rate)


async def _added(
    tx: Transaction, order: ConfirmedOrder, request: AmendOrderRequest, context: OrderContext
) -> tuple[list[OrderLine], int]:
    new = [item for item in request.items if item.sku is not None]
    if not new:
        return [], 0
    items = convert(new, list[CreateOrderItem], from_attributes=True)
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


class AmendedShipping(Struct, frozen=True):
    """An order with its amended address, region, VAT rate and shipping method; `reweighed` prices the carriage.

    Attributes:
        fixed: whether a part is dispatched, so that the carriage stays.
        moved: whether the address or the method changes.
        readdressed: whether the address changes.
    """

    order: ConfirmedOrder
    context: OrderContext
    fixed: bool
    moved: bool
    readdressed: bool

    def reweighed(self, before: Sequence[OrderLine], lines: Sequence[OrderLine]) -> ConfirmedOrder:
        """Return the order with the weight of its amended lines, and with new options and carriage.

        The carriage stays if the address, the method, and the units or the weight stay; after a cancellation of units;
        and for a quote whose carriage support has set. Raises DomainError (invalid) if the method does not fit the
        weight, or after a dispatch the weight of what is left.
        """
        order, context = self.order, self.context
        if not self.moved and _units(before) == _units(lines):
            return order
        weight = _weight(lines, context).quantize(GRAM, ROUND_HALF_UP)
        if self.fixed:
            self._require_fitting(before, lines)
        if self.fixed or (weight == order.shipping_weight and not self.moved):
            return replace(order, shipping_weight=weight)
        region = region_of(order.kind, context, order.shipping_address, order.shipping_region)
        offered = offer_shipping(order.kind, context, order.shipping_address, region, weight, FROM_STOCK)
        options = {option.id: option for option in offered}
        if order.kind == "quote" and not self.readdressed:
            options |= {option.id: option for option in order.shipping_options}
        ordered = sorted(options.values(), key=lambda option: (option.cost_net, option.id))
        shipping_option = named_option(ordered, order.shipping_method)
        return replace(
            order,
            shipping_weight=weight,
            shipping_options=ordered,
            shipping_net=shipping_option.cost_net,
            shipping_tax=shipping_option.tax(order.tax_rate),
        )

    def _require_fitting(self, before: Sequence[OrderLine], lines: Sequence[OrderLine]) -> None:
        """Raise DomainError (invalid) if the method cannot carry what is left with the added units.

        Support sets the carriage of a quote, whatever it weighs.
        """
        order, methods = self.order, self.context.shipping.methods
        was, left = (_weight(each, self.context, left=True) for each in (before, lines))
        method = next((method for method in methods if method.id == order.shipping_method), None)
        if method is None or order.kind == "quote" or left <= max(was, method.max_weight_kg):
            return
        takes = f"{method.provider}, {method.description}, takes {in_kilograms(method.max_weight_kg)}"
        raise invalid("items", f"would leave {in_kilograms(left)} to dispatch, and {takes}")


async def amended_address(tx: Transaction, order: ConfirmedOrder, request: AmendOrderRequest) -> CustomerAddress:
    """Return the delivery address of a request, which may be the id of one of the customer's addresses.

    Raises DomainError (invalid).
    """
    new_address, field = request.new_address, "shipping_address"
    if new_address is None:
        return order.shipping_address
    address_id = chosen_address(new_address, field)
    if address_id is None:
        typed = CustomerAddress(**asdict(read_address(new_address, field)))
        same = replace(typed, id=order.shipping_address.id) == order.shipping_address
        return order.shipping_address if same else typed
    saved = await find_address(tx, order.customer_id, address_id)
    if saved is None:
        raise invalid(
            f"{field}.id", f"{address_id} is not an address of customer {order.customer_id}", Code.UNKNOWN_ADDRESS
        )
    return CustomerAddress(**asdict(saved))


def amended_shipping(
    order: ConfirmedOrder,
    lines: Sequence[OrderLine],
    address: CustomerAddress,
    request: AmendOrderRequest,
    context: OrderContext,
) -> AmendedShipping:
    """Return what a request changes of an order's delivery.

    Raises DomainError: invalid, conflict (a part is already dispatched).
    """
    fixed = any(line.dispatched for line in lines)
    method_id = order.shipping_method if request.shipping_method is None else request.shipping_method.id
    moved = (address, method_id) != (order.shipping_address, order.shipping_method)
    if fixed and moved:
        problem = "its delivery address and shipping method can no longer change"
        raise DomainError(Kind.CONFLICT, f"a part of {order.name} is dispatched: {problem}")
    readdressed = address != order.shipping_address
    if readdressed:
        rate = order.tax_rate
        if address.country_code != order.shipping_address.country_code:
            rate = tax_rate(address.country_code, context.policy.vat_rate)
        region = region_of(order.kind, context, address, None).id
        order = replace(order, shipping_address=address, shipping_region=region, tax_rate=rate)
    order = replace(order, shipping_method=method_id)
    return AmendedShipping(order, context, fixed=fixed, moved=moved, readdressed=readdressed)


def _units(lines: Sequence[OrderLine]) -> dict[int, int]:
    return {line.id: line.quantity for line in lines}


def _weight(lines: Sequence[OrderLine], context: OrderContext, *, left: bool = False) -> Decimal:
    """Return the weight of lines in kg, or of the part of them that is left to dispatch."""
    view = context.view
    rows = view.snapshot.row_of_id
    units = ((line.product_id, line.undispatched if left else line.quantity) for line in lines)
    return sum((view.orderable(rows[product_id]).weight_kg * count for product_id, count in units), Decimal(0))
