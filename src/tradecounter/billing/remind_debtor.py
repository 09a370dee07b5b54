"""Reminds a customer of all invoices that are not paid, when staff ask for it."""

from datetime import datetime
from decimal import Decimal

from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.billing.queries.debtors import unpaid_of
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind


class Reminder(Struct, frozen=True, kw_only=True):
    """A reminder: the number of unpaid invoices, what is due and overdue, in pounds, and who gets the e-mail."""

    customer_id: int
    invoices: int
    due: Decimal
    overdue: Decimal
    recipient: str


async def read_reminder(tx: Transaction, customer_id: int, now: datetime) -> Reminder:
    """Return the reminder that a customer would get now. Raises DomainError: not found, conflict (nothing is due)."""
    account = await fetch_account(tx, customer_id)
    unpaid = await unpaid_of(tx, customer_id, now)
    if not unpaid.invoices:
        raise DomainError(Kind.CONFLICT, f"customer {customer_id} has no unpaid invoices")
    return Reminder(
        customer_id=customer_id,
        invoices=unpaid.invoices,
        due=unpaid.due,
        overdue=unpaid.overdue,
        recipient=account.billing_email,
    )


async def remind_debtor(tx: Transaction, customer_id: int, now: datetime) -> Reminder:
    """Queue the e-mail with a customer's unpaid invoices. Raises DomainError as `read_reminder` does."""
    reminder = await read_reminder(tx, customer_id, now)
    await queue(tx, "mail_debtor_reminded", customer_id=customer_id, asked=int(now.timestamp()))
    after = {"invoices": reminder.invoices, "due": reminder.due, "recipient": reminder.recipient}
    audit(tx, "customer.remind", f"customer/{customer_id}", now, after=after)
    return reminder
