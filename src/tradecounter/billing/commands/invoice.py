"""`tradecounter invoice`, `order invoice` and `order pay`: issues invoices, records their payments."""

from decimal import Decimal
from typing import Annotated

import typer

from tradecounter.billing.invoices import issue_invoice, resend_invoice, shown_invoice
from tradecounter.billing.queries.invoice_records import (
    InvoiceFilter,
    list_invoices,
)
from tradecounter.billing.queries.invoices import PRINTED_INVOICES
from tradecounter.billing.reseller_wire import InvoiceSummary, present_summary
from tradecounter.customers.queries.accounts import fetch_account
from tradecounter.db.transaction import Transaction
from tradecounter.edge.command_line.arguments import Customer, IdOf, Limit, OrderName, Since, Until, pounds
from tradecounter.edge.command_line.lists import lists_records
from tradecounter.edge.command_line.output import (
    LISTED,
    AsJson,
    Prose,
    one_line,
    show,
    show_record,
)
from tradecounter.edge.command_line.pdf_file import Output, write_pdf
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
