"""Records a payment against an order's invoice (decisions, invoice)."""

from datetime import datetime
from decimal import Decimal

from tradecounter.audit.record import audit
from tradecounter.billing.credit_overview import order_status
from tradecounter.billing.lock_order import lock_confirmed_order
from tradecounter.billing.queries.invoices import find_debt, find_invoice, insert_payment
from tradecounter.billing.rules import require_payable, status_with
from tradecounter.billing.wire import CreditOrderStatus
from tradecounter.credit.queries import discharge
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.ordering.history import record_order_event
from tradecounter.ordering.queries.changes import record_paid


async def record_payment(tx: Transaction, reference: str, amount: Decimal, now: datetime) -> CreditOrderStatus:
    """Record a payment in pounds for an order, named by its reference or id; return the remaining debt.

    Raises DomainError: not found, precondition failed (not confirmed, cancelled, or not invoiced), invalid (not a
    positive amount in whole pence, or more than the amount due).
    """
    order = await lock_confirmed_order(tx, reference)
    invoice = await find_invoice(tx, order.id)
    if invoice is None:
        raise DomainError(
            Kind.PRECONDITION_FAILED,
            f"order {order.order_reference} has no invoice yet: issue it, then record the payment",
        )
    require_payable(amount, order.due)
    await discharge(tx, order.customer_id, amount)
    status = status_with(order.due - amount)
    await record_paid(tx, order.id, amount, status)
    payment_id = await insert_payment(tx, invoice.number, amount, now)
    await queue(tx, "mail_payment_received", order_id=order.id, payment_id=payment_id)
    payment = {"id": payment_id, "invoice": invoice.number, "amount": amount}
    record_order_event(tx, "payment.recorded", order, now, status=status, payment=payment)
    audit(tx, "payment.record", f"invoice/{invoice.number}", now, after=payment)
    return order_status(await find_debt(tx, order.id), now)
