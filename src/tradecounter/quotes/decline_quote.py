"""Declines a quote: support tells the customer why there will be no price; or the customer does not want it."""

from datetime import datetime

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import not_found, require_text
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.cancel_order import cancel_unconfirmed
from tradecounter.orders.queries.orders import lock_by_code, lock_own_order
from tradecounter.orders.states import AnyOrder, CancelledUnconfirmed, NumberedOrder, ordered_already
from tradecounter.orders.withdraw_order import withdraw_order
from tradecounter.quotes.queries.quotes import fetch_own_quote


async def decline_own_quote(tx: Transaction, customer_id: int, code: str, reason: str, now: datetime) -> AnyOrder:
    """Decline a customer's open quote by its confirmation code, without an e-mail; return the quote.

    One that is declined already stays as it is. Raises DomainError as `fetch_own_quote` and `withdraw_order` do.
    """
    await fetch_own_quote(tx, customer_id, code)
    quote = await lock_own_order(tx, customer_id, code)
    if isinstance(quote, CancelledUnconfirmed):
        return quote
    await withdraw_order(tx, customer_id, code, reason, now)
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
    reason = reason.strip()
    require_text("reason", reason, LONGEST_REASON)
    await cancel_unconfirmed(tx, quote, reason, now)
    await queue(tx, "mail_order_cancelled", order_id=quote.id)
