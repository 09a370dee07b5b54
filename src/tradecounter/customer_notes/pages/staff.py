"""`/customer/{id}/timeline`, notes and contacts: what staff know of a customer."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Struct, structs

from tradecounter.audit.queries import actors_at
from tradecounter.customer_notes.keep_notes import (
    ContactDetails,
    CustomerNote,
    add_contact,
    add_note,
    change_contact,
    fetch_contact,
    remove_contact,
)
from tradecounter.customer_notes.queries import Happening, contacts_of, timeline_of
from tradecounter.db.transaction import Transaction
from tradecounter.edge.page_kit.tables import Cells, Column, TableOrder, TableParameters
from tradecounter.edge.page_kit.values import short_code
from tradecounter.edge.pages.listing import Listing, RowsToRead, table_page
from tradecounter.edge.pages.page_desk import PageDesk
from tradecounter.edge.pages.step import Question, step
from tradecounter.edge.rest.call import Call
from tradecounter.kit.text import common_beginning
from tradecounter.parts.back_office import OfficeParts
from tradecounter.parts.sentences import happened
from tradecounter.parts.shown import shown_customer

_TIMELINE = "/customer/{id}/timeline"
_CONTACT = "/customer/{id}/contact-person"
_COLUMNS = (Column("What"), Column("When"))
_CELLS: Cells = {
    "at": "at",
    "what": "kind",
    "subject": "subject",
    "text": "text",
    "promised_on": "promised_on",
    "by": "by",
}


def _sentence(row: Happening, done: Mapping[tuple[str, datetime], Sequence[tuple[str, str]]]) -> tuple[str, str, str]:
    """Return who did what before, in and after the name of an event's subject."""
    entries = [entry for subject in row.audited_as for entry in done.get((subject, row.at), ())]
    # Of several things at the same moment, it is the one whose action is like the event: `order.confirm`.
    _, by = max(entries, key=lambda entry: common_beginning(entry[0], row.kind), default=("", ""))
    data = msgspec.json.decode(row.data)
    before, name, after = happened(row.kind, by, row.name, data)
    if short_code(name) != name:
        name = data.get("customer_reference") or name  # as every list names an order that is not confirmed
    return before, name, after


class CustomerNotePages(Struct, frozen=True):
    """A customer's timeline, and the forms of notes and contacts."""

    desk: PageDesk
    parts: OfficeParts

    async def _customer(
        self, tx: Transaction, call: Call, listing: Listing[TableParameters, Happening]
    ) -> dict[str, Any]:
        customer = await shown_customer(tx, call)
        contacts = await contacts_of(tx, customer.id)
        rows = listing.rows
        subjects = {subject for row in rows for subject in row.audited_as if row.subject}
        done = await actors_at(tx, subjects, {row.at for row in rows})
        return {
            "shown": customer,
            "contacts": contacts,
            "sentence_of": lambda row: _sentence(row, done),
        }

    @table_page(
        _TIMELINE,
        "A customer's timeline",
        columns=_COLUMNS,
        order=TableOrder({"at": tuple[datetime, int]}, "-at", lambda row, _: ((row.at, row.rank), row.id)),
        template="customer_notes/timeline.html",
        file="timeline",
        cells=_CELLS,
        values=_customer,
        scope="customers:read",
    )
    async def show_timeline(
        self, tx: Transaction, call: Call, wanted: TableParameters, at: RowsToRead
    ) -> list[Happening]:
        after = at["after"]
        before = None if after is None else (*after[0], after[1])
        return await timeline_of(tx, call.path_id("id", "customer"), wanted.most, before)

    async def _shown(self, tx: Transaction, call: Call) -> dict[str, Any]:
        """Return the customer, and the contact that the path names, if it names one."""
        customer = await shown_customer(tx, call)
        contact = None
        if "contact_id" in call.request.path_params:
            contact = await fetch_contact(tx, customer.id, call.path_id("contact_id", "contact"))
        return {"shown": customer, "contact": contact}

    @step(
        "/customer/{id}/note",
        "Add a note",
        template="customer_notes/note.html",
        values=_shown,
        to=_TIMELINE,
        done="The note is added.",
        scope="customers:read",
    )
    async def note(self, tx: Transaction, call: Call, body: CustomerNote, now: datetime) -> None:
        await add_note(tx, call.path_id("id", "customer"), body.text, now, promised_on=body.promised_on)

    @step(
        f"{_CONTACT}/new",
        "Add a contact",
        template="customer_notes/contact_person.html",
        values=_shown,
        to="/customer/{id}",
        done="The contact is added.",
        scope="customers:write",
    )
    async def add(self, tx: Transaction, call: Call, body: ContactDetails, now: datetime) -> None:
        await add_contact(tx, call.path_id("id", "customer"), body, now)

    @step(
        f"{_CONTACT}/{{contact_id}}",
        "Change a contact",
        template="customer_notes/contact_person.html",
        values=_shown,
        to="/customer/{id}",
        done="The contact is changed.",
        scope="customers:write",
    )
    async def change(self, tx: Transaction, call: Call, body: ContactDetails, now: datetime) -> None:
        contact_id = call.path_id("contact_id", "contact")
        await change_contact(tx, call.path_id("id", "customer"), contact_id, structs.asdict(body), now)

    async def _ask_to_remove(self, tx: Transaction, call: Call) -> Question:
        customer = await shown_customer(tx, call)
        contact = await fetch_contact(tx, customer.id, call.path_id("contact_id", "contact"))
        return Question(
            text=f"{contact.name} is no contact of {customer.name} any more?",
            button="Remove",
            back=customer.path,
            back_name=customer.name,
            detail=[text for text in (contact.task, contact.email, contact.phone) if text],
            danger=True,
        )

    @step(
        f"{_CONTACT}/{{contact_id}}/remove",
        "Remove a contact",
        asks=_ask_to_remove,
        to="/customer/{id}",
        done="The contact is removed.",
        scope="customers:write",
    )
    async def remove(self, tx: Transaction, call: Call, now: datetime) -> None:
        await remove_contact(tx, call.path_id("id", "customer"), call.path_id("contact_id", "contact"), now)
