"""Confirms an order: charges credit, allocates stock, numbers it (specification, section 3).

Locks are taken in the order of docs/architecture.md#locks.
"""

from collections.abc import Sequence
from datetime import datetime

from tradecounter.credit.queries import pipe_charge, require_charged
from tradecounter.customers.queries.accounts import pipe_account
from tradecounter.customers.settings import Account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import Code, DomainError, Kind, invalid, require_text
from tradecounter.kit.money import NOTHING
from tradecounter.kit.text import LONGEST_REASON, shown_name
from tradecounter.kit.wire import made_from
from tradecounter.orders.guards import NO_GUARDS, ConfirmationGuards, require_seen, require_stock, require_sum
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine, added_up, share_out, with_allocated, with_components
from tradecounter.orders.order_context import OrderingPolicy
from tradecounter.orders.queries.changes import (
    pipe_next_number,
    store_allocations,
    store_confirmation,
    take_out_of_basket,
)
from tradecounter.orders.queries.orders import find_own_order, pipe_by_code, pipe_lines_by_code, pipe_lock_unconfirmed
from tradecounter.orders.reseller_wire import Confirmation
from tradecounter.orders.rules import AWAITING_DISPATCH, BACK_ORDERED, account_blocked, order_reference
from tradecounter.orders.shipping_options import ShippingOption, choose_shipping, method_needed, named_option
from tradecounter.orders.states import (
    AnyOrder,
    CancelledOrder,
    CancelledUnconfirmed,
    ConfirmedOrder,
    PendingOrder,
    PricedQuote,
    UnpricedQuote,
)
from tradecounter.stock.queries.stock import allocate, pipe_lock_levels
from tradecounter.stock.rules import cover, latest


def unknown_code(code: str) -> DomainError:
    """Return the error for a code that none of the customer's orders has."""
    return DomainError(
        Kind.NOT_FOUND, f"no pending order or quote has the confirmation_code {shown_name(code)}".strip()
    )


async def confirm_order(
    tx: Transaction,
    customer_id: int,
    confirmation_code: str,
    method_id: int | None,
    policy: OrderingPolicy,
    now: datetime,
    *,
    override_credit: str | None = None,
    guards: ConfirmationGuards = NO_GUARDS,
) -> tuple[ConfirmedOrder, list[OrderLine]]:
    """Confirm a customer's pending order or priced quote, and return it with its lines as they are then.

    An order that is already confirmed stays unchanged.

    Needs no catalogue: the order has its price, and stock and credit come from the database.

    `method_id` is the requested shipping method. None uses the creation's method, or else the account's default.
    `override_credit` is the reason why the order may exceed the account's credit. Raises DomainError: not found,
    invalid (the method is not an option, or differs from the confirmed method), gone (expired or cancelled),
    precondition failed (no method, or an unpriced quote), payment required, conflict (the customer is blocked, or one
    of the `guards` stops the order).
    """
    if override_credit is not None:
        override_credit = require_text("override_credit.reason", override_credit, LONGEST_REASON)
    code = confirmation_code.lower()
    async with tx.pipeline() as p:
        pipe_lock_unconfirmed(p, customer_id, code)
        found = pipe_by_code(p, customer_id, code)
        found_lines = pipe_lines_by_code(p, customer_id, code)
        account = pipe_account(p, customer_id)
    order, lines = found.first, with_components(found_lines.rows)
    if order is None:
        raise await _not_a_code(tx, customer_id, confirmation_code)
    if isinstance(order, ConfirmedOrder):
        _require_same_method(order, method_id)
        tx.acknowledge_earlier()
        return order, lines
    if account.row.blocked:
        raise account_blocked()
    pending = _confirmable(order, now)
    wanted_method = pending.shipping_method if method_id is None else method_id
    option = choose_shipping(pending.shipping_options, wanted_method, account.row.shipping_method)
    if option is None:
        raise method_needed(pending.shipping_options)
    require_seen(guards, pending, pending.gross_with(option))
    require_sum(guards, pending.cost_gross)
    waits = pending.allow_back_orders if guards.allow_back_orders is None else guards.allow_back_orders
    return await _confirm(
        tx, pending, lines, account.row, option, policy, now, override_credit, allow_back_orders=waits
    )


def _confirmable(
    order: PendingOrder | UnpricedQuote | PricedQuote | CancelledUnconfirmed | CancelledOrder, now: datetime
) -> PendingOrder | PricedQuote:
    """Return the order if it can be confirmed. Raises DomainError: gone, precondition failed."""
    match order:
        case CancelledUnconfirmed():
            problem = f"the {order.kind} was {order.ended_as}: create it again if you still want it"
            raise DomainError(Kind.GONE, problem, code=Code.CANCELLED)
        case CancelledOrder():
            problem = f"order {order.order_reference} was cancelled: create it again if you still want it"
            raise DomainError(Kind.GONE, problem, code=Code.CANCELLED)
        case UnpricedQuote():
            raise DomainError(
                Kind.PRECONDITION_FAILED,
                "the quote is not priced yet: you will get an e-mail with the price",
                code=Code.NOT_PRICED,
            )
    if order.has_expired(now):
        what = "quote" if order.kind == "quote" else "pending order"
        raise DomainError(Kind.GONE, f"the {what} has expired: create it again")
    return order


