"""Erases the personal data of a customer, except what tax law requires.

Invoices, payments, and the items and sums of orders stay, and so do the event log and the audit log.
"""

from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import the_account
from tradecounter.db.changes import bump
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.returns.wire import return_number
from tradecounter.privacy.queries.erasure import erase_rows, lock_all_of, open_business

_MOST_NAMED = 20


async def erase_customer(tx: Transaction, customer_id: int, now: datetime) -> None:
    """Erase a customer; its keys and tokens stop working. Raises DomainError: not found, conflict (open or owed)."""
    await lock_all_of(tx, customer_id)
    account = await the_account(tx, customer_id)
    email = f"erased-{customer_id}@erased.invalid"
    if account.email_address == email:
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} is already erased")
    found = await open_business(tx, customer_id)
    if found.orders:
        named = ", ".join(found.orders[:_MOST_NAMED])
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} has {len(found.orders)} open orders: {named}")
    if found.returns:
        named = ", ".join(map(return_number, found.returns[:_MOST_NAMED]))
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} has {len(found.returns)} open returns: {named}")
    if found.owed:
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} owes {found.owed}")
    if found.unallocated:
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} has {found.unallocated} on its account: refund it")
    await erase_rows(tx, customer_id, email, now)
    for topic in ("customers", "keys", "contracts"):
        await bump(tx, topic)
    subject = f"customer/{customer_id}"
    audit(tx, "customer.erase", subject, now, after={"email_address": email})
    record_event(tx, "customer.changed", subject, now, customer_id, {"customer_id": customer_id, "changed": ["erased"]})
