"""Reverses a payment or a refund that was recorded in error or has bounced."""

from datetime import datetime

from tradecounter.audit.record import audit
from tradecounter.billing.move_money import release
from tradecounter.billing.queries.ledger import (
    add_unallocated,
    allocate_refund,
    allocated_by,
    lock_account,
    refunded_by,
    refunded_of,
)
from tradecounter.credit.queries import discharge
from tradecounter.db.transaction import Transaction
from tradecounter.events.record import record_event
from tradecounter.kit.errors import DomainError, Kind, require_text
from tradecounter.kit.money import NOTHING
from tradecounter.kit.text import LONGEST_REASON
from tradecounter.orders.queries.orders import lock_orders
from tradecounter.payments.queries.bank_lines import release_line_of
from tradecounter.payments.queries.payments import PaymentRecord, fetch_payment, store_reversal
from tradecounter.payments.queries.remittances import await_again
from tradecounter.payments.record_payment import event_data
from tradecounter.payments.wire import Payment, present_payment


async def reverse_payment(tx: Transaction, payment_id: int, reason: str, now: datetime) -> Payment:
    """Reverse a payment: what it paid is due again. The money of a reversed refund is on the account again.

    Raises DomainError: not found, invalid (no reason), conflict (reversed already, or partly refunded).
    """
    reason = reason.strip()
    require_text("reason", reason, LONGEST_REASON)
    customer_id = (await fetch_payment(tx, payment_id)).customer_id
    await lock_account(tx, customer_id)
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
    await await_again(tx, payment_id)
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
    await discharge(tx, payment.customer_id, -total)
    release(tx, payment.customer_id, paid, total, now)
    add_unallocated(tx, payment.customer_id, -payment.amount)
