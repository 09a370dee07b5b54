"""The e-mails about money: invoices, copies of them, and payments."""

from collections.abc import Sequence
from decimal import Decimal
from functools import partial

import structlog
from msgspec.structs import replace

from tradecounter.billing.account_statement import StatementPeriod, print_statement, read_statement, recent_days
from tradecounter.billing.queries.invoice_records import (
    InvoiceRecord,
    invoices_paid_by,
    invoices_to_pay,
    whole_invoices_of,
)
from tradecounter.billing.queries.invoices import PRINTED_INVOICES
from tradecounter.billing.queries.ledger import unallocated_of
from tradecounter.credit_notes.queries import PRINTED_CREDIT_NOTES, find_credit_note
from tradecounter.customers.queries.accounts import find_account
from tradecounter.customers.settings import Account
from tradecounter.notifications.context import MailContext, NothingToSend
from tradecounter.notifications.mail import Attachment, Drawing, Mail
from tradecounter.notifications.queries import OrderFacts
from tradecounter.orders.states import ConfirmedOrder
from tradecounter.payments.queries.payments import payments_with_ids
from tradecounter.payments.wire import present_payment

log = structlog.get_logger()

_MOST_NAMED = 5


async def order_invoiced(context: MailContext, *, order_id: int, number: int, resent: int = 0) -> Mail | None:
    """Send an invoice to the order's recipients; `resent` is the Unix time of a repetition."""
    facts, invoice = await _invoiced(context, order_id, number)
    return await _with_invoice(context, "order-invoiced", facts.recipients, invoice, resent)


async def invoice_copy(context: MailContext, *, order_id: int, number: int, resent: int = 0) -> Mail | None:
    """Send a copy to the account's address for invoices (specification, section 6)."""
    facts, invoice = await _invoiced(context, order_id, number)
    email = facts.account.accounts_email
    return await _with_invoice(context, "invoice-copy", [email] if email else [], invoice, resent)


async def payment_received(context: MailContext, *, payment_id: int) -> Mail | None:
    """Send a receipt to the account's address for invoices, or else to the recipients of the latest paid order."""
    payment = next(iter(await payments_with_ids(context.tx, [payment_id])), None)
    account = None if payment is None else await find_account(context.tx, payment.customer_id)
    if payment is None or account is None:
        raise NothingToSend(f"payment {payment_id} does not exist")
    if payment.reversed_at is not None:
        log.info("receipt not sent: the payment is reversed", payment_id=payment_id)
        return None
    invoices = await invoices_paid_by(context.tx, payment_id)
    recipients = [account.billing_email]
    if invoices and not account.accounts_email:
        recipients = (await context.order(invoices[-1].order_id)).recipients
    subject = "Payment received"
    if len(invoices) == 1:
        subject += f" for invoice {invoices[0].number} (your reference {invoices[0].customer_reference})"
    elif invoices:
        subject += f" for invoices {', '.join(str(invoice.number) for invoice in invoices[:_MOST_NAMED])}"
        subject += " and more" if len(invoices) > _MOST_NAMED else ""
    return await context.mail(
        f"payment-received-{payment.id}",
        payment.recorded_at,
        recipients,
        subject,
        "payment_received",
        invoices=invoices,
        payment=present_payment(payment),
    )


async def credit_note(context: MailContext, *, order_id: int, number: int) -> Mail | None:
    """Send a credit note to the account's address for invoices, or else to the order's recipients."""
    note = await find_credit_note(context.tx, number)
    if note is None:
        raise NothingToSend(f"credit note {number} does not exist")
    facts, invoice = await _invoiced(context, order_id, note.invoice)
    printed = await PRINTED_CREDIT_NOTES.one(context.tx, number)
    return await context.mail(
        f"credit-note-{number}",
        note.issued_at,
        _payers(facts),
        f"Credit note {number} for invoice {note.invoice} (your reference {invoice.customer_reference})",
        "credit_note",
        attachment=Attachment(f"credit-note-{number}.pdf", printed.pdf),
        note=note,
        invoice=invoice,
    )


async def invoice_overdue(context: MailContext, *, order_id: int, number: int, stage: int) -> Mail | None:
    """Remind of an overdue invoice; None if it is paid."""
    facts, invoice = await _invoiced(context, order_id, number)
    if not invoice.due:
        return None
    return await context.mail(
        f"invoice-overdue-{number}-{stage}",
        context.now,
        _payers(facts),
        f"Invoice {number} is overdue (your reference {invoice.customer_reference})",
        "invoice_overdue",
        attachment=await _printed(context, invoice),
        invoice=invoice,
        bank=context.settings.letterhead.seller.bank,
    )


