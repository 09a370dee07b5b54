"""Credit notes in the customers' API (specification, documents)."""

from typing import Annotated

from msgspec import Meta, structs

from tradecounter.billing.wire import CustomerDocumentLine, own_line
from tradecounter.credit_notes.reseller_wire import CreditNote, CreditNoteFields


class CustomerCreditNote(CreditNoteFields, frozen=True, kw_only=True):
    """A credit note with its lines, which correct those of an invoice."""

    lines: Annotated[list[CustomerDocumentLine], Meta(description="What is credited.")]


def own_credit_note(note: CreditNote) -> CustomerCreditNote:
    """Return a credit note as its customer sees it."""
    return CustomerCreditNote(**structs.asdict(note) | {"lines": [own_line(line) for line in note.lines]})
