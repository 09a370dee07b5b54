"""Records payments and refunds, and reverses those that were errors or have bounced."""

from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.audit.record import audit
from tradecounter.billing.credit_overview import order_status
from tradecounter.billing.move_money import allocate_payment, lock_confirmed_order, put_back_on_account, refund_account
from tradecounter.billing.queries.invoice_records import fetch_invoice
from tradecounter.billing.queries.invoices import fetch_debt
from tradecounter.billing.queries.ledger import (
    OpenInvoice,
    add_unallocated,
    allocate_refund,
    allocated_by,
    invoice_balances,
    invoices_of_order,
    lock_balance,
    open_invoices,
    refunded_by,
    refunded_of,
)
from tradecounter.billing.rules import counts_from, require_amount, require_at_most, require_payable
from tradecounter.billing.wire import CreditOrderStatus
from tradecounter.credit.queries import discharge
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, ErrorCollector, FieldError, Kind, invalid, require_text
from tradecounter.kit.money import NOTHING
from tradecounter.kit.numbers import Id, Pounds
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.queries.orders import lock_orders
from tradecounter.payments.bank_line import EARLIEST
from tradecounter.payments.queries.bank_lines import release_line_of
from tradecounter.payments.queries.payments import (
    PaymentRecord,
    fetch_payment,
    find_duplicate,
    insert_payment,
    store_reversal,
)
from tradecounter.payments.queries.remittances import reopen_remittances
from tradecounter.payments.wire import Payment, present_payment

Method = Literal["bank_transfer", "direct_debit", "card", "cheque", "cash", "other", "refund"]
METHODS: tuple[str, ...] = get_args(Method)

LONGEST_REFERENCE = 200


class NewPayment(Struct, frozen=True, kw_only=True):
    """A payment to record; `received_on` is today by default. `force` allows a duplicate."""

    amount: Annotated[Pounds, Meta(description="Pounds.")]
    received_on: Annotated[date | None, Meta(description="When the money was received. Default: today.")] = None
    method: Annotated[Method, Meta(description="A refund gives money on the account back.")] = "bank_transfer"
    reference: Annotated[str, Meta(description="The bank's reference.")] = ""
    force: Annotated[bool, Meta(description="Record it although the same reference, amount and date are recorded.")] = (
        False
    )


class PaymentRequest(NewPayment, frozen=True, kw_only=True, omit_defaults=True):
    """A payment of an invoice, or of a customer: then of the oldest due invoices."""

    invoice: Id | UnsetType = UNSET
    customer_id: Id | UnsetType = UNSET


async def record_payment(tx: Transaction, body: PaymentRequest, now: datetime) -> Payment:
    """Record a payment of an invoice or of a customer. Raises DomainError as `pay_invoice` and `pay_account` do."""
    if body.invoice is not UNSET and body.customer_id is UNSET:
        return await pay_invoice(tx, body.invoice, body, now)
    if body.customer_id is not UNSET and body.invoice is UNSET:
        return await pay_account(tx, body.customer_id, body, now)
    raise invalid("invoice", "send either invoice or customer_id")


async def pay_order(tx: Transaction, reference: str, amount: Decimal, now: datetime) -> CreditOrderStatus:
    """Record a payment of an order's oldest unpaid invoice; return the order's remaining debt.

    Raises DomainError: not found, conflict (not confirmed, cancelled, or not invoiced), invalid (not a positive amount
    in whole pence, or more than is due of the invoice).
    """
    order = await lock_confirmed_order(tx, reference)
    invoices = await invoices_of_order(tx, order.id)
    if not invoices:
        raise DomainError(
            Kind.CONFLICT, f"order {order.order_reference} has no invoice yet: issue it, then record the payment"
        )
    oldest = next((invoice for invoice in invoices if invoice.due), invoices[-1])
    require_payable(amount, oldest.due)
    await record_locked(tx, order.customer_id, NewPayment(amount=amount), [oldest], now)
    return order_status(await fetch_debt(tx, order.id), now)


async def pay_invoice(tx: Transaction, number: int, new: NewPayment, now: datetime) -> Payment:
    """Record a payment of an invoice; what is not due stays on the account.

    Raises DomainError: not found, invalid, conflict (a duplicate).
    """
    invoice = await fetch_invoice(tx, number)
    if new.method == "refund":
        raise invalid("method", "a refund is of an account, not of an invoice")
    await lock_balance(tx, invoice.customer_id)
    await lock_orders(tx, [invoice.order_id])
    return await record_locked(tx, invoice.customer_id, new, await invoice_balances(tx, [number]), now)


async def pay_account(tx: Transaction, customer_id: int, new: NewPayment, now: datetime) -> Payment:
    """Record a payment of a customer: of the oldest due invoices, the rest stays on the account. Or record a refund.

    Raises DomainError: not found, invalid (also a refund of more than is on the account), conflict (a duplicate).
    """
    await fetch_account(tx, customer_id)
    unallocated = await lock_balance(tx, customer_id)
    if new.method == "refund":
        require_at_most(new.amount, unallocated, "which is on the account")
        return await record_locked(tx, customer_id, new, [], now)
    invoices = await open_invoices(tx, customer_id)
    await lock_orders(tx, [invoice.order_id for invoice in invoices])
    return await record_locked(tx, customer_id, new, invoices, now)


