"""Tells users who want it that invoices are due soon."""

from datetime import datetime, time, timedelta

from tradecounter.alerts.queries.chosen_alerts import find_invoices_due
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.local_time import at_uk_time, uk_date

DAYS_BEFORE = 3


async def tell_of_due_invoices(tx: Transaction, now: datetime) -> int:
    """Queue an e-mail for each user with invoices that come due within three days; return how many.

    Each invoice is in one e-mail, on the first day on which it is near.
    """
    until = at_uk_time(uk_date(now) + timedelta(days=DAYS_BEFORE + 1), time())
    users = await find_invoices_due(tx, until)
    for user_id in users:
        await queue(tx, "mail_invoices_due", user_id=user_id, until=int(until.timestamp()))
    return len(users)
