"""Asks for the approval of an order, and decides about it."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Raw, to_builtins

from tradecounter.approvals.queries import Approval, State, find_approval, insert_approval, move_approval, set_decided
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.wire import CustomerAddress
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, not_found, require_text
from tradecounter.kit.json_text import to_json
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.create.create_for_customer import create_for_customer
from tradecounter.orders.find_own_order import fetch_own_order_by_code, lock_own_order
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderContext
from tradecounter.orders.queries.lines import lines_of_order
from tradecounter.orders.shipping_options import choose_shipping, method_needed
from tradecounter.orders.states import AnyOrder, ConfirmedOrder, NumberedOrder, PendingOrder, PricedQuote
from tradecounter.orders.wire import CreateOrderItem, CreateOrderRequest
from tradecounter.orders.withdraw_order import withdraw_order


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
    confirmed any more).
    """
    if note:
        require_text("note", note, LONGEST_REASON)
    order = await lock_own_order(tx, customer_id, code)  # before the request, as a confirmation does
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
    audit_order(tx, f"{order.kind}.request_approval", order, now, after={"total_gross": gross})
    record_order_event(tx, "order.approval_requested", order, now, total_gross=gross)
    await queue(tx, "mail_approval_requested", order_id=order.id)
    return order


async def approve_order(
    tx: Transaction, customer_id: int, user_id: int | None, code: str, context: OrderContext
) -> ConfirmedOrder:
    """Confirm an order that waits for approval. `user_id` is who decides; None if staff do.

    Raises DomainError as `confirm_order` does, and conflict if it is decided.
    """
    approval = await waiting_approval(tx, customer_id, code)
    order, _ = await confirm_order(tx, code, approval.shipping_method, context)
    await _decide(tx, approval, user_id, "approved", context.now)
    audit_order(tx, "order.approve", order, context.now, after={"requested_by": approval.requester})
    return order


async def decline_order(
    tx: Transaction, customer_id: int, user_id: int | None, code: str, reason: str, now: datetime
) -> None:
    """Decline an order that waits for approval; a pending order is cancelled, a quote stays as it is.

    `user_id` is who decides; None if staff do. Raises DomainError: not found, invalid (no reason), conflict (decided,
    or ordered already).
    """
    require_text("reason", reason, LONGEST_REASON)
    approval = await waiting_approval(tx, customer_id, code)
    order = await lock_own_order(tx, customer_id, code)  # before the request, as a confirmation does
    if isinstance(order, NumberedOrder):
        raise DomainError(Kind.CONFLICT, f"it is already order {order.order_reference}")
    if isinstance(order, PendingOrder) and not order.has_expired(now):
        await withdraw_order(tx, customer_id, code, reason, now)
    await _decide(tx, approval, user_id, "declined", now, reason)
    audit_order(tx, f"{order.kind}.decline_approval", order, now, after={"reason": reason})


async def price_again(tx: Transaction, customer_id: int, code: str, context: OrderContext) -> PendingOrder:
    """Replace an order whose prices have expired by the same one at today's prices, which then waits for approval.

    Raises DomainError as `create_for_customer` does, and conflict if it is decided or has not expired.
    """
    approval = await waiting_approval(tx, customer_id, code)
    order = await fetch_own_order_by_code(tx, customer_id, code)
    if not isinstance(order, PendingOrder) or not order.has_expired(context.now):
        raise DomainError(Kind.CONFLICT, "its prices have not expired")
    lines = await lines_of_order(tx, order.id)
    made, _ = await create_for_customer(
        tx, _same(order, lines), context, confirm=False, override_credit=None, replaces=code
    )
    if not isinstance(made, PendingOrder):
        raise TypeError("an order that is not to be confirmed is pending")
    option = choose_shipping(made.shipping_options, None, approval.shipping_method)
    option = option or next(iter(made.shipping_options), None)
    if option is None:
        raise method_needed(made.shipping_options)
    gross = made.gross_with(option)
    if not await move_approval(tx, order.id, made.id, option.id, gross, context.now):
        raise _decided()
    before, after = {"total_gross": approval.gross}, {"total_gross": gross}
    audit_order(tx, "order.price_again", made, context.now, before=before, after=after)
    return made


async def waiting_approval(tx: Transaction, customer_id: int, code: str) -> Approval:
    """Return the request for one of a customer's orders.

    Raises DomainError: not found; conflict if it is decided, or if its order was priced again: who decides by the old
    code has not seen the new prices.
    """
    found = await find_approval(tx, customer_id, code)
    if found is None:
        raise not_found("request for approval", code)
    if found.state != "waiting":
        raise _decided()
    if found.code != code.lower():
        problem = f"it was priced again, and is {in_pounds(found.gross)} now: decide about {found.code}"
        raise DomainError(Kind.CONFLICT, problem)
    return found


async def _decide(
    tx: Transaction, approval: Approval, user_id: int | None, state: State, now: datetime, reason: str = ""
) -> None:
    if not await set_decided(tx, approval.order_id, state, user_id, reason, now):
        raise _decided()
    await queue(tx, "mail_approval_decided", order_id=approval.order_id)


def _decided() -> DomainError:
    return DomainError(Kind.CONFLICT, "it is approved or declined already")


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
        allow_back_orders=None if order.allow_back_orders else False,
    )


def _details(address: CustomerAddress) -> Raw:
    return Raw(to_json({field: value for field, value in to_builtins(address).items() if field != "id"}))
