"""Orders on their way to being paid: dispatched, invoiced, read as a PDF file."""

import io
import shutil
import subprocess
from decimal import Decimal
from typing import Any

from pypdf import PdfReader

from support.orders import buy, dispatch, rows
from support.service import Customer, Service
from tradecounter.billing.invoices import IssuedInvoice, issue_invoice
from tradecounter.billing.queries.invoice_records import fetch_invoice
from tradecounter.billing.queries.ledger import unallocated_of
from tradecounter.billing.wire import CreditOrderStatus
from tradecounter.credit_notes.issue_credit_note import issue_credit_note
from tradecounter.credit_notes.reseller_wire import CreditNote
from tradecounter.credit_notes.rules import CreditLine
from tradecounter.letterhead.seller import Letterhead, Seller
from tradecounter.payments.record_payment import NewPayment, pay_account, pay_invoice, pay_order, reverse_payment
from tradecounter.payments.wire import Payment

SELLER = Letterhead(Seller("Seller & Sons Ltd", ["7 Sales Street", "York", "YO1 7HH", "United Kingdom"], "GB123456782"))


def issue(service: Service, placed: dict[str, Any], letterhead: Letterhead = SELLER) -> IssuedInvoice:
    """Issue an order's invoice at the moment at which the service's clock stands."""
    reference = placed["order_reference"]
    return service.in_transaction(lambda tx: issue_invoice(tx, reference, letterhead, service.clock.now()))


def invoiced(service: Service, customer: Customer, *items: tuple[str, int], **values: Any) -> dict[str, Any]:
    """An order confirmed, dispatched and invoiced at once, as the API returned it."""
    placed = buy(customer, items or (("PHONE", 1),), **values)
    dispatch(service, placed)
    issue(service, placed)
    return placed


def pay(service: Service, placed: dict[str, Any], amount: str) -> CreditOrderStatus:
    """Record a payment at the moment at which the service's clock stands."""
    reference, pounds = placed["order_reference"], Decimal(amount)
    return service.in_transaction(lambda tx: pay_order(tx, reference, pounds, service.clock.now()))


def number_of(service: Service, placed: dict[str, Any]) -> int:
    """The latest invoice of an order."""
    [(number,)] = rows(
        service,
        "select max(i.number) from invoice i join orders o on o.id = i.order_id where o.id = %s",
        placed["order_id"],
    )
    return int(number)


def issue_part(service: Service, placed: dict[str, Any], *, part: bool = True) -> IssuedInvoice:
    """Invoice what is dispatched of an order."""
    reference, now = placed["order_reference"], service.clock.now()
    return service.in_transaction(lambda tx: issue_invoice(tx, reference, SELLER, now, part=part))


def pay_in(service: Service, customer: Customer, amount: str, invoice: int | None = None, **values: Any) -> Payment:
    """Record a payment of an invoice, or else of the account."""
    new, now = NewPayment(amount=Decimal(amount), **values), service.clock.now()
    if invoice is not None:
        return service.in_transaction(lambda tx: pay_invoice(tx, invoice, new, now))
    return service.in_transaction(lambda tx: pay_account(tx, customer.id, new, now))


def reverse(service: Service, payment: Payment) -> Payment:
    """Reverse a payment."""
    return service.in_transaction(lambda tx: reverse_payment(tx, payment.id, "bounced", service.clock.now()))


def unallocated(service: Service, customer: Customer) -> Decimal:
    """The money on an account."""
    return service.in_transaction(lambda tx: unallocated_of(tx, customer.id))


def due_of(service: Service, number: int) -> Decimal:
    """What is due of an invoice."""
    return service.in_transaction(lambda tx: fetch_invoice(tx, number)).due


def credit(
    service: Service,
    number: int,
    *lines: tuple[int | None, int],
    amount: str | None = None,
    reason: str = "broken",
    returned: int | None = None,
) -> CreditNote:
    """Credit lines of an invoice, as pairs of item id and quantity, or an amount."""
    wanted = Decimal(amount) if amount is not None else [CreditLine(*line) for line in lines]
    now = service.clock.now()
    return service.in_transaction(
        lambda tx: issue_credit_note(tx, number, wanted, reason, SELLER, now, returned=returned)
    )


def pdf_text(pdf: bytes) -> str:
    """All the text of a PDF file, on one line."""
    return " ".join(" ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages).split())


def copied_texts(pdf: bytes) -> list[str]:
    """All the text of a PDF file with its line ends, as each program that is installed here copies it."""
    texts = ["\n".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)]
    if program := shutil.which("pdftotext"):
        for layout in ([], ["-layout"], ["-raw"]):
            ran = subprocess.run([program, *layout, "-", "-"], input=pdf, capture_output=True, check=True)
            texts.append(ran.stdout.decode())
    return texts


def invoice_text(customer: Customer, placed: dict[str, Any]) -> str:
    """The text of an order's invoice, as the API gives it."""
    response = customer.get(f"/order/{placed['order_reference']}/invoice")
    assert response.status_code == 200, response.text
    return pdf_text(response.content)
