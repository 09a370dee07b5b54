"""Orders on their way to being paid: dispatched, invoiced, read as a PDF file."""

import io
from decimal import Decimal
from typing import Any

from pypdf import PdfReader

from support.orders import buy, dispatch
from support.service import Customer, Service
from tradecounter.billing.issue_invoice import IssuedInvoice, issue_invoice
from tradecounter.billing.record_payment import record_payment
from tradecounter.billing.wire import CreditOrderStatus
from tradecounter.letterhead.seller import Letterhead, Seller

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
    return service.in_transaction(lambda tx: record_payment(tx, reference, pounds, service.clock.now()))


def pdf_text(pdf: bytes) -> str:
    """All the text of a PDF file, on one line, without the places at which long words may be broken."""
    text = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)
    return " ".join(text.replace("\u200b", "").split())


def invoice_text(customer: Customer, placed: dict[str, Any]) -> str:
    """The text of an order's invoice, as the API gives it."""
    response = customer.get(f"/order/{placed['order_reference']}/invoice")
    assert response.status_code == 200, response.text
    return pdf_text(response.content)
