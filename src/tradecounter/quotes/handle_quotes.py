"""Requests, confirms and declines quotes, and reminds customers of those about to expire (specification, section 3)."""

from datetime import datetime, timedelta

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import Code, DomainError, Kind, not_found, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.kit.wire import made_from
from tradecounter.orders.cancel_order import cancel_unconfirmed, withdraw_order
from tradecounter.orders.confirm_order import confirm_for_customer
from tradecounter.orders.create.place_order import checked_draft, current_standing, record_creation
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderContext, OrderingPolicy
from tradecounter.orders.queries.changes import take_out_of_basket
from tradecounter.orders.queries.create import AccountStanding, insert_order
from tradecounter.orders.queries.orders import lock_by_code, lock_unconfirmed
from tradecounter.orders.reseller_wire import Confirmation
from tradecounter.orders.states import (
    AnyOrder,
    CancelledUnconfirmed,
    ConfirmedOrder,
    NumberedOrder,
    UnpricedQuote,
    ordered_already,
)
from tradecounter.orders.wire import CreateOrderRequest
from tradecounter.quotes.queries import fetch_own_quote, fetch_quote, mark_expiring_quotes


async def request_quote(
    tx: Transaction,
    request: CreateOrderRequest,
    standing: AccountStanding,
    context: OrderContext,
    *,
    checks_credit: bool = True,
    replaces: str | None = None,
) -> tuple[UnpricedQuote, list[OrderLine]]:
    """Create an unpriced quote, queue the e-mails to support and the customer, and return the quote with its lines.

    Raises DomainError as `checked_draft` does, also invalid with `auto_confirm`.
    """
    draft, lines = await checked_draft(
        tx, "quote", request, standing, context, checks_credit=checks_credit, replaces=replaces
    )
    quote = made_from(draft, UnpricedQuote)
    insert_order(tx, quote, lines)
    take_out_of_basket(tx, quote)
    record_creation(tx, "quote.request", "quote.requested", quote, replaces)
    queue(tx, "mail_quote_requested", f"quotes of customer {context.customer_id}", order_id=quote.id)
    queue(tx, "mail_quote_received", order_id=quote.id)
    return quote, lines


async def quote_for_customer(
    tx: Transaction, request: CreateOrderRequest, context: OrderContext, *, replaces: str | None = None
) -> UnpricedQuote:
    """Request a quote with the account's standing as it is now, also beyond its credit, which its confirmation checks.

    Raises DomainError as `request_quote` does.
    """
    standing, context = await current_standing(tx, "quote", request, context)
    quote, _ = await request_quote(tx, request, standing, context, checks_credit=False, replaces=replaces)
    return quote


async def confirm_quote(
    tx: Transaction,
    code: str,
    request: Confirmation,
    policy: OrderingPolicy,
    now: datetime,
    *,
    pricing: int | None = None,
) -> ConfirmedOrder:
    """Confirm a priced quote by its whole code; a confirmed quote stays unchanged.

    `pricing` is the number of the price that was shown; without it, any price is confirmed.
    Raises DomainError: not found, precondition failed (not priced), and the errors of `confirm_for_customer`.
    """
    quote = await fetch_quote(tx, code)
    if isinstance(quote, UnpricedQuote):
        raise DomainError(
            Kind.PRECONDITION_FAILED, f"the quote {code} is not priced yet: price it first", code=Code.NOT_PRICED
        )
    return await confirm_for_customer(tx, quote, request, policy, now, pricing=pricing)


async def decline_own_quote(tx: Transaction, customer_id: int, code: str, reason: str, now: datetime) -> AnyOrder:
    """Decline a customer's open quote by its confirmation code, without an e-mail; return the quote.

    One that is declined already stays as it is. Raises DomainError as `fetch_own_quote` and `withdraw_order` do.
    """
    quote = await lock_unconfirmed(tx, customer_id, code, "quote")
    if isinstance(quote, CancelledUnconfirmed):
        return quote
    await withdraw_order(tx, quote, reason, now)
    return await fetch_own_quote(tx, customer_id, code)


async def decline_quote(tx: Transaction, code: str, reason: str, now: datetime) -> None:
    """Decline an open quote by its confirmation code, and queue the e-mail to the customer.

    Raises DomainError: not found, invalid (no reason), conflict (ordered, declined or expired).
    """
    quote = await lock_by_code(tx, code)  # a customer who accepts it meanwhile keeps the order
    if quote is None or quote.kind != "quote":
        raise not_found("quote", code)
    if isinstance(quote, NumberedOrder):
        raise ordered_already(quote)
    reason = require_text("reason", reason, LONGEST_REASON)
    await cancel_unconfirmed(tx, quote, reason, now)
    queue(tx, "mail_order_cancelled", order_id=quote.id)


REMINDED_BEFORE = timedelta(hours=24)
_MOST = 500  # quotes in one transaction


async def remind_of_quotes(tx: Transaction, now: datetime) -> int:
    """Queue an e-mail about each quote that expires within 24 hours, once per pricing; return their number.

    Skips quotes that were priced for 24 hours or less: their customers have just received the price.
    """
    expiring = await mark_expiring_quotes(tx, now, REMINDED_BEFORE, _MOST)
    for order_id, pricing in expiring:
        queue(tx, "mail_quote_expiring", order_id=order_id, pricing=pricing)
    return len(expiring)
