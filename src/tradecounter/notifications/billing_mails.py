"""The e-mails about money: invoices, copies of them, and payments."""

from collections.abc import Sequence

from tradecounter.notifications.context import MailContext, NothingToSend
from tradecounter.notifications.mail import Attachment, Mail
from tradecounter.notifications.queries import InvoiceFacts, OrderFacts, invoice_facts, payment_facts
from tradecounter.ordering.states import ConfirmedOrder


async def order_invoiced(context: MailContext, *, order_id: int, resent: int = 0) -> Mail | None:
    """Send the invoice to the order's recipients; `resent` is the Unix time at which it was sent again."""
    facts, invoice = await _invoiced(context, order_id)
    return await _with_invoice(context, "order-invoiced", facts.recipients, facts.order, invoice, resent)


async def invoice_copy(context: MailContext, *, order_id: int, resent: int = 0) -> Mail | None:
    """Send a copy to the account's address for invoices (specification, section 6, rule 3)."""
    facts, invoice = await _invoiced(context, order_id)
    email = facts.account.accounts_email
    return await _with_invoice(context, "invoice-copy", [email] if email else [], facts.order, invoice, resent)


async def payment_received(context: MailContext, *, order_id: int, payment_id: int) -> Mail | None:
    """Send a receipt to the account's address for invoices, or else to the order's recipients."""
    facts, invoice = await _invoiced(context, order_id)
    payment = await payment_facts(context.tx, invoice.number, payment_id)
    if payment is None:
        raise NothingToSend(f"invoice {invoice.number} has no payment {payment_id}")
    recipients = [facts.account.accounts_email] if facts.account.accounts_email else facts.recipients
    return await context.mail(
        f"payment-received-{payment.id}",
        payment.paid_at,
        recipients,
        f"Payment received for invoice {invoice.number} (your reference {facts.order.customer_reference})",
        "payment_received",
        order=facts.order,
        invoice=invoice,
        payment=payment,
    )


async def _with_invoice(
    context: MailContext, about: str, to: Sequence[str], order: ConfirmedOrder, invoice: InvoiceFacts, resent: int
) -> Mail | None:
    # The name decides the Message-ID. Mail programs hide a second e-mail with the same id.
    return await context.mail(
        f"{about}-{invoice.number}" + (f"-{resent}" if resent else ""),
        invoice.issued_at,
        to,
        f"Invoice {invoice.number} for order {order.order_reference} (your reference {order.customer_reference})",
        "invoice",
        attachment=Attachment(f"invoice-{invoice.number}.pdf", invoice.pdf),
        order=order,
        invoice=invoice,
        bank=context.settings.letterhead.seller.bank,
        is_copy=about == "invoice-copy",
    )


async def _invoiced(context: MailContext, order_id: int) -> tuple[OrderFacts[ConfirmedOrder], InvoiceFacts]:
    facts, invoice = await context.order(order_id), await invoice_facts(context.tx, order_id)
    if invoice is None or not isinstance(facts.order, ConfirmedOrder):
        raise NothingToSend(f"order {order_id} has no invoice")
    return OrderFacts(facts.order, facts.account), invoice
