"""The resource Payment."""

from datetime import date
from decimal import Decimal

from msgspec import Struct

from tradecounter.kit.wire import Moment, Timed
from tradecounter.payments.queries.payments import PaymentRecord


class Allocation(Struct, frozen=True):
    """The part of a payment that pays an invoice."""

    invoice: int
    amount: Decimal


class Payment(Timed, Struct, frozen=True, kw_only=True):
    """A payment. What `allocations` leave of `amount` is on the account, or was refunded."""

    id: int
    customer_id: int
    amount: Decimal
    received_on: date
    method: str
    reference: str
    allocations: list[Allocation]
    reversed_at: Moment | None
    reversal_reason: str | None


def present_payment(record: PaymentRecord) -> Payment:
    """Return a payment as the resource Payment."""
    return Payment(
        id=record.id,
        customer_id=record.customer_id,
        amount=record.amount,
        received_on=record.received_on,
        method=record.method,
        reference=record.reference,
        allocations=[Allocation(a["invoice"], Decimal(a["amount"])) for a in record.allocations],
        reversed_at=record.reversed_at,
        reversal_reason=record.reversal_reason,
    )
