"""Sends a customer its statement by e-mail."""

from datetime import datetime

from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction


class SentStatement(Struct, frozen=True, kw_only=True):
    """A statement that is sent: who gets the e-mail."""

    customer_id: int
    recipient: str


async def send_statement(tx: Transaction, customer_id: int, now: datetime) -> SentStatement:
    """Queue the e-mail with a customer's statement as a PDF file. Raises DomainError (not found)."""
    account = await fetch_account(tx, customer_id)
    await queue(tx, "mail_statement", customer_id=customer_id, asked=int(now.timestamp()))
    audit(tx, "customer.send_statement", f"customer/{customer_id}", now, after={"recipient": account.billing_email})
    return SentStatement(customer_id=customer_id, recipient=account.billing_email)
