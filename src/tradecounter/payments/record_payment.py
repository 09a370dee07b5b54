"""Records payments and refunds, and reverses those that were errors or have bounced."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from tradecounter.audit.record import audit
from tradecounter.billing.credit_overview import order_status
from tradecounter.billing.move_money import PaymentMoney, allocate_payments, lock_confirmed_order, refund_account
from tradecounter.billing.queries.invoice_records import fetch_invoice
from tradecounter.billing.queries.invoices import fetch_debt
from tradecounter.billing.queries.ledger import (
    AllocatedMoney,
    InvoiceBalance,
    add_unallocated,
    allocate_refund,
    allocated_by,
    invoice_balances,
    invoices_of_order,
    lock_balance,
    open_invoices,
    refunded_among,
    refunded_by,
)
from tradecounter.billing.rules import counts_from, draw, require_amount, require_at_most, require_payable
from tradecounter.billing.wire import CreditOrderStatus
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import EventType, NewEvent, record_events
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, ErrorCollector, FieldError, Kind, invalid, require_text
from tradecounter.kit.money import rounded
from tradecounter.kit.numbers import Id, Pounds
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.kit.wire import made_from
from tradecounter.orders.queries.orders import lock_orders
from tradecounter.payments.bank_line import EARLIEST
from tradecounter.payments.queries.bank_lines import release_lines_of
from tradecounter.payments.queries.payments import (
    PaymentRecord,
    ToRecord,
    fetch_payment,
    find_duplicates,
    insert_payments,
    payments_with_ids,
    store_reversals,
)
from tradecounter.payments.queries.remittances import reopen_remittances
from tradecounter.payments.wire import Allocation, Payment, present_payment

Method = Literal["bank_transfer", "direct_debit", "card", "cheque", "cash", "other", "refund"]
METHODS: tuple[str, ...] = get_args(Method)

LONGEST_REFERENCE = 200

PaidInvoice = Annotated[Id, Meta(description="The invoice that it pays.")]
PayingCustomer = Annotated[Id, Meta(description="The customer who pays: the oldest due invoices first.")]


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

    invoice: PaidInvoice | UnsetType = UNSET
    customer_id: PayingCustomer | UnsetType = UNSET


async def record_payment(tx: Transaction, body: PaymentRequest, now: datetime) -> Payment:
    """Record a payment of an invoice or of a customer.

    Raises DomainError as `pay_invoice` and `pay_account` do; invalid, too, if it names neither or both.
    """
    if body.invoice is not UNSET and body.customer_id is UNSET:
        return await pay_invoice(tx, body.invoice, body, now)
    if body.customer_id is not UNSET and body.invoice is UNSET:
        return await pay_account(tx, body.customer_id, body, now)
    raise invalid("invoice", "name either an invoice or a customer")


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


async def record_locked(
    tx: Transaction, customer_id: int, new: NewPayment, invoices: Sequence[InvoiceBalance], now: datetime
) -> Payment:
    """Record a payment of a customer's invoices, in their sequence; the rest stays on the account.

    The caller has locked the account and the orders of the invoices. Raises DomainError: invalid, conflict (a
    duplicate).
    """
    received_on, reference = new.received_on or uk_date(now), new.reference.strip()
    _require_valid(new.amount, received_on, reference, now)
    amount = rounded(new.amount)
    to_record = ToRecord(
        customer_id=customer_id,
        amount=amount,
        received_on=received_on,
        method=new.method,
        reference=reference,
        shares=draw(invoices, (invoice.due for invoice in invoices), amount),
    )
    [(_, earlier)] = await find_duplicates(tx, [to_record])
    if earlier is not None and not new.force:
        raise DomainError(Kind.CONFLICT, duplicate_of(f"payment {earlier} of customer {customer_id}"))
    [recorded] = await record_payments(tx, [to_record], now)
    if new.method == "refund":
        await refund_account(tx, customer_id, recorded.id, amount, counts_from(received_on, now))
    return recorded


def duplicate_of(earlier: str) -> str:
    """Return why a payment is not recorded that equals another one."""
    return f"{earlier} has the same reference, amount and date"


def invoices_in_words(numbers: Sequence[int]) -> str:
    """Return "invoice 10001" or "invoices 10001, 10002"."""
    return f"invoice{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


async def record_payments(tx: Transaction, payments: Sequence[ToRecord], now: datetime) -> list[Payment]:
    """Record payments, and queue their e-mails.

    The caller has checked them, has locked the accounts and the orders, and gives the money of refunds back.
    """
    recorded: list[Payment] = []
    money: list[PaymentMoney] = []
    for payment_id, new in zip(await insert_payments(tx, payments, now), payments, strict=True):
        paid = sorted(Allocation(invoice.invoice, share) for invoice, share in new.shares)
        recorded.append(
            made_from(new, Payment, id=payment_id, allocations=paid, reversed_at=None, reversal_reason=None)
        )
        if new.method != "refund":
            shares = [AllocatedMoney(payment_id, each.invoice, each.order_id, share) for each, share in new.shares]
            money.append(PaymentMoney(new.customer_id, new.amount, shares))
            queue(tx, "mail_payment_received", payment_id=payment_id)
    allocate_payments(tx, money)
    _record_events(tx, "payment.recorded", [(payment, event_data(payment)) for payment in recorded], now)
    for payment in recorded:
        after = {"customer_id": payment.customer_id, **event_data(payment)}
        audit(tx, "payment.record", f"payment/{payment.id}", now, after=after)
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


def _record_events(
    tx: Transaction, type_: EventType, payments: Iterable[tuple[Payment, dict[str, Any]]], now: datetime
) -> None:
    events = (NewEvent(f"payment/{payment.id}", payment.customer_id, data) for payment, data in payments)
    record_events(tx, type_, events, now)


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
        await lock_orders(tx, {money.order_id for money in await allocated_by(tx, [payment_id])})
        await _take_back(tx, [payment], now)
    _store_reversals(tx, [payment], reason, now)
    return present_payment(await fetch_payment(tx, payment_id))


async def reverse_locked(tx: Transaction, payment_ids: Sequence[int], reason: str, now: datetime) -> None:
    """Reverse payments that are no refunds, whose accounts and orders the caller has locked.

    Raises DomainError: conflict (partly refunded).
    """
    payments = await payments_with_ids(tx, payment_ids)
    await _take_back(tx, payments, now)
    _store_reversals(tx, payments, reason, now)


async def _take_back(tx: Transaction, payments: Sequence[PaymentRecord], now: datetime) -> None:
    ids = [payment.id for payment in payments]
    refunded = await refunded_among(tx, ids)
    if refunded is not None:
        raise DomainError(
            Kind.CONFLICT, f"part of payment {refunded} was refunded: reverse the refund before the payment"
        )
    shares = defaultdict[int, list[AllocatedMoney]](list)
    for share in await allocated_by(tx, ids):
        shares[share.payment_id].append(replace(share, amount=-share.amount))
    allocate_payments(tx, [PaymentMoney(each.customer_id, -each.amount, shares[each.id]) for each in payments], now)


def _store_reversals(tx: Transaction, payments: Sequence[PaymentRecord], reason: str, now: datetime) -> None:
    ids = [payment.id for payment in payments]
    store_reversals(tx, ids, reason, now)
    reopen_remittances(tx, ids)
    release_lines_of(tx, ids, reason, now)
    before = [present_payment(payment) for payment in payments]
    told = [(payment, {**event_data(payment), "reason": reason}) for payment in before]
    _record_events(tx, "payment.reversed", told, now)
    for payment in before:
        audit(tx, "payment.reverse", f"payment/{payment.id}", now, before=event_data(payment), after={"reason": reason})
