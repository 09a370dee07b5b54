"""Asks for the approval of orders, decides about them, and prices an order again whose prices expired meanwhile."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal

from msgspec import Raw, to_builtins

from tradecounter.approvals.queries import (
    Approval,
    Decision,
    fetch_approval,
    find_approval,
    insert_approval,
    move_approval,
    set_decided,
)
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.kit.json_text import to_json
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.cancel_order import replaced_by, withdraw_order
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.create.place_order import create_for_customer
from tradecounter.orders.guards import NO_GUARDS, ConfirmationGuards
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderContext, OrderingPolicy
from tradecounter.orders.queries.changes import take_out_of_basket
from tradecounter.orders.queries.notes import copy_own_notes
from tradecounter.orders.queries.orders import fetch_own_order_by_code, lines_of_order, lock_unconfirmed
from tradecounter.orders.shipping_options import choose_shipping, method_needed
from tradecounter.orders.states import (
    AnyOrder,
    ConfirmedOrder,
    NumberedOrder,
    OrderKind,
    PendingOrder,
    PricedQuote,
    ordered_already,
)
from tradecounter.orders.wire import CreateOrderItem, CreateOrderRequest


async def request_approval(
    tx: Transaction,
    customer_id: int,
    user_id: int,
    code: str,
    method_id: int | None,
    note: str,
    now: datetime,
    *,
    agent: str = "",
) -> PendingOrder | PricedQuote:
    """Ask the customer's approvers to confirm a pending order or a priced quote, with a shipping method; return it.

    The user asks, or the named agent that the user has allowed. The order is locked, as a confirmation locks it.

    Raises DomainError: not found; invalid; precondition failed (no method); conflict (asked already, or it cannot be
    confirmed any more). What was declined can be asked for again.
    """
    if note:
        note = require_text("note", note, LONGEST_REASON)
    order = await lock_unconfirmed(tx, customer_id, code)  # before the request, as a confirmation does
    if not isinstance(order, PendingOrder | PricedQuote) or order.has_expired(now):
        raise DomainError(Kind.CONFLICT, f"the {order.kind} cannot be confirmed any more")
    account = await fetch_account(tx, customer_id)
    named = order.shipping_method if method_id is None else method_id
    option = choose_shipping(order.shipping_options, named, account.shipping_method)
    if option is None:
        raise method_needed(order.shipping_options)
    gross = order.gross_with(option)
    if not await insert_approval(tx, order.id, user_id, option.id, gross, note, now, agent):
        raise DomainError(Kind.CONFLICT, "its approval is requested already")
    take_out_of_basket(tx, order)
    audit_order(tx, f"{order.kind}.request_approval", order, now, after={"total_gross": gross})
    record_order_event(tx, "order.approval_requested", order, now, total_gross=gross)
    queue(tx, "mail_approval_requested", order_id=order.id)
    return order


async def approve_order(
    tx: Transaction,
    customer_id: int | None,
    user_id: int | None,
    code: str,
    policy: OrderingPolicy,
    now: datetime,
    *,
    pricing: int | None = None,
) -> ConfirmedOrder:
    """Confirm an order or a quote that waits for approval, of a customer or, without `customer_id`, of any.

    `user_id` is who decides; None if staff do. A user confirms only what was shown: the total that was asked for, no
    lower one either; with `pricing`, the price of a quote with this number, since support may have priced it again.
    Staff set that price themselves, so nothing guards it.

    Raises DomainError as `confirm_order` and `_lock_waiting` do.
    """
    approval, waiting = await _lock_waiting(tx, customer_id, code, now)
    guards = NO_GUARDS
    if pricing is not None and isinstance(waiting, PricedQuote):
        guards = ConfirmationGuards(pricing=pricing)
    elif user_id is not None:
        guards = ConfirmationGuards(total=approval.gross)
    customer, method = approval.customer_id, approval.shipping_method
    order, _ = await confirm_order(tx, customer, approval.code, method, policy, now, guards=guards)
    await _decide(tx, approval, user_id, "approved", order.gross, now)
    audit_order(tx, "order.approve", order, now, after={"requested_by": approval.requester})
    return order


async def decline_order(
    tx: Transaction,
    customer_id: int | None,
    user_id: int | None,
    code: str,
    reason: str,
    now: datetime,
    *,
    mails_requester: bool = True,
) -> None:
    """Decline an order that waits for approval; a pending order is cancelled, a quote stays as it is.

    `customer_id` is whose it is; None for any customer's. `user_id` is who decides; None if staff do.
    Raises DomainError: invalid (no reason), and as `_lock_waiting` does.
    """
    reason = require_text("reason", reason, LONGEST_REASON)
    approval, order = await _lock_waiting(tx, customer_id, code, now)
    if isinstance(order, PendingOrder) and not order.has_expired(now):
        await withdraw_order(tx, order, reason, now)
    await _decide(tx, approval, user_id, "declined", approval.gross, now, reason, mails_requester=mails_requester)
    audit_order(tx, f"{order.kind}.decline_approval", order, now, after={"reason": reason})


async def end_replaced(
    tx: Transaction, customer_id: int, user_id: int | None, code: str, by: OrderKind, now: datetime
) -> None:
    """Decline an order that had expired when `user_id` replaced it, so that nobody prices it again and orders it too.

    A pending order that is replaced is cancelled, and its request has ended with it. Raises DomainError (conflict): an
    approver has priced the order again, and it waits or is ordered.
    """
    approval = await find_approval(tx, customer_id, code, now)
    if approval is None:
        return
    if approval.code != code.lower():
        later = await fetch_own_order_by_code(tx, customer_id, approval.code)
        if isinstance(later, NumberedOrder):
            raise ordered_already(later)
        if approval.state == "waiting":
            problem = f"an approver has priced it again: it waits for approval at {in_pounds(approval.gross)}"
            raise DomainError(Kind.CONFLICT, problem)
    elif approval.state == "waiting":
        is_own = user_id == approval.requested_by and not approval.agent
        reason = f"{replaced_by(by).capitalize()}."
        await decline_order(tx, customer_id, user_id, code, reason, now, mails_requester=not is_own)


async def approve_for_customer(tx: Transaction, code: str, policy: OrderingPolicy, now: datetime) -> Approval:
    """Have staff approve an order; return the request as it is then. Raises DomainError as `approve_order` does."""
    await approve_order(tx, None, None, code, policy, now)
    return await fetch_approval(tx, None, code, now)


async def decline_for_customer(tx: Transaction, code: str, reason: str, now: datetime) -> Approval:
    """Have staff decline an order; return the request as it is then. Raises DomainError as `decline_order` does."""
    await decline_order(tx, None, None, code, reason, now)
    return await fetch_approval(tx, None, code, now)


async def _lock_waiting(
    tx: Transaction, customer_id: int | None, code: str, now: datetime
) -> tuple[Approval, AnyOrder]:
    """Return the request for one of a customer's orders, and the order, which is locked, as a confirmation locks it.

    Raises DomainError: not found, and as `_require_waiting` does.
    """
    found = await fetch_approval(tx, customer_id, code, now)
    order = await lock_unconfirmed(tx, found.customer_id, found.code)
    approval = await fetch_approval(tx, customer_id, code, now)  # as it is after the wait for the lock
    if approval.state == "ended" and isinstance(order, NumberedOrder):
        raise ordered_already(order)
    return _require_waiting(approval, code), order


def _require_waiting(approval: Approval, code: str) -> Approval:
    """Return a request that waits.

    Raises DomainError (conflict) if it is decided or has ended, or if its order was priced again: who decides by the
    old code has not seen the new prices.
    """
    if approval.state == "ended":
        problem = "it has ended with its order, which was confirmed or cancelled, or has expired"
        raise DomainError(Kind.CONFLICT, problem)
    if approval.state != "waiting":
        raise DomainError(Kind.CONFLICT, "it is approved or declined already")
    if approval.code != code.lower():
        problem = f"it was priced again, and is {in_pounds(approval.gross)} now: decide about {approval.code}"
        raise DomainError(Kind.CONFLICT, problem)
    return approval


async def _decide(
    tx: Transaction,
    approval: Approval,
    user_id: int | None,
    state: Decision,
    gross: Decimal,
    now: datetime,
    reason: str = "",
    *,
    mails_requester: bool = True,
) -> None:
    await set_decided(tx, approval.order_id, state, user_id, gross, reason, now)
    if mails_requester:
        # A deleted user who asked is left out.
        asker = {} if approval.requested_by is None else {"asked_by": approval.requested_by}
        decided = int(now.timestamp())
        queue(tx, "mail_approval_decided", order_id=approval.order_id, decided=decided, **asker)


async def price_again(tx: Transaction, customer_id: int, code: str, context: OrderContext) -> PendingOrder:
    """Replace an order whose prices have expired by the same one at today's prices, which then waits for approval.

    Raises DomainError as `create_for_customer` does, and conflict if it is decided or has not expired, or if what it
    has cannot be ordered any more.
    """
    approval = _require_waiting(await fetch_approval(tx, customer_id, code, context.now), code)
    order = await fetch_own_order_by_code(tx, customer_id, code)
    if not isinstance(order, PendingOrder) or not order.has_expired(context.now):
        raise DomainError(Kind.CONFLICT, "its prices have not expired")
    lines = await lines_of_order(tx, order.id)
    with _saying_why():
        made = await create_for_customer(tx, _same(order, lines), context, replaces=code)
    _require_waiting(await fetch_approval(tx, customer_id, code, context.now), code)  # the old order is locked now
    if not isinstance(made, PendingOrder):
        raise TypeError("an order that is not to be confirmed is pending")
    option = choose_shipping(made.shipping_options, None, approval.shipping_method)
    option = option or next(iter(made.shipping_options), None)
    if option is None:
        raise method_needed(made.shipping_options)
    gross = made.gross_with(option)
    await move_approval(tx, order.id, made.id, option.id, gross, context.now)
    await copy_own_notes(tx, order.id, made.id)
    before, after = {"total_gross": approval.gross}, {"total_gross": gross}
    audit_order(tx, "order.price_again", made, context.now, before=before, after=after)
    return made


@contextmanager
def _saying_why() -> Iterator[None]:
    """Run a block; nobody can correct the fields of the same order, so their errors are a conflict without them."""
    try:
        yield
    except DomainError as error:
        if error.kind is not Kind.INVALID:
            raise
        why = "; ".join(field_error.message for field_error in error.field_errors) or error.message
        raise DomainError(Kind.CONFLICT, f"it cannot be priced again: {why}. Decline it, and order anew") from error


def _same(order: AnyOrder, lines: Sequence[OrderLine]) -> CreateOrderRequest:
    """Return the request for an order with the same lines and addresses."""
    return CreateOrderRequest(
        customer_reference=order.customer_reference,
        items=[CreateOrderItem(line.sku, line.quantity or line.cancelled) for line in lines],
        external_customer_id=order.external_customer_id,
        order_notifications=order.order_notifications,
        courier_notifications=order.courier_notifications,
        billing_address=_details(order.billing_address),
        shipping_address=_details(order.shipping_address),
        shipping_region=order.shipping_region,
        allow_back_orders=None if order.allow_back_orders else False,
    )


def _details(address: CustomerAddress) -> Raw:
    return Raw(to_json({field: value for field, value in to_builtins(address).items() if field != "id"}))
