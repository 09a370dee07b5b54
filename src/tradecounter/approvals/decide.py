"""Decides about orders that wait for approval."""

from datetime import datetime
from decimal import Decimal

from tradecounter.approvals.queries import Approval, State, fetch_approval, fetch_own_approval, set_decided
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.find_own_order import fetch_own_order_by_code, lock_own_order
from tradecounter.orders.guards import priced_again
from tradecounter.orders.history import audit_order
from tradecounter.orders.policy import OrderingPolicy
from tradecounter.orders.shipping_options import find_option
from tradecounter.orders.states import ConfirmedOrder, NumberedOrder, PendingOrder, ordered_already
from tradecounter.orders.withdraw_order import withdraw_order


async def approve_order(
    tx: Transaction,
    customer_id: int,
    user_id: int | None,
    code: str,
    policy: OrderingPolicy,
    now: datetime,
    *,
    seen: Decimal | None = None,
) -> ConfirmedOrder:
    """Confirm an order that waits for approval. `user_id` is who decides; None if staff do.

    `seen` is the total that was shown to whoever decides, by default that of the request: support may have priced a
    quote again since. Raises DomainError as `confirm_order` does, and conflict if it is decided or costs more.
    """
    approval = await fetch_waiting_approval(tx, customer_id, code)
    order, _ = await confirm_order(tx, customer_id, code, approval.shipping_method, policy, now)
    if order.gross > (approval.gross if seen is None else seen):
        raise priced_again(order)
    await _decide(tx, approval, user_id, "approved", order.gross, now)
    audit_order(tx, "order.approve", order, now, after={"requested_by": approval.requester})
    return order


async def decline_order(
    tx: Transaction, customer_id: int, user_id: int | None, code: str, reason: str, now: datetime
) -> None:
    """Decline an order that waits for approval; a pending order is cancelled, a quote stays as it is.

    `user_id` is who decides; None if staff do. Raises DomainError: not found, invalid (no reason), conflict (decided,
    or ordered already).
    """
    require_text("reason", reason, LONGEST_REASON)
    approval = await fetch_waiting_approval(tx, customer_id, code)
    order = await lock_own_order(tx, customer_id, code)  # before the request, as a confirmation does
    if isinstance(order, NumberedOrder):
        raise ordered_already(order)
    if isinstance(order, PendingOrder) and not order.has_expired(now):
        await withdraw_order(tx, customer_id, code, reason, now)
    await _decide(tx, approval, user_id, "declined", approval.gross, now, reason)
    audit_order(tx, f"{order.kind}.decline_approval", order, now, after={"reason": reason})


async def approve_for_customer(tx: Transaction, code: str, policy: OrderingPolicy, now: datetime) -> Approval:
    """Have staff approve an order; return the request as it is then. Raises DomainError as `approve_order` does.

    A quote that was priced again is approved at its price now, which staff have set.
    """
    asked = await fetch_approval(tx, code)
    order = await fetch_own_order_by_code(tx, asked.customer_id, asked.code)
    option = find_option(order.shipping_options, asked.shipping_method)
    seen = None if option is None else order.gross_with(option)
    await approve_order(tx, asked.customer_id, None, code, policy, now, seen=seen)
    return await fetch_approval(tx, code)


async def decline_for_customer(tx: Transaction, code: str, reason: str, now: datetime) -> Approval:
    """Have staff decline an order; return the request as it is then. Raises DomainError as `decline_order` does."""
    asked = await fetch_approval(tx, code)
    await decline_order(tx, asked.customer_id, None, code, reason, now)
    return await fetch_approval(tx, code)


async def fetch_waiting_approval(tx: Transaction, customer_id: int, code: str) -> Approval:
    """Return the request for one of a customer's orders.

    Raises DomainError: not found; conflict if it is decided, or if its order was priced again: who decides by the old
    code has not seen the new prices.
    """
    found = await fetch_own_approval(tx, customer_id, code)
    if found.state != "waiting":
        raise decided_already()
    if found.code != code.lower():
        problem = f"it was priced again, and is {in_pounds(found.gross)} now: decide about {found.code}"
        raise DomainError(Kind.CONFLICT, problem)
    return found


async def _decide(
    tx: Transaction,
    approval: Approval,
    user_id: int | None,
    state: State,
    gross: Decimal,
    now: datetime,
    reason: str = "",
) -> None:
    if not await set_decided(tx, approval.order_id, state, user_id, gross, reason, now):
        raise decided_already()
    await queue(tx, "mail_approval_decided", order_id=approval.order_id)


def decided_already() -> DomainError:
    """Return the error for a request that is approved or declined."""
    return DomainError(Kind.CONFLICT, "it is approved or declined already")
