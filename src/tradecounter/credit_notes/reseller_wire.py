"""Credit notes for the reseller's programs, and returns with those that were issued for them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Any

from msgspec import Meta, Struct

from tradecounter.billing.reseller_wire import BilledLine, CustomerNumber, IssuedOn, OrderReference, billed_lines
from tradecounter.credit_notes.queries import CreditNoteRecord, document_of
from tradecounter.kit.clock import uk_date
from tradecounter.kit.wire import made_from
from tradecounter.returns.wire import Return


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


def present_credit_note(record: CreditNoteRecord) -> CreditNote:
    """Return a credit note as the resource CreditNote."""
    return made_from(
        record,
        CreditNote,
        issued_on=uk_date(record.issued_at),
        lines=billed_lines(record.line_ids, document_of(record).lines),
        cost_net=record.net,
        cost_tax=record.vat,
        cost_gross=record.gross,
    )


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
    return made_from(found, ReceivedReturn, credit_notes=issued)
