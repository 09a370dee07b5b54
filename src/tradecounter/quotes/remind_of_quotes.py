"""Reminds customers of priced quotes that are about to expire."""

from datetime import datetime, timedelta

from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.quotes.queries.pricings import mark_expiring_quotes

REMINDED_BEFORE = timedelta(hours=24)

_MOST = 500  # quotes in one transaction


async def remind_of_quotes(tx: Transaction, now: datetime) -> int:
    """Queue an e-mail about each quote that expires within 24 hours, once per pricing; return their number.

    Skips quotes that were priced for 24 hours or less: their customers have just received the price.
    """
    expiring = await mark_expiring_quotes(tx, now, REMINDED_BEFORE, _MOST)
    for quote in expiring:
        await queue(tx, "mail_quote_expiring", order_id=quote.id, pricing=quote.pricings)
    return len(expiring)
