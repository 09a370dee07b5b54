"""Amends a confirmed order as one step; credit and stock follow.

Locks are taken in the order of docs/architecture.md#locks.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from tradecounter.credit.queries import discharge, pipe_charge, require_charged
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, ErrorCollector, Kind, invalid, require_text
from tradecounter.kit.text import LONGEST_REASON, is_blank
from tradecounter.orders.amended_order import AmendedLines, amend_lines, amended_address, amended_shipping, check_items
from tradecounter.orders.create.place_order import require_unused
from tradecounter.orders.find_by_name import fetch_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, released_units, status_of, total_costs
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.back_orders import covers_of_waiting, lock_waiting_orders
from tradecounter.orders.queries.changes import delete_lines, insert_change, store_changed_order, store_lines
from tradecounter.orders.queries.create import add_lines
from tradecounter.orders.queries.orders import invoiced_units, lines_of_order, lock_order
from tradecounter.orders.reseller_wire import AmendOrderRequest
from tradecounter.orders.rules import account_blocked
from tradecounter.orders.serve_back_orders import allocate_back_orders
from tradecounter.orders.states import ConfirmedOrder, require_confirmed
from tradecounter.shipping.methods import current_shipping
from tradecounter.stock.queries.stock import release
from tradecounter.stock.rules import FROM_STOCK
from tradecounter.storefront.view import current_view


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
    shipped = amended_shipping(order, lines, address, request, context)
    amended = await amend_lines(tx, shipped.order, lines, request, context)
    cost_net, cost_tax = total_costs(amended.lines)
    changed = replace(
        shipped.reweighed(lines, amended.lines),
        customer_reference=customer_reference,
        cost_net=cost_net,
        cost_tax=cost_tax,
    )
    if (changed, amended.lines) == (order, lines):
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
    check_items(request.items, context.view, collector)
    reference, address = order.customer_reference, order.shipping_address
    with collector.collecting():
        reference = await _customer_reference(tx, order, request, context)
    with collector.collecting():
        address = await amended_address(tx, order, request)
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
    tx: Transaction, order: ConfirmedOrder, before: Sequence[OrderLine], amended: AmendedLines
) -> None:
    if amended.removed:
        await delete_lines(tx, amended.removed)
    if amended.added:
        await add_lines(tx, order.id, amended.last_position, amended.added)
    await store_lines(tx, amended.lines)
    await release(tx, *released_units(before, amended.lines))
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
