"""`tradecounter credit-note`: credit notes against invoices."""

import re
from typing import Annotated

import typer
from msgspec import UNSET

from tradecounter.credit_notes.issue_credit_note import issue_credit_note
from tradecounter.credit_notes.operations.staff import CreditNoteRequest
from tradecounter.credit_notes.queries import (
    PRINTED_CREDIT_NOTES,
    CreditNoteFilter,
    fetch_credit_note,
    list_credit_notes,
)
from tradecounter.credit_notes.reseller_wire import CreditNote, present_credit_note
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, IdOf, Limit, OptionalId, number
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose, show, show_record
from tradecounter.edge.command_line.pdf_file import Output, write_pdf
from tradecounter.edge.command_line.request_options import Option, takes_request
from tradecounter.edge.command_line.session import from_settings, run_change, run_query
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import read_count
from tradecounter.letterhead.seller import letterhead_from

app = typer.Typer(no_args_is_help=True, help="Credit notes against invoices.")

Number = Annotated[int, IdOf("NUMBER", "The credit note's number.")]

_COLUMNS = ("number", "invoice", "order_reference", "customer_id", "issued_on", "cost_gross", Prose("reason"),
            "cost_net", "cost_tax")  # fmt: skip
_LINES = ("item_id", "sku", "quantity", "unit_cost", "cost_net", "cost_tax", "tax_rate", Prose("description"))
_ITEM = re.compile(r"([0-9]{1,18}|shipping)=(.*)", re.DOTALL)


def _line(text: str) -> dict[str, int | None]:
    match = _ITEM.fullmatch(text)
    if match is None:
        raise typer.BadParameter(f"{text!r} must be ITEM_ID=QUANTITY or shipping=1")
    return {
        "item_id": None if match[1] == "shipping" else int(match[1]),
        "quantity": number(read_count, match[2]),
    }


@app.command("add")
@takes_request(
    lines=Option("--item", "Units to credit; may be repeated. Shipping: shipping=1.", "ITEM_ID=QUANTITY", _line),
    amount=Option(metavar="POUNDS"),
)
def add(
    invoice: Annotated[int, IdOf("INVOICE", "The invoice's number.")],
    request: CreditNoteRequest,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the credit note and its total, and issue nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Credit units of an invoice's lines, or an amount; money that had paid for it goes to the account."""
    if (request.lines is UNSET) == (request.amount is UNSET):
        raise typer.BadParameter("name either --item or --amount")
    letterhead = from_settings(letterhead_from)
    note = run_change(
        lambda tx, now: issue_credit_note(tx, invoice, request.credit, request.reason, letterhead, now),
        dry_run=dry_run,
    )
    show(note, _in_words(note, dry_run=dry_run), as_json=as_json)


def _in_words(note: CreditNote, *, dry_run: bool) -> str:
    of = f"of invoice {note.invoice} over {in_pounds(note.cost_gross)}"
    if dry_run:
        return f"a credit note {of} ({in_pounds(note.cost_net)} and {in_pounds(note.cost_tax)} VAT) would be issued"
    return f"credit note {note.number} {of} is issued"


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(
    tx: Transaction,
    customer: Customer = None,
    invoice: Annotated[int | None, OptionalId("--invoice", "NUMBER", "Only this invoice's.")] = None,
    limit: Limit = LISTED,
) -> list[CreditNote]:
    """List credit notes, the latest first."""
    customer_id = None if customer is None else (await fetch_account(tx, customer)).id
    wanted = CreditNoteFilter(customer_id=customer_id, invoice=invoice)
    return [present_credit_note(record) for record in await list_credit_notes(tx, wanted, limit)]


@app.command("show")
def show_one(number: Number, as_json: AsJson = False) -> None:
    """Show a credit note with its lines."""

    async def work(tx: Transaction) -> CreditNote:
        return present_credit_note(await fetch_credit_note(tx, number))

    show_record(run_query(work), parts={"lines": ("Lines", _LINES)}, as_json=as_json)


@app.command("pdf")
def pdf(number: Number, output: Output = None, as_json: AsJson = False) -> None:
    """Write a credit note as a PDF file, by default credit-note-NUMBER.pdf in the working directory."""
    write_pdf("credit-note", number, output, lambda tx: PRINTED_CREDIT_NOTES.one(tx, number), as_json=as_json)
