"""Payments as staff and as customers see them; bank files and their lines for the reseller's programs."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from tradecounter.kit.clock import local_text
from tradecounter.kit.money import NOTHING
from tradecounter.kit.wire import LocalDateTime, Moment, Timed, made_from
from tradecounter.payments.queries.bank_files import StoredFile
from tradecounter.payments.queries.bank_lines import BankLineRecord, State
from tradecounter.payments.queries.payments import PaymentRecord


class Allocation(Struct, frozen=True, order=True):
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

    @property
    def rest(self) -> Decimal:
        """What the allocations leave of the amount."""
        return self.amount - sum((allocation.amount for allocation in self.allocations), NOTHING)


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
    return made_from(record, Payment, allocations=list(map(Allocation, record.invoices, record.shares)))


def own_payment(payment: Payment) -> CustomerPayment:
    """Return a payment as its customer sees it."""
    if payment.reversed_at is None:
        return made_from(payment, CustomerPayment, reversed_at=UNSET, reversal_reason=UNSET)
    return made_from(payment, CustomerPayment, reversed_at=local_text(payment.reversed_at))


Day = date  # fields are named `date`


class UnplacedLine(Struct, frozen=True, kw_only=True):
    """A line with money that could not be placed, as written, and the reason."""

    id: Annotated[int | None, Meta(description="The line's id; null in a dry run, unless it waits already.")]
    line: int
    date: str
    amount: str
    reference: str
    why: str


class RecordedLine(Struct, frozen=True, kw_only=True):
    """A line that was recorded as a payment, and what it pays."""

    line: int
    date: Day
    amount: Annotated[Decimal, Meta(description="As read.")]
    reference: str
    why: Annotated[str, Meta(description="Why it is this customer's.")]
    customer_id: int
    customer: str
    payment_id: Annotated[int | None, Meta(description="Null in a dry run.")]
    allocations: list[Allocation]
    on_account: Annotated[Decimal, Meta(description="What stays on the account.")]


class PaymentImport(Struct, frozen=True, kw_only=True):
    """The result of a bank file: `recorded`, `payments_out`, `repeated` and the `unplaced` come to its `lines`."""

    id: Annotated[int | None, Meta(description="The file's id; null in a dry run.")]
    lines: Annotated[int, Meta(description="Lines below the headings.")]
    recorded: Annotated[int, Meta(description="Lines that were recorded as payments.")]
    payments_out: Annotated[int, Meta(description="Lines without money received, which are left aside.")]
    repeated: Annotated[int, Meta(description="Lines that an earlier file had, and that were placed or set aside.")]
    unplaced: list[UnplacedLine]
    payments: list[RecordedLine]
    columns: Annotated[Mapping[str, str], Meta(description="The file's heading for each field that was read.")]


class StoredLine(Timed, Struct, frozen=True, kw_only=True):
    """A line of a bank file with money received."""

    id: int
    bank_file: Annotated[int, Meta(description="The first file that had the line.")]
    line: int
    date: Annotated[str, Meta(description="As written.")]
    amount: Annotated[str, Meta(description="As written.")]
    reference: str
    received_on: Annotated[Day | None, Meta(description="The date as read; null if it cannot be read.")]
    pounds: Annotated[Decimal | None, Meta(description="The amount as read; null if it cannot be read.")]
    state: State
    why: Annotated[str, Meta(description="Why it is not placed, why it was set aside, or how it was placed.")]
    payment_id: Annotated[int | None, Meta(description="Its payment, or the one that was reversed.")]
    customer_id: int | None
    changed_at: Moment


def present_line(record: BankLineRecord) -> StoredLine:
    """Return a line as the resource StoredLine."""
    return made_from(
        record,
        StoredLine,
        bank_file=record.bank_file_id,
        date=record.day_written,
        amount=record.amount_written,
        pounds=record.amount,
    )


class PlacedLine(StoredLine, frozen=True, kw_only=True):
    """A line after it was placed by hand, with its payment."""

    payment: Payment


class RolledBackFile(StoredFile, frozen=True, kw_only=True):
    """A bank file after its roll-back; `kept` are the lines that have changed since, which stay as they are."""

    reversed: Annotated[list[int], Meta(description="The payments that were reversed.")]
    kept: Annotated[list[int], Meta(description="The ids of lines that have changed since and stay.")]
