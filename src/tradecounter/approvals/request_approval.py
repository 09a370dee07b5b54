"""Asks for the approval of an order."""

from datetime import datetime

from tradecounter.approvals.queries import insert_approval
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.history import audit_order, record_order_event
from tradecounter.orders.queries.orders import lock_own_order
from tradecounter.orders.shipping_options import choose_shipping, method_needed
from tradecounter.orders.states import PendingOrder, PricedQuote


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
