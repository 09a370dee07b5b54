"""The resources of billing for the reseller's programs."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from msgspec import Struct, structs

from tradecounter.billing.invoice_document import InvoiceLine
from tradecounter.billing.queries.credit_notes import CreditNoteRecord, document_of
from tradecounter.billing.queries.invoice_records import InvoiceRecord, PrintedLines
from tradecounter.kit.local_time import uk_date
from tradecounter.returns.wire import Return


class BilledLine(Struct, frozen=True, kw_only=True):
    """A line of an invoice or a credit note; shipping and amounts have no `item_id` and no `sku`."""

    item_id: int | None
    sku: str | None
    description: str
    quantity: int
    unit_cost: Decimal
    cost_net: Decimal
    tax_rate: Decimal
    cost_tax: Decimal


class InvoiceSummary(Struct, frozen=True, kw_only=True):
    """An invoice without its lines, and what is paid, credited and due of it."""

    number: int
    order_reference: str
    customer_id: int
    issued_on: date
    tax_point: date
    due_on: date
    cost_net: Decimal
    cost_tax: Decimal
    cost_gross: Decimal
    paid: Decimal
    credited: Decimal
    due: Decimal


class Invoice(InvoiceSummary, frozen=True, kw_only=True):
    """An invoice with its lines, and what is paid, credited and due of it."""

    lines: list[BilledLine]


class CreditNote(Struct, frozen=True, kw_only=True):
    """A credit note."""

    number: int
    invoice: int
    order_reference: str
    customer_id: int
    issued_on: date
    reason: str
    lines: list[BilledLine]
    cost_net: Decimal
    cost_tax: Decimal
    cost_gross: Decimal


def present_summary(record: InvoiceRecord) -> InvoiceSummary:
    """Return an invoice without its lines."""
    return InvoiceSummary(**_common(record))


def present_invoices(records: Sequence[InvoiceRecord], printed: Mapping[int, PrintedLines]) -> list[Invoice]:
    """Return invoices as the resource Invoice; `printed` are their lines by number."""
    return [
        Invoice(**_common(record), lines=_lines(printed[record.number].line_ids, printed[record.number].lines))
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


def present_received(found: Return, notes: Sequence[CreditNote]) -> ReceivedReturn:
    """Return a return with the credit notes of what came back."""
    issued = [IssuedCreditNote(note.number, note.invoice, note.cost_gross) for note in notes]
    return ReceivedReturn(**structs.asdict(found), credit_notes=issued)
