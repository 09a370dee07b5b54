"""`tradecounter customer note`, `contacts`, `add-contact` and `remove-contact`: what staff know of a customer."""

from datetime import datetime
from typing import Annotated, Any

import typer

from tradecounter.customer_notes.keep_notes import ContactDetails, CustomerNote, add_contact, add_note, remove_contact
from tradecounter.customer_notes.queries import Contact, contacts_of
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import CustomerId, IdOf
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import AsJson, Prose, show_record
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import run_change

customer = typer.Typer()

_COLUMNS = ("id", Prose("name"), Prose("task"), "email", "phone")


@customer.command("note")
@takes_request(
    required=("text",),
    text=Option("TEXT", "What to note; the customer does not see it."),
    promised_on=Option("--promised"),
)
def note(customer_id: CustomerId, request: CustomerNote, as_json: AsJson = False) -> None:
    """Add a note about a customer, which is in its timeline."""

    async def work(tx: Transaction, now: datetime) -> dict[str, Any]:
        noted = await add_note(tx, customer_id, request.text, now, promised_on=request.promised_on)
        return {"customer_id": customer_id, "text": noted, "promised_on": request.promised_on}

    show_record(run_change(work), as_json=as_json)


@customer.command("contacts")
@lists_records(_COLUMNS)
async def contacts(tx: Transaction, customer_id: CustomerId) -> list[Contact]:
    """List the people at a customer."""
    account = await fetch_account(tx, customer_id)
    return await contacts_of(tx, account.id)


@customer.command("add-contact")
@takes_request()
def add_one(customer_id: CustomerId, person: ContactDetails, as_json: AsJson = False) -> None:
    """Add a person at a customer."""
    added = run_change(lambda tx, now: add_contact(tx, customer_id, person, now))
    show_record(added, as_json=as_json)


@customer.command("remove-contact")
def remove_one(
    customer_id: CustomerId,
    contact_id: Annotated[int, IdOf("CONTACT_ID", "The id, from `customer contacts`.")],
    as_json: AsJson = False,
) -> None:
    """Remove a person at a customer."""
    show_record(run_change(lambda tx, now: remove_contact(tx, customer_id, contact_id, now)), as_json=as_json)
