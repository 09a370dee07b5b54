"""Keeps contacts and notes of customers. Customers never see them."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from tradecounter.audit.record import audit
from tradecounter.customer_notes.queries import (
    Contact,
    contacts_of,
    delete_contact,
    insert_contact,
    insert_note,
    store_contact,
)
from tradecounter.customers.queries.accounts import fetch_account, lock_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.kit.email_addresses import NOT_AN_EMAIL, parse_email
from tradecounter.kit.errors import invalid, or_not_found, require_text
from tradecounter.kit.text import LONGEST_NAME

LONGEST_NOTE = 2000
_Text = Annotated[str, Meta(max_length=LONGEST_NAME)]
Name = Annotated[str, Meta(min_length=1, max_length=LONGEST_NAME, description="The person's name.")]
Task = Annotated[_Text, Meta(description="What to speak to the person about.")]
Email = Annotated[_Text, Meta(description="An e-mail address.")]
Phone = Annotated[_Text, Meta(description="A phone number.")]


class ContactDetails(Struct, kw_only=True):
    """A person at a customer."""

    name: Name
    task: Task = ""
    email: Email = ""
    phone: Phone = ""


class ContactChange(Struct, kw_only=True):
    """What changes of a person; what is left out stays."""

    name: Name | UnsetType = UNSET
    task: Task | UnsetType = UNSET
    email: Email | UnsetType = UNSET
    phone: Phone | UnsetType = UNSET


class CustomerNote(Struct):
    """A note about a customer. With `promised_on`, the customer has promised to pay by that day."""

    text: Annotated[str, Meta(max_length=LONGEST_NOTE, description="May be empty with a promise.")] = ""
    promised_on: Annotated[
        date | None, Meta(description="The customer has promised to pay by this day: 2026-06-01.")
    ] = None


_MOST_CONTACTS = 50


async def add_note(
    tx: Transaction, customer_id: int, text: str, now: datetime, *, promised_on: date | None = None
) -> str:
    """Add a note about a customer, with the day by which it has promised to pay, if it has; return its text.

    The audit log has no text of notes: nothing is erased from it, and they tell of people who are not customers.

    Raises DomainError: not found, invalid.
    """
    account = await fetch_account(tx, customer_id)
    text = text.strip()
    if not text and promised_on is not None:
        text = "Promised to pay."
    require_text("text", text, LONGEST_NOTE)
    if promised_on is not None and promised_on < uk_date(now):
        raise invalid("promised_on", "is in the past")
    await insert_note(tx, account.id, text, promised_on, tx.actor.acting_user or tx.actor.name, now)
    audit(tx, "customer.note", f"customer/{account.id}", now, after={"promised_on": promised_on})
    return text


async def add_contact(tx: Transaction, customer_id: int, person: ContactDetails, now: datetime) -> Contact:
    """Add a contact, and return it. Raises DomainError: not found, invalid."""
    account = await lock_account(tx, customer_id)  # so that contacts that are added at the same time count each other
    checked = _checked(asdict(person))
    if len(await contacts_of(tx, account.id)) >= _MOST_CONTACTS:
        raise invalid("name", f"is too many: a customer has at most {_MOST_CONTACTS} contacts")
    added = await insert_contact(tx, account.id, checked)
    audit(tx, "customer.add_contact", f"customer/{account.id}", now, after={"id": added.id})
    return added


async def change_contact(
    tx: Transaction, customer_id: int, contact_id: int, changes: dict[str, str], now: datetime
) -> Contact:
    """Change fields of a customer's contact, and return it. Raises DomainError: not found, invalid."""
    await lock_account(tx, customer_id)  # so that a change at the same time is compared with what this one leaves
    before = await fetch_contact(tx, customer_id, contact_id)
    contact = await store_contact(tx, contact_id, _checked(before.details | changes))
    changed = [name for name, text in contact.details.items() if text != before.details[name]]
    if changed:
        after = {"id": contact_id, "changed": changed}
        audit(tx, "customer.change_contact", f"customer/{customer_id}", now, after=after)
    return contact


async def remove_contact(tx: Transaction, customer_id: int, contact_id: int, now: datetime) -> Contact:
    """Remove a customer's contact, and return it. Raises DomainError (not found)."""
    await lock_account(tx, customer_id)
    contact = await fetch_contact(tx, customer_id, contact_id)
    await delete_contact(tx, contact.id)
    audit(tx, "customer.remove_contact", f"customer/{customer_id}", now, before={"id": contact.id})
    return contact


async def fetch_contact(tx: Transaction, customer_id: int, contact_id: int) -> Contact:
    """Return a customer's contact. Raises DomainError (not found)."""
    match = next((contact for contact in await contacts_of(tx, customer_id) if contact.id == contact_id), None)
    return or_not_found(match, "contact", contact_id)


def _checked(details: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of a contact, trimmed. Raises DomainError (invalid)."""
    trimmed = {name: text.strip() for name, text in details.items()}
    for name, text in trimmed.items():
        if text or name == "name":
            require_text(name, text, LONGEST_NAME)
    if trimmed["email"] and parse_email(trimmed["email"]) is None:
        raise invalid("email", NOT_AN_EMAIL)
    return trimmed
