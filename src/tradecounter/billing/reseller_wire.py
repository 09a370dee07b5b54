"""The resources of billing for the reseller's programs."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, cast

from msgspec import Meta, Struct, structs

from tradecounter.billing.invoice_document import InvoiceLine
from tradecounter.billing.queries.credit_notes import CreditNoteRecord, document_of
from tradecounter.billing.queries.invoice_records import InvoiceRecord, PrintedLines
from tradecounter.kit.clock import uk_date
from tradecounter.returns.wire import Return

OrderReference = Annotated[str, Meta(description="The reference of the order.")]
CustomerNumber = Annotated[int, Meta(description="The customer's id.")]
IssuedOn = Annotated[date, Meta(description="The UK day of issue.")]


class LineFields(Struct, frozen=True, kw_only=True):
    """What a line of an invoice or a credit note has; what has no value is null for staff, and absent for customers."""

    item_id: Any
    sku: Any
    description: Annotated[str, Meta(description="What it is, as printed.")]
    quantity: Annotated[int, Meta(description="Units.")]
    unit_cost: Annotated[Decimal, Meta(description="Pounds for a unit, without VAT.")]
    cost_net: Annotated[Decimal, Meta(description="Pounds without VAT.")]
    tax_rate: Annotated[Decimal, Meta(description="The rate of VAT, in per cent.")]
    cost_tax: Annotated[Decimal, Meta(description="The VAT in pounds.")]


class BilledLine(LineFields, frozen=True, kw_only=True):
    """A line of an invoice or a credit note; shipping and amounts have no `item_id` and no `sku`."""

    item_id: int | None
    sku: str | None


class InvoiceSummary(Struct, frozen=True, kw_only=True):
    """An invoice without its lines, and what is paid, credited and due of it."""

    number: Annotated[int, Meta(description="The invoice's number.")]
    order_reference: OrderReference
    customer_id: CustomerNumber
    issued_on: IssuedOn
    tax_point: Annotated[date, Meta(description="The UK day of the supply, for VAT.")]
    due_on: Annotated[date, Meta(description="The last UK day on which it can be paid in time.")]
    cost_net: Annotated[Decimal, Meta(description="Pounds without VAT, with shipping.")]
    cost_tax: Annotated[Decimal, Meta(description="The VAT in pounds.")]
    cost_gross: Annotated[Decimal, Meta(description="Pounds with VAT.")]
    paid: Annotated[Decimal, Meta(description="What payments have paid of it, in pounds.")]
    credited: Annotated[Decimal, Meta(description="What credit notes take off it, in pounds.")]
    due: Annotated[Decimal, Meta(description="What is left to pay, in pounds.")]


class InvoiceFields(InvoiceSummary, frozen=True, kw_only=True):
    """What an invoice has, whatever the form of its lines."""

    customer_reference: Annotated[str, Meta(description="The customer's own reference of the order.")]
    state: Annotated[
        Literal["due", "part_paid", "overdue", "paid", "credited"],
        Meta(
            description="`due`, `part_paid` or `overdue` while something is due; then `credited` if credit notes alone "
            "took it off, else `paid`."
        ),
    ]
    lines: Any


class Invoice(InvoiceFields, frozen=True, kw_only=True):
    """An invoice with its lines, and what is paid, credited and due of it."""

    lines: list[BilledLine]


class CreditNoteFields(Struct, frozen=True, kw_only=True):
    """What a credit note has, whatever the form of its lines."""

    number: Annotated[int, Meta(description="The credit note's number.")]
    invoice: Annotated[int, Meta(description="The number of the invoice that it corrects.")]
    order_reference: OrderReference
    customer_id: CustomerNumber
    issued_on: IssuedOn
    reason: Annotated[str, Meta(description="Why it was issued.")]
    lines: Any
    cost_net: Annotated[Decimal, Meta(description="Pounds without VAT.")]
    cost_tax: Annotated[Decimal, Meta(description="The VAT in pounds.")]
    cost_gross: Annotated[Decimal, Meta(description="Pounds with VAT.")]


class CreditNote(CreditNoteFields, frozen=True, kw_only=True):
    """A credit note."""

    lines: list[BilledLine]


def present_summary(record: InvoiceRecord) -> InvoiceSummary:
    """Return an invoice without its lines."""
    return InvoiceSummary(**_common(record))


def present_invoices(
    records: Sequence[InvoiceRecord], printed: Mapping[int, PrintedLines], now: datetime
) -> list[Invoice]:
    """Return invoices as the resource Invoice, in their states at a moment; `printed` are their lines by number."""
    return [
        Invoice(
            **_common(record),
            customer_reference=record.customer_reference,
            state=cast("Any", record.state(now).replace(" ", "_")),
            lines=_lines(printed[record.number].line_ids, printed[record.number].lines),
        )
        for record in records
    ]


def _common(record: InvoiceRecord) -> dict[str, Any]:
    return {
        "number": record.number,
        "order_reference": record.order_reference,
        "customer_id": record.customer_id,
        "issued_on": uk_date(record.issued_at),
        "tax_point": uk_date(record.supplied_at),
        "due_on": uk_date(record.due_at),
        "cost_net": record.net,
        "cost_tax": record.vat,
        "cost_gross": record.gross,
        "paid": record.paid,
        "credited": record.credited,
        "due": record.due,
    }


def present_credit_note(record: CreditNoteRecord) -> CreditNote:
    """Return a credit note as the resource CreditNote."""
    return CreditNote(
        number=record.number,
        invoice=record.invoice,
        order_reference=record.order_reference,
        customer_id=record.customer_id,
        issued_on=uk_date(record.issued_at),
        reason=record.reason,
        lines=_lines(record.line_ids, document_of(record).lines),
        cost_net=record.net,
        cost_tax=record.vat,
        cost_gross=record.gross,
    )


def _lines(line_ids: Sequence[int | None], lines: Sequence[InvoiceLine]) -> list[BilledLine]:
    return [
        BilledLine(
            item_id=line_id,
            sku=line.sku or None,
            description=line.description,
            quantity=line.quantity,
            unit_cost=line.unit_price,
            cost_net=line.net,
            tax_rate=line.vat_rate,
            cost_tax=line.vat,
        )
        for line_id, line in zip(line_ids, lines, strict=True)
    ]


class IssuedCreditNote(Struct, frozen=True):
    """A credit note that was issued on the way."""

    number: int
    invoice: int
    cost_gross: Decimal


class ReceivedReturn(Return, frozen=True, kw_only=True):
    """A return after units were received, with the credit notes that were issued for it at once."""

    credit_notes: list[IssuedCreditNote]


def present_received(received: Return, notes: Sequence[CreditNote]) -> ReceivedReturn:
    """Return a return with the credit notes of what came back."""
    issued = [IssuedCreditNote(note.number, note.invoice, note.cost_gross) for note in notes]
    return ReceivedReturn(**structs.asdict(received), credit_notes=issued)
