"""`/credit-note`: the customer's credit notes."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace
from starlette.responses import Response

from tradecounter.billing.operations.public import (
    BY_NUMBER,
    DocumentList,
    data_response,
    document_file,
    document_filters,
)
from tradecounter.billing.wire import CustomerDocumentLine, own_line
from tradecounter.credit_notes.operations.staff import CREDIT_NOTE, CreditNoteNumber
from tradecounter.credit_notes.queries import (
    PRINTED_CREDIT_NOTES,
    CreditNoteFilter,
    CreditNoteRecord,
    count_credit_notes,
    fetch_credit_note,
    list_credit_notes,
)
from tradecounter.credit_notes.reseller_wire import CreditNote, CreditNoteFields, present_credit_note
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk
from tradecounter.edge.operations.subject import FILE, Described, Subject
from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.headers import PAGING
from tradecounter.edge.rest.negotiation import CSV, PDF, choose_named
from tradecounter.edge.rest.operation import Link, Sample, csv_media
from tradecounter.edge.rest.paging import COUNTED_BY_SIZE
from tradecounter.edge.rest.record_lists import Layout, RecordLists
from tradecounter.kit.wire import made_from


class CustomerCreditNote(CreditNoteFields, frozen=True, kw_only=True):
    """A credit note with its lines, which correct those of an invoice."""

    lines: Annotated[list[CustomerDocumentLine], Meta(description="What is credited.")]


def own_credit_note(note: CreditNote) -> CustomerCreditNote:
    """Return a credit note as its customer sees it."""
    return made_from(note, CustomerCreditNote, lines=[own_line(line) for line in note.lines])


_DESCRIBED: Mapping[type, Described] = {
    CustomerCreditNote: Described("The credit note.", own_credit_note(CREDIT_NOTE), "CreditNote"),
}
_DOCUMENTS = Subject(tag="Documents", keys=("account",), described=_DESCRIBED)

_CREDIT_NOTES: Layout[CustomerCreditNote] = Layout(
    "credit-notes",
    ("number", "invoice", "order_reference", "issued_on", "reason", "cost_net", "cost_tax", "cost_gross"),
)


class _CreditNotes(Struct, frozen=True):
    """A customer's credit notes that match a filter."""

    chosen: CreditNoteFilter

    async def count(self, tx: Transaction) -> int:
        return await count_credit_notes(tx, self.chosen)

    async def read(
        self, tx: Transaction, most: int, start: int, after: CreditNoteRecord | None
    ) -> Sequence[CreditNoteRecord]:
        chosen = self.chosen if after is None else replace(self.chosen, before=after.number)
        return await list_credit_notes(tx, chosen, most, start)

    async def shown(self, _tx: Transaction, rows: Sequence[CreditNoteRecord]) -> Sequence[CustomerCreditNote]:
        return [own_credit_note(present_credit_note(note)) for note in rows]


class CreditNoteEndpoints(Struct, frozen=True):
    """The endpoints of the customer's credit notes."""

    desk: Desk
    lists: RecordLists

    @_DOCUMENTS.shows(
        "/credit-note",
        "The credit notes of one page.",
        headers=PAGING,
        files={CSV: csv_media(_CREDIT_NOTES.table(own_credit_note(CREDIT_NOTE)))},
        description="With their lines. With `Accept: text/csv`, a table without the lines. " + COUNTED_BY_SIZE,
        sample=Sample({"limit": "3"}),
        cacheable=True,
    )
    async def list_credit_notes(self, call: Call, query: DocumentList) -> list[CustomerCreditNote] | Response:
        """List your credit notes, newest first."""
        chosen = CreditNoteFilter(customer_id=call.customer_id, **document_filters(query))
        return await self.lists.respond(call, query, _CreditNotes(chosen), _CREDIT_NOTES)

    @_DOCUMENTS.shows(
        "/credit-note/{number}",
        files={PDF: FILE},
        links=(Link("listCreditNotes", "One of the credit notes, by its number.", BY_NUMBER),),
        cacheable=True,
    )
    async def get_credit_note(
        self, tx: Transaction, call: Call, number: CreditNoteNumber
    ) -> CustomerCreditNote | Response:
        """One credit note.

        With `Accept: application/pdf`, the file that was sent by e-mail. Neither ever changes.
        """
        if choose_named(call.accept, [PDF]) == PDF:
            printed = await PRINTED_CREDIT_NOTES.one(tx, number, call.customer_id)
            return document_file(call, printed.pdf, f"credit-note-{number}.pdf")
        record = await fetch_credit_note(tx, number, call.customer_id)
        return data_response(call, own_credit_note(present_credit_note(record)))
