"""`tradecounter credit-note`: credit notes against invoices."""

import re
from decimal import Decimal
from typing import Annotated

import typer

from tradecounter.billing.credit_shares import CreditLine
from tradecounter.billing.issue_credit_note import issue_credit_note
from tradecounter.billing.queries.credit_notes import (
    CreditNoteFilter,
    fetch_credit_note,
    list_credit_notes,
    printed_credit_note,
)
from tradecounter.billing.reseller_wire import CreditNote, present_credit_note
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, IdOf, Limit, OptionalId, Reason, called, number, pounds
from tradecounter.edge.command_line.output import LISTED, AsJson, show, show_record, show_table
from tradecounter.edge.command_line.pdf_file import Output, write_pdf
from tradecounter.edge.command_line.session import from_settings, run_change, run_query
from tradecounter.edge.command_line.tables import ColumnNames, Prose
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.errors import named_by
from tradecounter.kit.money import in_pounds
from tradecounter.kit.numbers import read_count
from tradecounter.letterhead.seller import letterhead_from

app = typer.Typer(no_args_is_help=True, help="Credit notes against invoices.")

Number = Annotated[int, IdOf("NUMBER", "The credit note's number.")]

_COLUMNS = ("number", "invoice", "order_reference", "customer_id", "issued_on", "cost_gross", Prose("reason"),
            "cost_net", "cost_tax")  # fmt: skip
_LINES = ("item_id", "sku", "quantity", "unit_cost", "cost_net", "cost_tax", "tax_rate", Prose("description"))
_ITEM = re.compile(r"([0-9]{1,18}|shipping)=(.*)", re.DOTALL)


def _line(text: str) -> CreditLine:
    found = _ITEM.fullmatch(text)
    if found is None:
        raise typer.BadParameter(f"--item {text!r}: must be ITEM_ID=QUANTITY or shipping=1")
    return CreditLine(None if found[1] == "shipping" else int(found[1]), number(read_count, found[2]))


@app.command("add")
def add(
    invoice: Annotated[int, IdOf("INVOICE", "The invoice's number.")],
    reason: Reason,
    item: Annotated[
        list[str] | None,
        typer.Option(metavar="ITEM_ID=QUANTITY", help="Units to credit; may be repeated. Shipping: shipping=1."),
    ] = None,
    amount: Annotated[
        Decimal | None, typer.Option("--amount", parser=pounds, metavar="POUNDS", help="Pounds to credit, without VAT.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the credit note and its total, and issue nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Credit units of an invoice's lines, or an amount; money that had paid for it goes to the account."""
    if bool(item) == (amount is not None):
        raise typer.BadParameter("name either --item or --amount")
    credit = [_line(text) for text in item or ()] if amount is None else amount
    letterhead = from_settings(letterhead_from)
    now = SystemClock().now()
    lines = [] if isinstance(credit, Decimal) else credit

    async def work(tx: Transaction) -> CreditNote:
        with named_by(called(lines=["shipping" if line.item_id is None else f"item {line.item_id}" for line in lines])):
            return await issue_credit_note(tx, invoice, credit, reason, letterhead, now)

    note = run_change(work, dry_run=dry_run)
    show(note, _in_words(note, dry_run=dry_run), as_json=as_json)


def _in_words(note: CreditNote, *, dry_run: bool) -> str:
    of = f"of invoice {note.invoice} over {in_pounds(note.cost_gross)}"
    if dry_run:
        return f"a credit note {of} ({in_pounds(note.cost_net)} and {in_pounds(note.cost_tax)} VAT) would be issued"
    return f"credit note {note.number} {of} is issued"


@app.command("list")
def show_all(
    customer: Customer = None,
    invoice: Annotated[int | None, OptionalId("--invoice", "NUMBER", "Only this invoice's.")] = None,
    limit: Limit = LISTED,
    columns: ColumnNames = None,
    as_json: AsJson = False,
) -> None:
    """List credit notes, the latest first."""

    async def work(tx: Transaction) -> list[CreditNote]:
        customer_id = None if customer is None else (await fetch_account(tx, customer)).id
        wanted = CreditNoteFilter(customer_id=customer_id, invoice=invoice)
        return [present_credit_note(record) for record in await list_credit_notes(tx, wanted, limit)]

    show_table(run_query(work), _COLUMNS, as_json=as_json, names=columns, limit=limit)


@app.command("show")
def show_one(number: Number, as_json: AsJson = False) -> None:
    """Show a credit note with its lines."""

    async def work(tx: Transaction) -> CreditNote:
        return present_credit_note(await fetch_credit_note(tx, number))

    show_record(run_query(work), parts={"lines": ("Lines", _LINES)}, as_json=as_json)


@app.command("pdf")
def pdf(number: Number, output: Output = None, as_json: AsJson = False) -> None:
    """Write a credit note as a PDF file, by default credit-note-NUMBER.pdf in the working directory."""
    write_pdf("credit-note", number, output, lambda tx: printed_credit_note(tx, number), as_json=as_json)
