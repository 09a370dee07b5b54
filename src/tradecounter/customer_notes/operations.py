"""`/api/customer/{id}/contact` and `/api/customer/{id}/note`: what staff know of a customer."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated

from msgspec import UNSET, Struct, structs

from tradecounter.customer_notes.keep_notes import (
    ContactChange,
    ContactDetails,
    CustomerNote,
    add_contact,
    add_note,
    change_contact,
    remove_contact,
)
from tradecounter.customer_notes.queries import Contact, contacts_of
from tradecounter.customers.operations.staff import ONE_CUSTOMER, CustomerId
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.operations.desk import Desk, SinceParameters
from tradecounter.edge.operations.signature import InPath
from tradecounter.edge.operations.subject import Described, Subject

_CONTACTS = f"{ONE_CUSTOMER}/contact"
_NOTES = f"{ONE_CUSTOMER}/note"

ContactId = Annotated[int, InPath("contact_id", "The contact's id.", 7, "contact")]


_ADA = Contact(id=7, name="Ada Byron", task="Deliveries", email="ada@harbourline.example", phone="020 7946 0123")
_DESCRIBED: Mapping[type, Described] = {
    ContactDetails: Described("", ContactDetails(name=_ADA.name, task=_ADA.task, email=_ADA.email, phone=_ADA.phone)),
    ContactChange: Described("", ContactChange(phone=_ADA.phone)),
    Contact: Described("The contact.", _ADA),
    CustomerNote: Described("The note.", CustomerNote("Pays once the cables are here.", date(2026, 7, 3))),
}
_CUSTOMERS = Subject(tag="Customers", read="customers:read", write="customers:write", described=_DESCRIBED)


class CustomerNoteOperations(Struct, frozen=True):
    """The endpoints of contacts and notes, which customers never see."""

    desk: Desk

    @_CUSTOMERS.shows(_CONTACTS, "The contacts by name.")
    async def list_contacts(self, tx: Transaction, customer_id: CustomerId, query: SinceParameters) -> list[Contact]:
        """The people at a customer."""
        account = await fetch_account(tx, customer_id)
        return await contacts_of(tx, account.id, query.since)

    @_CUSTOMERS.changes("POST", _CONTACTS, location="{id}")
    async def create_contact(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, body: ContactDetails
    ) -> Contact:
        """Add a contact."""
        return await add_contact(tx, customer_id, body, now)

    @_CUSTOMERS.changes("PATCH", f"{_CONTACTS}/{{contact_id}}")
    async def change_contact(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, contact_id: ContactId, body: ContactChange
    ) -> Contact:
        """Change a contact; what is left out stays."""
        changes = {name: value for name, value in structs.asdict(body).items() if value is not UNSET}
        return await change_contact(tx, customer_id, contact_id, changes, now)

    @_CUSTOMERS.changes("DELETE", f"{_CONTACTS}/{{contact_id}}", "The contact is removed.")
    async def remove_contact(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, contact_id: ContactId
    ) -> None:
        """Remove a contact."""
        await remove_contact(tx, customer_id, contact_id, now)

    @_CUSTOMERS.changes("POST", _NOTES)
    async def add_customer_note(
        self, tx: Transaction, now: datetime, customer_id: CustomerId, body: CustomerNote
    ) -> CustomerNote:
        """Add a note, which the customer does not see."""
        text = await add_note(tx, customer_id, body.text, now, promised_on=body.promised_on)
        return CustomerNote(text, body.promised_on)
