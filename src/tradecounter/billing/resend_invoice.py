"""Sends an invoice again to its recipients."""

from datetime import datetime

from msgspec import Struct

from tradecounter.audit.record import audit
from tradecounter.billing.queries.invoice_records import fetch_invoice
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import JobName, queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.queries.orders import find_order_by_id


class ResentInvoice(Struct, frozen=True):
    """An invoice and the recipients' e-mail addresses."""

    number: int
    order_reference: str
    recipients: list[str]


async def resend_invoice(tx: Transaction, number: int, now: datetime) -> ResentInvoice:
    """Queue an invoice's e-mails again: to the order's recipient and to the account's address for invoices.

    Raises DomainError: not found, conflict (no recipients).
    """
    invoice = await fetch_invoice(tx, number)
    order = await find_order_by_id(tx, invoice.order_id)
    account = await fetch_account(tx, invoice.customer_id)
    contact = order.mail_recipient(account) if order is not None else None
    mails: dict[JobName, str | None] = {"mail_order_invoiced": contact, "mail_invoice_copy": account.accounts_email}
    recipients = [address for address in mails.values() if address]
    if not recipients:
        raise DomainError(
            Kind.CONFLICT,
            f"invoice {number} has no recipients: the order has no contact e-mail address, and customer {account.id} "
            "has no accounts_email and gets no order e-mails; change this with `customer edit`",
        )
    for job, address in mails.items():
        if address:
            await queue(tx, job, order_id=invoice.order_id, number=number, resent=int(now.timestamp()))
    audit(tx, "invoice.resend", f"invoice/{number}", now, after={"recipients": recipients})
    return ResentInvoice(number, invoice.order_reference, recipients)