async def pay_locked_invoices(
    tx: Transaction, customer_id: int, new: NewPayment, invoices: Sequence[OpenInvoice], now: datetime
) -> Payment:
    """Record a payment of invoices that it names, as `record_locked` does.

    Raises DomainError: invalid, conflict (a duplicate, or nothing is due of the invoices).
    """
    if not any(invoice.due for invoice in invoices):
        await _require_new(tx, customer_id, new, new.reference.strip(), new.received_on or uk_date(now))
        named = ", ".join(str(invoice.invoice) for invoice in invoices)
        raise DomainError(Kind.CONFLICT, f"nothing is due of invoice {named}")
    return await record_locked(tx, customer_id, new, invoices, now)


async def _require_new(tx: Transaction, customer_id: int, new: NewPayment, reference: str, received_on: date) -> None:
    earlier = await find_duplicate(tx, customer_id, new.amount, received_on, reference, refund=new.method == "refund")
    if earlier is not None and not new.force:
        raise DomainError(
            Kind.CONFLICT,
            f"payment {earlier} of customer {customer_id} has the same reference, amount and date; force records it "
            "again",
        )


async def record_locked(
    tx: Transaction, customer_id: int, new: NewPayment, invoices: Sequence[OpenInvoice], now: datetime
) -> Payment:
    """Record a payment of a customer's invoices, in their sequence; the rest stays on the account.

    The caller has locked the account and the orders of the invoices. Raises DomainError: invalid, conflict (a
    duplicate).
    """
    received_on, reference = new.received_on or uk_date(now), new.reference.strip()
    _require_valid(new.amount, received_on, reference, now)
    await _require_new(tx, customer_id, new, reference, received_on)
    at = counts_from(received_on, now)
    payment_id = await insert_payment(
        tx,
        customer_id,
        new.amount,
        received_on=received_on,
        counts_from=at,
        method=new.method,
        reference=reference,
        recorded_at=now,
    )
    if new.method == "refund":
        await refund_account(tx, customer_id, payment_id, new.amount, at)
    else:
        allocate_payment(tx, customer_id, payment_id, new.amount, invoices, at)
        queue(tx, "mail_payment_received", payment_id=payment_id)
    recorded = present_payment(await fetch_payment(tx, payment_id))
    record_event(tx, "payment.recorded", f"payment/{payment_id}", now, customer_id, event_data(recorded))
    audit(
        tx, "payment.record", f"payment/{payment_id}", now, after={"customer_id": customer_id, **event_data(recorded)}
    )
    return recorded


def _require_valid(amount: Decimal, received_on: date, reference: str, now: datetime) -> None:
    collector = ErrorCollector()
    with collector.collecting():
        require_amount(amount)
    if received_on > uk_date(now):
        collector.errors.append(FieldError("received_on", f"must not be after today, {uk_date(now)}"))
    if received_on < EARLIEST:
        collector.errors.append(FieldError("received_on", f"must not be before {EARLIEST}"))
    if len(reference) > LONGEST_REFERENCE:
        collector.errors.append(FieldError("reference", f"must have at most {LONGEST_REFERENCE} characters"))
    collector.check()


def event_data(payment: Payment) -> dict[str, Any]:
    """Return the data of a payment for events and the audit log."""
    return {
        "id": payment.id,
        "amount": payment.amount,
        "received_on": payment.received_on,
        "method": payment.method,
        "reference": payment.reference,
        "allocations": payment.allocations,
    }


async def reverse_payment(tx: Transaction, payment_id: int, reason: str, now: datetime) -> Payment:
    """Reverse a payment: its invoices are due again. A reversed refund puts its money back on the account.

    Raises DomainError: not found, invalid (no reason), conflict (reversed already, or partly refunded).
    """
    reason = require_text("reason", reason, LONGEST_REASON)
    customer_id = (await fetch_payment(tx, payment_id)).customer_id
    await lock_balance(tx, customer_id)
    payment = await fetch_payment(tx, payment_id)
    if payment.reversed_at is not None:
        raise DomainError(Kind.CONFLICT, f"payment {payment_id} is already reversed")
    if payment.method == "refund":
        for money in await refunded_by(tx, payment_id):
            allocate_refund(tx, money.payment_id, payment_id, -money.amount, now)
        add_unallocated(tx, customer_id, payment.amount)
    else:
        await _take_back(tx, payment, now)
    store_reversal(tx, payment_id, reason, now)
    await reopen_remittances(tx, payment_id)
    release_line_of(tx, payment_id, f"payment {payment_id} was reversed: {reason}", now)
    reversed_ = present_payment(await fetch_payment(tx, payment_id))
    before, after = present_payment(payment), {"reason": reason}
    record_event(
        tx, "payment.reversed", f"payment/{payment_id}", now, customer_id, {**event_data(before), "reason": reason}
    )
    audit(tx, "payment.reverse", f"payment/{payment_id}", now, before=event_data(before), after=after)
    return reversed_


async def _take_back(tx: Transaction, payment: PaymentRecord, now: datetime) -> None:
    if await refunded_of(tx, payment.id):
        raise DomainError(
            Kind.CONFLICT, f"part of payment {payment.id} was refunded: reverse the refund before the payment"
        )
    paid = await allocated_by(tx, payment.id)
    await lock_orders(tx, {allocated.order_id for allocated in paid})
    total = sum((allocated.amount for allocated in paid), NOTHING)
    discharge(tx, payment.customer_id, -total)
    put_back_on_account(tx, payment.customer_id, paid, total, now)
    add_unallocated(tx, payment.customer_id, -payment.amount)
