"""The resource Payment, as staff and as customers see it."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from tradecounter.kit.local_time import local_text
from tradecounter.kit.wire import LocalDateTime, Moment, Timed
from tradecounter.payments.queries.payments import PaymentRecord


class Allocation(Struct, frozen=True):
    """The part of a payment that pays an invoice."""

    invoice: Annotated[int, Meta(description="The invoice's number.")]
    amount: Annotated[Decimal, Meta(description="What the payment pays of it, in pounds.")]


class PaymentFields(Struct, frozen=True, kw_only=True):
    """What a payment has, whatever the form of its time."""

    id: Annotated[int, Meta(description="The payment's id.")]
    customer_id: Annotated[int, Meta(description="The customer's id.")]
    amount: Annotated[Decimal, Meta(description="Pounds.")]
    received_on: Annotated[date, Meta(description="The UK day on which the money came, or went back as a refund.")]
    method: Annotated[
        str,
        Meta(
            description="`bank_transfer`, `direct_debit`, `card`, `cheque`, `cash`, `other`, or `refund`: money that "
            "went back to the customer."
        ),
    ]
    reference: Annotated[str, Meta(description="The reference at the bank.")]
    allocations: Annotated[
        list[Allocation], Meta(description="The invoices that it pays; the rest is on the account, or was refunded.")
    ]
    reversed_at: Any
    reversal_reason: Any


class Payment(Timed, PaymentFields, frozen=True, kw_only=True):
    """A payment. What `allocations` leave of `amount` is on the account, or was refunded."""

    reversed_at: Moment | None
    reversal_reason: str | None


class CustomerPayment(PaymentFields, frozen=True, kw_only=True):
    """A payment as its customer sees it. What `allocations` leave of `amount` is on the account, or was refunded."""

    reversed_at: Annotated[LocalDateTime, Meta(description="When it was reversed; absent: it stands.")] | UnsetType = (
        UNSET
    )
    reversal_reason: Annotated[str, Meta(description="Why it was reversed.")] | UnsetType = UNSET

    @property
    def invoices(self) -> str:
        """The numbers of the invoices that it pays, for a column of a file."""
        return "|".join(str(allocation.invoice) for allocation in self.allocations)


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


def own_payment(payment: Payment) -> CustomerPayment:
    """Return a payment as its customer sees it."""
    stands = payment.reversed_at is None
    reversal = {
        "reversed_at": UNSET if payment.reversed_at is None else local_text(payment.reversed_at),
        "reversal_reason": UNSET if stands else payment.reversal_reason,
    }
    return CustomerPayment(**structs.asdict(payment) | reversal)
