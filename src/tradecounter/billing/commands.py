"""`tradecounter invoice`, `order invoice`, `order pay`, `statement`, `debtors`, `remind` and `vat`."""

import sys
from datetime import date
from decimal import Decimal
from typing import Annotated

import typer
from msgspec.structs import asdict

from tradecounter.billing.account_statement import (
    AccountStatement,
    print_statement,
    read_statement,
    send_statement,
    statement_csv,
)
from tradecounter.billing.debtors import Debtor, read_debtors, remind_debtor
from tradecounter.billing.invoices import issue_invoice, resend_invoice, shown_invoice
from tradecounter.billing.queries.invoice_records import InvoiceFilter, list_invoices
from tradecounter.billing.queries.invoices import PRINTED_INVOICES
from tradecounter.billing.reseller_wire import InvoiceSummary, present_summary
from tradecounter.billing.vat_report import VatLine, read_vat_report, vat_csv
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.customers.settings import Account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import (
    Customer,
    CustomerId,
    Day,
    IdOf,
    Limit,
    OrderName,
    Since,
    Until,
    pounds,
)
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import LISTED, AsJson, Prose, one_line, show, show_json, show_record
from tradecounter.edge.command_line.pdf_file import Output, write_file, write_pdf
from tradecounter.edge.command_line.request_options import takes_request
from tradecounter.edge.command_line.session import from_settings, run_change, run_query
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.money import in_pounds
from tradecounter.letterhead.seller import letterhead_from
from tradecounter.orders.reseller_wire import Invoicing
from tradecounter.payments.record_payment import pay_order

app = typer.Typer(no_args_is_help=True, help="Issued invoices; `order invoice` issues one.")

Number = Annotated[int, IdOf("NUMBER", "The invoice's number.")]

_COLUMNS = ("number", "order_reference", "customer_id", "issued_on", "due_on", "cost_gross", "due", "paid", "credited",
            "cost_net", "cost_tax", "tax_point")  # fmt: skip
_LINES = ("item_id", "sku", "quantity", "unit_cost", "cost_net", "cost_tax", "tax_rate", Prose("description"))


@app.command("list")
@lists_records(_COLUMNS)
async def show_all(
    tx: Transaction,
    customer: Customer = None,
    since: Since = None,
    until: Until = None,
    unpaid: Annotated[bool, typer.Option("--unpaid", help="Only unpaid or part-paid invoices.")] = False,
    overdue: Annotated[
        bool, typer.Option("--overdue", help="Only unpaid or part-paid invoices past their due date.")
    ] = False,
    limit: Limit = LISTED,
) -> list[InvoiceSummary]:
    """List invoices, the latest first. --from and --to filter by time of issue."""
    invoice_filter = InvoiceFilter(
        customer_id=None if customer is None else (await fetch_account(tx, customer)).id,
        issued_from=since,
        issued_to=until,
        unpaid=unpaid,
        overdue_at=SystemClock().now() if overdue else None,
    )
    return [present_summary(invoice) for invoice in await list_invoices(tx, invoice_filter, limit)]


@app.command("show")
def show_one(number: Number, as_json: AsJson = False) -> None:
    """Show an invoice with its lines."""
    shown = run_query(lambda tx: shown_invoice(tx, number, SystemClock().now()))
    show_record(shown, parts={"lines": ("Lines", _LINES)}, as_json=as_json)


