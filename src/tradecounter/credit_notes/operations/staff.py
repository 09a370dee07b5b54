"""`/api/credit-note`, and `POST /api/invoice/{number}/credit-note`, with examples for the interface document."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from operator import attrgetter
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from starlette.responses import Response

from tradecounter.billing.operations.wire import InvoiceNumber, example_line
from tradecounter.credit_notes.issue_credit_note import issue_credit_note
from tradecounter.credit_notes.queries import (
    PRINTED_CREDIT_NOTES,
    CreditNoteFilter,
    fetch_credit_note,
    list_credit_notes,
)
from tradecounter.credit_notes.reseller_wire import CreditNote, present_credit_note
from tradecounter.credit_notes.rules import CreditLine
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import ChangingParameters, Desk
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import FILE, Described, ListPage, Subject
from tradecounter.edge.rest.negotiation import PDF
from tradecounter.edge.rest.responses import file_response
from tradecounter.kit.errors import invalid
from tradecounter.kit.numbers import Pounds
from tradecounter.letterhead.seller import Letterhead


class CreditNoteRequest(Struct, kw_only=True, omit_defaults=True):
    """What to credit of an invoice: units of its lines, or an amount without VAT."""

    lines: (
        Annotated[list[CreditLine], Meta(min_length=1, description="`item_id` is null for shipping.")] | UnsetType
    ) = UNSET
    amount: Annotated[Pounds, Meta(description="Pounds to credit, without VAT.")] | UnsetType = UNSET
    reason: Annotated[str, Meta(description="The reason, for the customer and the audit log.")]

    @property
    def credit(self) -> list[CreditLine] | Decimal:
        """The units or the amount. Raises DomainError (invalid) for neither and for both."""
        if self.lines is not UNSET and self.amount is UNSET:
            return self.lines
        if self.amount is not UNSET and self.lines is UNSET:
            return self.amount
        raise invalid("lines", "send either lines or amount")


class CreditNoteListParameters(ChangingParameters, frozen=True, kw_only=True):
    """The query parameters of `GET /api/credit-note`."""

    customer_id: Annotated[int, Meta(ge=1, description="Only this customer's credit notes.")] | None = None
    invoice: Annotated[int, Meta(ge=1, description="Only credit notes of this invoice.")] | None = None


CREDIT_NOTE = CreditNote(
    number=50001,
    invoice=10001,
    order_reference="ORD-100042",
    customer_id=1001,
    issued_on=date(2026, 6, 16),
    reason="One phone arrived broken.",
    lines=[example_line(1, "75.90", "15.18")],
    cost_net=Decimal("75.90"),
    cost_tax=Decimal("15.18"),
    cost_gross=Decimal("91.08"),
)

DESCRIBED: Mapping[type, Described] = {
    CreditNote: Described("The credit note.", CREDIT_NOTE),
    CreditNoteRequest: Described(
        "", CreditNoteRequest(lines=[CreditLine(90017, 1)], reason="One phone arrived broken."), "CreditNote"
    ),
}


_BILLING = Subject(tag="Billing", read="billing:read", write="billing:write", described=DESCRIBED)
_CREDIT_NOTES, _CREDIT_NOTE = "/api/credit-note", "/api/credit-note/{number}"

CreditNoteNumber = Annotated[int, InPath("number", "The credit note's number.", 50001, "credit note")]


class CreditNoteOperations(Struct, frozen=True):
    """The endpoints of credit notes."""

    desk: Desk
    letterhead: Letterhead

    @_BILLING.changes("POST", "/api/invoice/{number}/credit-note", location=_CREDIT_NOTE, dry_run=True)
    async def issue_credit_note(
        self, tx: Transaction, now: datetime, number: InvoiceNumber, body: CreditNoteRequest
    ) -> CreditNote:
        """Issue a credit note.

        Of units of the invoice's lines, or of an amount without VAT; at most what is invoiced and not yet credited.
        Money that had paid for it goes to the account. A return is closed once all its units came back and are
        credited. A dry run shows the credit note, with the number that it would get now.
        """
        return await issue_credit_note(tx, number, body.credit, body.reason, self.letterhead, now)

    @_BILLING.lists(_CREDIT_NOTES, "The credit notes.")
    async def list_credit_notes(self, tx: Transaction, query: CreditNoteListParameters) -> ListPage[CreditNote]:
        """Credit notes of all customers.

        The latest first.
        """
        chosen = CreditNoteFilter(
            customer_id=query.customer_id,
            invoice=query.invoice,
            before=query.after or None,
            changed_since=query.since,
        )
        found = await list_credit_notes(tx, chosen, query.limit + 1)
        return ListPage(found, map(present_credit_note, found), attrgetter("number"))

    @_BILLING.shows(_CREDIT_NOTE)
    async def get_credit_note(self, tx: Transaction, number: CreditNoteNumber) -> CreditNote:
        """One credit note."""
        return present_credit_note(await fetch_credit_note(tx, number))

    @_BILLING.shows(f"{_CREDIT_NOTE}/pdf", "The PDF file.", files={PDF: FILE})
    async def get_credit_note_pdf(self, tx: Transaction, number: CreditNoteNumber) -> Response:
        """A credit note as a PDF file."""
        found = await PRINTED_CREDIT_NOTES.one(tx, number)
        return file_response(found.pdf, f"credit-note-{found.number}.pdf", PDF)
