"""Amends a confirmed order as one step: units, prices, address, VAT, weight and shipping; credit and stock follow.

Locks are taken in the order of docs/architecture.md#locks.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from msgspec import convert
from msgspec.structs import asdict, replace

from tradecounter.credit.queries import discharge, pipe_charge, require_charged
from tradecounter.customers.address_rules import read_address
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.queries.addresses import find_address
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import Code, DomainError, ErrorCollector, FieldError, Kind, invalid, require_text
from tradecounter.kit.numbers import in_kilograms
from tradecounter.kit.text import LONGEST_REASON, is_blank
from tradecounter.orders.create.check_request import chosen_address
from tradecounter.orders.create.draft import (
    count_lines,
    offer_shipping,
    price_lines,
    region_of,
    unknown_skus,
    wanted_lines,
)
from tradecounter.orders.create.place_order import GRAM, require_unused
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import (
    OrderLine,
    Purpose,
    named_lines,
    released_units,
    status_of,
    total_costs,
    with_quantity,
)
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.back_orders import covers_of_waiting, lock_waiting_orders
from tradecounter.orders.queries.changes import delete_lines, insert_change, store_changed_order, store_lines
from tradecounter.orders.queries.create import add_lines, reserve_lines
from tradecounter.orders.queries.orders import invoiced_units, lines_of_order, lock_order
from tradecounter.orders.reseller_wire import AmendedItem, AmendOrderRequest
from tradecounter.orders.rules import account_blocked, check_cost, tax_rate
from tradecounter.orders.serve_back_orders import allocate_back_orders
from tradecounter.orders.shipping_options import named_option
from tradecounter.orders.states import ConfirmedOrder, require_confirmed
from tradecounter.orders.wire import MOST_ITEMS, CreateOrderItem
from tradecounter.shipping.methods import current_shipping
from tradecounter.stock.queries.stock import release
from tradecounter.stock.rules import FROM_STOCK
from tradecounter.storefront.view import CustomerView, current_view


async def amend_order(
    tx: Transaction, reference: str, request: AmendOrderRequest, context: OrderContext
) -> tuple[ConfirmedOrder, list[OrderLine]]:
    """Amend an order by its reference or id; return it with its lines, and queue the e-mail.

    A request that changes nothing, such as a repeated one, is not recorded, and no e-mail is sent. The context is that
    of the order's customer.

    Raises DomainError: not found, invalid, payment required (the increase exceeds the credit and `override_credit` is
    not set), conflict (not confirmed, all or too much is dispatched, the reference is used, or the total rises although
    the account is blocked).
    """
    request = replace(request, reason=request.reason.strip())
    order_id = (await fetch_order(tx, reference)).id
    await lock_waiting_orders(tx, also=order_id)
    found = await lock_order(tx, order_id)
    order = require_confirmed(found, context.now, "only confirmed orders can be amended")
    lines = await lines_of_order(tx, order_id)
    if all(line.undispatched == 0 for line in lines):
        raise DomainError(Kind.CONFLICT, f"{order.name} is {order.status.lower()} and can no longer be amended")
    if request.changes_nothing:
        raise invalid("items", "must name something to change")
    context = await _with_current_data(tx, lines, request, context)
    customer_reference, address, override = await _checked(tx, order, request, context)
    moved = _moved(order, lines, address, request, context)
    amended = await _amended_lines(tx, moved, lines, request, context)
    cost_net, cost_tax = total_costs(amended)
    changed = replace(
        _reweighed(order, moved, lines, amended, context),
        customer_reference=customer_reference,
        cost_net=cost_net,
        cost_tax=cost_tax,
    )
    if (changed, amended) == (order, lines):
        return order, lines
    await _charge(tx, order, changed, override)
    await _store_lines(tx, order, lines, amended)
    changed, stored = await _completed(tx, changed, context.now)
    await store_changed_order(tx, changed)
    change_id = await insert_change(tx, order.id, "amended", request.reason, {}, context.now)
    queue(tx, "mail_order_changed", order_id=order.id, change_id=change_id)
    _record(tx, (order, lines), (changed, stored), request.reason, override, context.now)
    return changed, stored


async def _with_current_data(
    tx: Transaction, lines: Sequence[OrderLine], request: AmendOrderRequest, context: OrderContext
) -> OrderContext:
    """Return the context with today's shipping and today's prices of the products in the order and the new lines."""
    skus = [*(line.sku for line in lines), *(item.sku for item in request.items if item.sku is not None)]
    view = await current_view(tx, context.view, context.customer_id, skus, uk_date(context.now))
    return replace(context, view=view, shipping=await current_shipping(tx, context.shipping))


async def _checked(
    tx: Transaction, order: ConfirmedOrder, request: AmendOrderRequest, context: OrderContext
) -> tuple[str, CustomerAddress, str | None]:
    """Return a request's customer reference, address, and reason for more than the available credit.

    Raises DomainError: invalid, with all errors of the request; conflict (the reference is used).
    """
    collector = ErrorCollector()
    override = None
    if request.override_credit is not None:
        with collector.collecting():
            override = require_text("override_credit.reason", request.override_credit.reason, LONGEST_REASON)
    _check_items(request.items, context.view, collector)
    reference, address = order.customer_reference, order.shipping_address
    with collector.collecting():
        reference = await _customer_reference(tx, order, request, context)
    with collector.collecting():
        address = await _amended_address(tx, order, request)
    collector.check()
    return reference, address, override


async def _customer_reference(
    tx: Transaction, order: ConfirmedOrder, request: AmendOrderRequest, context: OrderContext
) -> str:
    wanted = request.customer_reference
    if wanted is None or wanted == order.customer_reference:
        return order.customer_reference
    if is_blank(wanted):
        raise invalid("customer_reference", "must not be blank")
    if (await fetch_account(tx, order.customer_id)).unique_references:
        await require_unused(tx, wanted, context, but=order.id)
    return wanted


async def _charge(tx: Transaction, before: ConfirmedOrder, after: ConfirmedOrder, override: str | None) -> None:
    increase = after.gross - before.gross
    if increase <= 0:
        discharge(tx, before.customer_id, -increase)
        return
    if (await fetch_account(tx, before.customer_id)).blocked:
        raise account_blocked()
    async with tx.pipeline() as p:
        charged, limit = pipe_charge(p, before.customer_id, increase)
    if override is None:
        require_charged(charged, limit, increase, what="increase")


async def _store_lines(
    tx: Transaction, order: ConfirmedOrder, before: Sequence[OrderLine], lines: Sequence[OrderLine]
) -> None:
    ids_before, ids = {line.id for line in before}, {line.id for line in lines}
    if removed := ids_before - ids:
        await delete_lines(tx, removed)
    if added := [line for line in lines if line.id not in ids_before]:
        await add_lines(tx, order.id, added)
    await store_lines(tx, lines)
    await release(tx, *released_units(before, lines))
    await allocate_back_orders(tx)


async def _completed(tx: Transaction, order: ConfirmedOrder, now: datetime) -> tuple[ConfirmedOrder, list[OrderLine]]:
    """Return the order with the status and the dates that follow from the allocation, and its lines."""
    lines = await lines_of_order(tx, order.id)
    waiting = any(line.back_ordered for line in lines)
    needed = (await covers_of_waiting(tx, uk_date(now), order.id))[order.id] if waiting else FROM_STOCK
    options = [option.dated(order.confirmed_at, needed) for option in order.shipping_options]
    status = status_of(lines, await invoiced_units(tx, [order.id]), order.due)
    return replace(order, status=status, shipping_options=options), lines


def _record(
    tx: Transaction,
    before: tuple[ConfirmedOrder, list[OrderLine]],
    after: tuple[ConfirmedOrder, list[OrderLine]],
    reason: str,
    override: str | None,
    now: datetime,
) -> None:
    order, lines = after
    items = [{"id": line.id, "sku": line.sku, "quantity": line.quantity} for line in lines]
    record_order_event(tx, "order.amended", order, now, items=items, total=order.gross)
    reasons = {"reason": reason, "override_credit": override}
    given = {name: text for name, text in reasons.items() if text}
    audit_order(tx, "order.amend", order, now, before=_audited(*before), after={**_audited(*after), **given})


def _audited(order: ConfirmedOrder, lines: Sequence[OrderLine]) -> dict[str, Any]:
    return {
        **{f"{line.sku} ({line.id})": f"{line.quantity} x {line.unit_cost}" for line in lines},
        "customer_reference": order.customer_reference,
        "shipping_address": order.shipping_address,
        "shipping_method": order.shipping_method,
        "status": order.status,
        "total": order.gross,
    }


AMEND = Purpose(verb="amend", most=lambda line: line.undispatched)


async def _amended_lines(
    tx: Transaction,
    order: ConfirmedOrder,
    lines: Sequence[OrderLine],
    request: AmendOrderRequest,
    context: OrderContext,
) -> list[OrderLine]:
    """Return the lines after a checked request, at the order's rate of VAT; new units are back-ordered at first.

    Raises DomainError: invalid, conflict (more is dispatched, or the price of dispatched units would change).
    """
    changes = {item.id: item for item in request.items if item.id is not None}
    named_lines(lines, [item.id for item in request.items], AMEND)
    amended = [_amended(line, changes.get(line.id, AmendedItem()), order) for line in lines]
    added = await _added(tx, order, request, context)
    kept = [line for line in amended if line.quantity or line.cancelled]
    if not any(line.quantity for line in [*kept, *added]):
        raise invalid("items", "must leave at least one unit in the order: cancel the order instead")
    if added and len(kept) + len(added) > MOST_ITEMS:
        raise invalid("items", f"would make {len(kept) + len(added)} lines: an order has at most {MOST_ITEMS}")
    return [*kept, *added]


def _check_items(items: Sequence[AmendedItem], view: CustomerView, collector: ErrorCollector) -> None:
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
) -> list[OrderLine]:
    new = [item for item in request.items if item.sku is not None]
    if not new:
        return []
    items = convert(new, list[CreateOrderItem], from_attributes=True)
    wanted = wanted_lines(context.view, items)
    line_ids = await reserve_lines(tx, count_lines(context.view, items))
    priced = price_lines(context.view, wanted, order.tax_rate, order.id, line_ids)
    return [
        replace(
            line if item.unit_cost is None else line.at_price(item.unit_cost, order.tax_rate),
            back_ordered=line.quantity,
        )
        for line, item in zip(priced, new, strict=True)
    ]


async def _amended_address(tx: Transaction, order: ConfirmedOrder, request: AmendOrderRequest) -> CustomerAddress:
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


def _moved(
    order: ConfirmedOrder,
    lines: Sequence[OrderLine],
    address: CustomerAddress,
    request: AmendOrderRequest,
    context: OrderContext,
) -> ConfirmedOrder:
    """Return an order with the delivery address and the method of a request, and the region and VAT rate that follow.

    Raises DomainError: invalid, conflict (a part is already dispatched).
    """
    method_id = order.shipping_method if request.shipping_method is None else request.shipping_method.id
    if (address, method_id) == (order.shipping_address, order.shipping_method):
        return order
    if any(line.dispatched for line in lines):
        problem = "its delivery address and shipping method can no longer change"
        raise DomainError(Kind.CONFLICT, f"a part of {order.name} is dispatched: {problem}")
    if address != order.shipping_address:
        rate = order.tax_rate
        if address.country_code != order.shipping_address.country_code:
            rate = tax_rate(address.country_code, context.policy.vat_rate)
        region = region_of(order.kind, context, address, None).id
        order = replace(order, shipping_address=address, shipping_region=region, tax_rate=rate)
    return replace(order, shipping_method=method_id)


def _reweighed(
    before: ConfirmedOrder,
    moved: ConfirmedOrder,
    lines: Sequence[OrderLine],
    amended: Sequence[OrderLine],
    context: OrderContext,
) -> ConfirmedOrder:
    """Return a moved order with the weight of its amended lines, and with new options and carriage.

    The carriage stays if the address, the method, and the units or the weight stay; after a dispatch or a cancellation
    of units; and for a quote whose carriage support has set. Raises DomainError (invalid) if the method does not fit
    the weight, or after a dispatch the weight of what is left.
    """
    if moved == before and _units(lines) == _units(amended):
        return moved
    weight = _weight(((line.product_id, line.quantity) for line in amended), context).quantize(GRAM, ROUND_HALF_UP)
    if any(line.dispatched for line in lines):
        _require_fitting(moved, lines, amended, context)
        return replace(moved, shipping_weight=weight)
    if moved == before and weight == moved.shipping_weight:
        return moved
    region = region_of(moved.kind, context, moved.shipping_address, moved.shipping_region)
    offered = offer_shipping(moved.kind, context, moved.shipping_address, region, weight, FROM_STOCK)
    options = {option.id: option for option in offered}
    if moved.kind == "quote" and moved.shipping_address == before.shipping_address:
        options |= {option.id: option for option in moved.shipping_options}
    ordered = sorted(options.values(), key=lambda option: (option.cost_net, option.id))
    shipping_option = named_option(ordered, moved.shipping_method)
    return replace(
        moved,
        shipping_weight=weight,
        shipping_options=ordered,
        shipping_net=shipping_option.cost_net,
        shipping_tax=shipping_option.tax(moved.tax_rate),
    )


def _require_fitting(
    order: ConfirmedOrder, before: Sequence[OrderLine], lines: Sequence[OrderLine], context: OrderContext
) -> None:
    """Raise DomainError (invalid) if the method cannot carry what is left with the added units.

    Support sets the carriage of a quote, whatever it weighs.
    """
    was, left = (_weight(((line.product_id, line.undispatched) for line in each), context) for each in (before, lines))
    method = next((method for method in context.shipping.methods if method.id == order.shipping_method), None)
    if method is None or order.kind == "quote" or left <= max(was, method.max_weight_kg):
        return
    takes = f"{method.provider}, {method.description}, takes {in_kilograms(method.max_weight_kg)}"
    raise invalid("items", f"would leave {in_kilograms(left)} to dispatch, and {takes}")


def _units(lines: Sequence[OrderLine]) -> dict[int, int]:
    return {line.id: line.quantity for line in lines}


def _weight(units: Iterable[tuple[int, int]], context: OrderContext) -> Decimal:
    """Return the weight in kg of pairs of a product and units of it."""
    view = context.view
    rows = view.snapshot.row_of_id
    return sum((view.orderable(rows[product_id]).weight_kg * count for product_id, count in units), Decimal(0))