async def _confirm(
    tx: Transaction,
    pending: PendingOrder | PricedQuote,
    lines: Sequence[OrderLine],
    account: Account,
    option: ShippingOption,
    policy: OrderingPolicy,
    now: datetime,
    override_credit: str | None,
    *,
    allow_back_orders: bool,
) -> tuple[ConfirmedOrder, list[OrderLine]]:
    gross = pending.gross_with(option)
    wanted = added_up((line.product_id, line.quantity) for line in lines)
    async with tx.pipeline() as p:
        charged, limit = pipe_charge(p, pending.customer_id, gross)
        levels, numbered = pipe_lock_levels(p, wanted), pipe_next_number(p)
    if override_credit is None:
        require_charged(charged, limit, gross)
    taken = {level.product_id: level.taken for level in levels.rows}
    if not allow_back_orders:
        require_stock([(line.product_id, line.sku, line.quantity) for line in lines], taken)
    allocate(tx, wanted, levels.rows)
    allocated = share_out(lines, taken)
    store_allocations(tx, allocated)
    [(number,)] = numbered.rows
    needed = latest([cover(wanted[a.product_id], a.taken, a.earlier, a.deliveries, now) for a in levels.rows])
    from_stock = taken == wanted
    order = made_from(
        pending,
        ConfirmedOrder,
        state="confirmed",
        number=number,
        order_reference=order_reference(number, account.packing, policy.own_brand_prefix, policy.plain_prefix),
        shipping_method=option.id,
        shipping_options=[o.dated(now, needed) for o in pending.shipping_options],
        shipping_net=option.cost_net,
        shipping_tax=option.tax(pending.tax_rate),
        paid=NOTHING,
        credited=NOTHING,
        status=AWAITING_DISPATCH if from_stock else BACK_ORDERED,
        term_days=account.term_days or 0,
        confirmed_at=now,
        changed_at=now,
        expected_changed_at=None,
        pricing=pending.pricing if isinstance(pending, PricedQuote) else None,
    )
    store_confirmation(tx, order)
    take_out_of_basket(tx, pending)
    queue(tx, "mail_order_confirmed", order_id=order.id)
    _record(tx, order, override_credit, now)
    return order, [with_allocated(line, allocated[line.id]) for line in lines]


def _record(tx: Transaction, order: ConfirmedOrder, override_credit: str | None, now: datetime) -> None:
    code, total = order.confirmation_code, order.gross
    record_order_event(tx, "order.confirmed", order, now, confirmation_code=code, total=total)
    override = {} if override_credit is None else {"override_credit": override_credit}
    after = {"confirmation_code": code, "status": order.status, "total": total, **override}
    audit_order(tx, "order.confirm", order, now, after=after)


async def _not_a_code(tx: Transaction, customer_id: int, text: str) -> DomainError:
    """Return the error for an unknown confirmation code, which may be an order's reference."""
    order = await find_own_order(tx, customer_id, text)
    if order is None:
        return unknown_code(text)
    message = f"{order.order_reference} is already {order.state}; only pending orders and quotes can be confirmed"
    return DomainError(Kind.NOT_FOUND, f"{message}, by their confirmation_code")


def _require_same_method(order: ConfirmedOrder, method_id: int | None) -> None:
    if method_id is None or method_id == order.shipping_method:
        return
    named_option(order.shipping_options, method_id)
    raise invalid(
        "shipping_method.id",
        f"the order is confirmed with shipping method {order.shipping_method}; ask support to change it",
    )


async def confirm_for_customer(
    tx: Transaction,
    order: AnyOrder,
    request: Confirmation,
    policy: OrderingPolicy,
    now: datetime,
    *,
    pricing: int | None = None,
) -> ConfirmedOrder:
    """Confirm a pending order or a priced quote, with the checks that its customer meets.

    The caller has checked the right to override the credit. `pricing` is the number of the price of a quote that was
    shown. Raises DomainError as `confirm_order` does.
    """
    method, override = request.shipping_method, request.override_credit
    confirmed, _ = await confirm_order(
        tx,
        order.customer_id,
        order.confirmation_code,
        None if method is None else method.id,
        policy,
        now,
        override_credit=None if override is None else override.reason,
        guards=ConfirmationGuards.of(request, pricing),
    )
    return confirmed