@app.command("pdf")
def pdf(
    number: Number,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Write an invoice as a PDF file, by default invoice-NUMBER.pdf in the working directory."""
    write_pdf("invoice", number, output, lambda tx: PRINTED_INVOICES.one(tx, number), as_json=as_json)


@app.command("resend")
def resend(number: Number, as_json: AsJson = False) -> None:
    """Send an invoice again, to the order's recipients and the account's e-mail address for invoices."""
    resent = run_change(lambda tx, now: resend_invoice(tx, number, now))
    to = one_line(", ".join(resent.recipients))
    show(resent, f"the worker sends invoice {number} of order {resent.order_reference} to {to}", as_json=as_json)


order = typer.Typer()


@order.command("invoice")
@takes_request()
def invoice(reference: OrderName, wanted: Invoicing, as_json: AsJson = False) -> None:
    """Invoice all that is dispatched and not yet invoiced; if all is invoiced, show the latest invoice's number."""
    letterhead = from_settings(letterhead_from)
    issued = run_change(lambda tx, now: issue_invoice(tx, reference, letterhead, now, part=wanted.part))
    if issued.new and letterhead.examples:
        typer.echo(f"warning: the invoice shows built-in examples of {', '.join(letterhead.examples)}", err=True)
    done = "is issued" if issued.new else "was issued before"
    shown = {"number": issued.number, "order_reference": issued.order_reference, "gross": issued.gross}
    text = f"invoice {issued.number} of order {issued.order_reference} over {in_pounds(issued.gross)} {done}"
    show(shown, text, as_json=as_json)


@order.command("pay")
def pay(
    reference: OrderName,
    amount: Annotated[Decimal, typer.Argument(parser=pounds, metavar="AMOUNT", help="Pounds; at most what is due.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be due then; record nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Record a payment of an order's oldest unpaid invoice."""
    paid = run_change(lambda tx, now: pay_order(tx, reference, amount, now), dry_run=dry_run)
    verb = "would be" if dry_run else "is"
    left = f"{in_pounds(paid.total_due)} {verb} due by {str(paid.due_on)[:10]}" if paid.total_due else ""
    of = f"{in_pounds(paid.total_paid)} of {in_pounds(paid.total_cost)} {verb} paid of {paid.order_reference}"
    show(paid, f"{of}; {left or f'it {verb} paid in full'}", as_json=as_json)


_ENTRIES = ("at", "kind", "number", "debit", "credit", "balance", Prose("description"))
_DEBTORS = ("customer_id", Prose("name"), "due", "overdue", "not_due", "days_1_30", "days_31_60", "days_61_90",
            "over_90", "unallocated")  # fmt: skip


def statement(
    customer_id: CustomerId,
    send: Annotated[bool, typer.Option("--send", help="Send it to the customer by e-mail, as a PDF file.")] = False,
    since: Annotated[date | None, Day("--from", "The first day. Default: that of the first entry.")] = None,
    until: Annotated[date | None, Day("--to", "The last day. Default: today.")] = None,
    pdf: Annotated[
        str | None,
        typer.Option("--pdf", metavar="FILE", help="Write a PDF file; - for standard output.", show_default=False),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print it as CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a customer's account: invoices, credit notes, payments, balances, and what is due by age."""
    if (pdf == "-") + as_csv + as_json > 1:
        raise typer.BadParameter("--csv, --json and --pdf - each write to standard output")
    if send and (since or until or pdf or as_csv):
        raise typer.BadParameter("--send sends the last twelve months: leave out --from, --to, --pdf and --csv")
    if send:
        sent = run_change(lambda tx, now: send_statement(tx, customer_id, now))
        show(sent, f"the worker sends {one_line(sent.recipient)} the statement", as_json=as_json)
        return
    now = SystemClock().now()

    async def work(tx: Transaction) -> tuple[Account, AccountStatement]:
        return await fetch_account(tx, customer_id), await read_statement(tx, customer_id, since, until, now)

    account, account_statement = run_query(work)
    if pdf is not None:
        letterhead = from_settings(letterhead_from)
        write_file(pdf, print_statement(account_statement, account.name, letterhead, now))
    if as_csv:
        sys.stdout.write(statement_csv(account_statement))
    elif as_json:
        show_json(account_statement)
    elif pdf is None:
        show_record(account_statement, parts={"entries": ("Entries", _ENTRIES)}, as_json=False)
    elif pdf != "-":
        typer.echo(f"the statement is in {pdf}")


def remind(customer_id: CustomerId, as_json: AsJson = False) -> None:
    """Remind a customer of all unpaid invoices, by e-mail to the account's address for invoices."""
    reminder = run_change(lambda tx, now: remind_debtor(tx, customer_id, now))
    to = one_line(reminder.recipient)
    sums = f"due {in_pounds(reminder.due)}, overdue {in_pounds(reminder.overdue)}"
    message = f"the worker sends {to} a reminder: unpaid invoices {reminder.invoices}, {sums}"
    show(reminder, message, as_json=as_json)


@lists_records(_DEBTORS, in_table=lambda debtor: asdict(debtor) | asdict(debtor.ageing))
async def debtors(tx: Transaction) -> list[Debtor]:
    """List the customers with unpaid invoices, and what is due by age."""
    return await read_debtors(tx, SystemClock().now())


def vat(
    since: Annotated[date | None, Day("--from", "The first day. Default: that of the quarter of --to.")] = None,
    until: Annotated[date | None, Day("--to", "The last day. Default: today.")] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the lines as CSV.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the VAT of a period, by default of the last whole quarter, and the boxes of a VAT return that sales fill."""
    if as_csv and as_json:
        raise typer.BadParameter("--csv and --json both write to standard output")
    vat_report = run_query(lambda tx: read_vat_report(tx, since, until, SystemClock().now()))
    if as_csv:
        sys.stdout.write(vat_csv(vat_report))
    else:
        show_record(vat_report, parts={"lines": ("Lines", VatLine.__struct_fields__)}, as_json=as_json)
