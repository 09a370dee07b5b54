"""Orders on their way to being paid: dispatched, invoiced, read as a PDF file."""

import io
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from pypdf import PdfReader

from support.orders import buy
from support.service import Customer, Service
from tradecounter.billing.invoice_document import Party
from tradecounter.billing.issue_invoice import IssuedInvoice, issue_invoice
from tradecounter.billing.record_payment import record_payment
from tradecounter.billing.wire import CreditOrderStatus
from tradecounter.db.rows import execute
from tradecounter.db.transaction import Transaction

SELLER = Party("Seller & Sons Ltd", ["7 Sales Street", "York", "YO1 7HH", "United Kingdom"], "GB123456782")

_DISPATCH = """
    with leaving as (
        select l.id, l.order_id, l.product_id, l.allocated, l.back_ordered
        from order_line l join orders o on o.id = l.order_id
        where o.number = %(number)s and l.bundle_line_id is null and l.dispatched = 0
          and (%(skus)s::text[] is null or l.sku = any(%(skus)s))
    ), shipped as (
        insert into shipment (order_id, shipping_method, dispatched_at)
        select id, shipping_method, %(at)s from orders where number = %(number)s returning id
    ), listed as (
        insert into shipment_line (shipment_id, line_id, quantity)
        select shipped.id, leaving.id, allocated + back_ordered from shipped, leaving
    ), stock as (
        update stock_level s set allocated = s.allocated - p.allocated, back_ordered = s.back_ordered - p.back_ordered
        from (select product_id, sum(allocated) as allocated, sum(back_ordered) as back_ordered
              from leaving group by product_id) p
        where s.product_id = p.product_id
    ), lines as (
        update order_line l set dispatched = l.allocated + l.back_ordered, allocated = 0, back_ordered = 0
        from leaving where l.id = leaving.id
    )
    update orders set status = 'Dispatched' where number = %(number)s
"""


def dispatch(
    service: Service, placed: dict[str, Any], *, skus: Iterable[str] | None = None, at: datetime | None = None
) -> None:
    """Let all lines of a confirmed order leave, or those of some SKUs."""
    values = {
        "number": placed["order_id"],
        "skus": None if skus is None else list(skus),
        "at": at or service.clock.now(),
    }

    async def work(tx: Transaction) -> None:
        await execute(tx, _DISPATCH, values)

    service.in_transaction(work)


def issue(service: Service, placed: dict[str, Any], seller: Party = SELLER) -> IssuedInvoice:
    """Issue an order's invoice at the moment at which the service's clock stands."""
    reference = placed["order_reference"]
    return service.in_transaction(lambda tx: issue_invoice(tx, reference, seller, service.clock.now()))


def invoiced(service: Service, customer: Customer, *items: tuple[str, int], **values: Any) -> dict[str, Any]:
    """An order confirmed, dispatched and invoiced at once, as the API answered its creation."""
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
