"""Declines a quote: support tells the customer why there will be no price, or takes one back."""

from datetime import datetime

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.cancel_order import cancel_order
from tradecounter.orders.queries.all_orders import fetch_quote
from tradecounter.orders.requests import Cancellation
from tradecounter.orders.states import NumberedOrder, shown_state


async def decline_quote(tx: Transaction, code: str, reason: str, now: datetime) -> None:
    """Decline an open quote by its confirmation code, and queue the e-mail to the customer.

    Raises DomainError: not found, invalid (no reason), conflict (ordered, declined or expired).
    """
    quote = await fetch_quote(tx, code)
    if isinstance(quote, NumberedOrder):
        state = shown_state(quote, now)
        raise DomainError(Kind.CONFLICT, f"the quote is already order {quote.order_reference}, which is {state}")
    await cancel_order(tx, quote.confirmation_code, Cancellation(reason), now)
