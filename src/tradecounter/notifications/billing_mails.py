"""The mails about money: invoices, copies of them, and payments."""

from collections.abc import Sequence

from tradecounter.notifications.letters import NothingToTell, Writing
from tradecounter.notifications.mail import Attachment, Mail
from tradecounter.notifications.queries import InvoiceFacts, OrderFacts, invoice_facts, payment_facts
from tradecounter.ordering.states import ConfirmedOrder


async def order_invoiced(writing: Writing, *, order_id: int, resent: int = 0) -> Mail | None:
    """Send the invoice to whom the order's mails go; `resent` is the second at which it is sent once more."""
    facts, invoice = await _invoiced(writing, order_id)
    if not facts.told:
        return None
    return await _with_invoice(writing, "order-invoiced", facts.told, facts.order, invoice, resent)


async def invoice_copy(writing: Writing, *, order_id: int, resent: int = 0) -> Mail | None:
    """Send a copy of the invoice to the account's address for them (specification, section 6, rule 3)."""
    facts, invoice = await _invoiced(writing, order_id)
    if facts.account.accounts_email is None:
        return None
    return await _with_invoice(writing, "invoice-copy", [facts.account.accounts_email], facts.order, invoice, resent)


async def payment_received(writing: Writing, *, order_id: int, payment_id: int) -> Mail | None:
    """Tell the account's address for invoices, or else whom the order's mails go to, that a payment came in."""
    facts, invoice = await _invoiced(writing, order_id)
    payment = await payment_facts(writing.tx, invoice.number, payment_id)
    if payment is None:
        raise NothingToTell(f"invoice {invoice.number} has no payment {payment_id}")
    recipients = [facts.account.accounts_email] if facts.account.accounts_email else facts.told
    if not recipients:
        return None
    return await writing.mail(
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
    writing: Writing, about: str, to: Sequence[str], order: ConfirmedOrder, invoice: InvoiceFacts, resent: int
) -> Mail:
    # A mail of another name has another Message-ID: with the same one, mail programs would hide it.
    return await writing.mail(
        f"{about}-{invoice.number}" + (f"-{resent}" if resent else ""),
        invoice.issued_at,
        to,
        f"Invoice {invoice.number} for order {order.order_reference} (your reference {order.customer_reference})",
        "invoice",
        attachment=Attachment(f"invoice-{invoice.number}.pdf", invoice.pdf),
        order=order,
        invoice=invoice,
        bank=writing.office.letterhead.seller.bank,
        is_copy=about == "invoice-copy",
    )


async def _invoiced(writing: Writing, order_id: int) -> tuple[OrderFacts[ConfirmedOrder], InvoiceFacts]:
    facts, invoice = await writing.order(order_id), await invoice_facts(writing.tx, order_id)
    if invoice is None or not isinstance(facts.order, ConfirmedOrder):
        raise NothingToTell(f"order {order_id} has no invoice")
    return OrderFacts(facts.order, facts.account), invoice