async def debtor_reminded(context: MailContext, *, customer_id: int, asked: int) -> Mail | None:
    """Name a customer's unpaid invoices; `asked` is the Unix time of the request. None if all are paid by now."""
    account = await find_account(context.tx, customer_id)
    invoices = await invoices_to_pay(context.tx, customer_id)
    if account is None:
        raise NothingToSend(f"customer {customer_id} does not exist")
    if not invoices:
        return None
    return await unpaid_mail(
        context,
        f"debtor-reminded-{customer_id}-{asked}",
        account.billing_email,
        f"Unpaid invoices of {account.name}",
        account,
        invoices,
        heading="Unpaid invoices",
    )


async def statement(context: MailContext, *, customer_id: int, asked: int) -> Mail | None:
    """Send a customer its last twelve months as a PDF file; `asked` is the Unix time of the request."""
    account = await find_account(context.tx, customer_id)
    if account is None:
        raise NothingToSend(f"customer {customer_id} does not exist")
    account_statement = await read_statement(
        context.tx, customer_id, *recent_days(StatementPeriod(), context.now), context.now
    )
    name = f"statement-{customer_id}-{account_statement.until}.pdf"
    draw = partial(print_statement, account_statement, account.name, context.settings.letterhead, context.now)
    mail = await context.mail(
        f"statement-{customer_id}-{asked}",
        context.now,
        [account.billing_email],
        f"Statement of {account.name}",
        "statement",
        account=account,
        statement=account_statement,
        link=context.settings.page("account", "invoice/statement"),
        bank=context.settings.letterhead.seller.bank,
    )
    return None if mail is None else replace(mail, drawing=Drawing(name, draw))


async def unpaid_mail(
    context: MailContext,
    name: str,
    to: str,
    subject: str,
    account: Account,
    invoices: Sequence[InvoiceRecord],
    *,
    heading: str,
    alerts: str = "",
) -> Mail | None:
    """Name unpaid invoices, and how to pay them. `alerts` is the page of a user who asked for it."""
    return await context.mail(
        name,
        context.now,
        [to],
        subject,
        "unpaid_invoices",
        heading=heading,
        invoices=invoices,
        late=sum(invoice.due_at < context.now for invoice in invoices),
        due=sum((invoice.due for invoice in invoices), Decimal()),
        in_advance=await unallocated_of(context.tx, account.id),
        now=context.now,
        account=account,
        link=context.settings.page("account", "invoice"),
        alerts=alerts,
        bank=context.settings.letterhead.seller.bank,
    )


def _payers(facts: OrderFacts[ConfirmedOrder]) -> list[str]:
    return [facts.account.accounts_email] if facts.account.accounts_email else facts.recipients


async def _with_invoice(
    context: MailContext, about: str, to: Sequence[str], invoice: InvoiceRecord, resent: int
) -> Mail | None:
    # The name decides the Message-ID. Mail programs hide a second e-mail with the same id.
    return await context.mail(
        f"{about}-{invoice.number}" + (f"-{resent}" if resent else ""),
        invoice.issued_at,
        to,
        f"Invoice {invoice.number} for order {invoice.order_reference} (your reference {invoice.customer_reference})",
        "invoice",
        attachment=await _printed(context, invoice),
        invoice=invoice,
        bank=context.settings.letterhead.seller.bank,
        is_copy=about == "invoice-copy",
    )


async def _invoiced(
    context: MailContext, order_id: int, number: int
) -> tuple[OrderFacts[ConfirmedOrder], InvoiceRecord]:
    """Return an order and its invoice with a number."""
    facts = await context.order(order_id)
    invoices = await whole_invoices_of(context.tx, order_id)
    invoice = next((each for each in invoices if each.number == number), None)
    if invoice is None or not isinstance(facts.order, ConfirmedOrder):
        raise NothingToSend(f"order {order_id} has no invoice")
    return OrderFacts(facts.order, facts.account), invoice


async def _printed(context: MailContext, invoice: InvoiceRecord) -> Attachment:
    found = await PRINTED_INVOICES.one(context.tx, invoice.number)
    return Attachment(f"invoice-{found.number}.pdf", found.pdf)
