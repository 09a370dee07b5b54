"""`tradecounter invoice`: issued invoices."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from tradecounter.billing.invoice_document import InvoiceLine
from tradecounter.billing.queries.lookup import (
    InvoiceFilter,
    InvoiceRecord,
    invoice_document,
    invoiced_items,
    list_invoices,
    printed_invoice,
    the_invoice,
)
from tradecounter.billing.resend_invoice import resend_invoice
from tradecounter.cli.arguments import LARGEST_ID, Customer, Limit, Since, Until
from tradecounter.cli.output import AsJson, show, show_record, show_table
from tradecounter.cli.session import fail, run_change, run_query
from tradecounter.cli.tables import ColumnNames, Prose
from tradecounter.cli.text import one_line
from tradecounter.customers.queries.accounts import the_account
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.local_time import uk_date

app = typer.Typer(no_args_is_help=True, help="Issued invoices; `order invoice` issues one.")

Number = Annotated[int, typer.Argument(min=1, max=LARGEST_ID, metavar="NUMBER", help="The invoice's number.")]

_COLUMNS = ("number", "order_reference", "customer_id", "issued_on", "due_on", "cost_gross", "due", "paid", "credited",
            "cost_net", "cost_tax", "tax_point")  # fmt: skip
_LINES = ("item_id", "sku", "quantity", "unit_cost", "cost_net", "cost_tax", "tax_rate", Prose("description"))


@app.command("list")
def show_all(
    customer: Customer = None,
    since: Since = None,
    until: Until = None,
    unpaid: Annotated[bool, typer.Option("--unpaid", help="Only unpaid or part-paid invoices.")] = False,
    overdue: Annotated[
        bool, typer.Option("--overdue", help="Only unpaid or part-paid invoices past their due date.")
    ] = False,
    limit: Limit = 1000,
    columns: ColumnNames = None,
    as_json: AsJson = False,
) -> None:
    """List invoices, the latest first. --from and --to filter by time of issue."""

    async def work(tx: Transaction) -> list[InvoiceRecord]:
        chosen = InvoiceFilter(
            customer_id=None if customer is None else (await the_account(tx, customer)).id,
            issued_from=since,
            issued_to=until,
            unpaid=unpaid,
            overdue_at=SystemClock().now() if overdue else None,
        )
        return await list_invoices(tx, chosen, limit)

    invoices = [_shown(invoice) for invoice in run_query(work)]
    show_table(invoices, _COLUMNS, as_json=as_json, names=columns)


@app.command("show")
def show_one(number: Number, as_json: AsJson = False) -> None:
    """Show an invoice with its lines."""

    async def work(tx: Transaction) -> dict[str, Any]:
        invoice = await the_invoice(tx, number)
        document = await invoice_document(tx, number)
        items = await invoiced_items(tx, number)
        lines = [_line(item, line) for item, line in zip(items, document.lines, strict=True)]
        return {**_shown(invoice), "lines": lines}

    show_record(run_query(work), parts={"lines": ("Lines", _LINES)}, as_json=as_json)


@app.command("pdf")
def pdf(
    number: Number,
    output: Annotated[
        str | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="The file to write; - for standard output.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write an invoice as a PDF file, by default invoice-NUMBER.pdf in the working directory."""
    if output == "-" and as_json:
        raise typer.BadParameter("--json and --output - both write to standard output")
    content = run_query(lambda tx: printed_invoice(tx, number)).pdf
    if output == "-":
        sys.stdout.buffer.write(content)
        return
    path = Path(output or f"invoice-{number}.pdf")
    try:
        path.write_bytes(content)
    except OSError as error:
        fail(f"{path} cannot be written: {error.strerror}")
    show(
        {"number": number, "file": str(path), "bytes": len(content)}, f"invoice {number} is in {path}", as_json=as_json
    )


@app.command("resend")
def resend(number: Number, as_json: AsJson = False) -> None:
    """Send an invoice again, to the order's recipients and the account's e-mail address for invoices."""
    resent = run_change(lambda tx: resend_invoice(tx, number, SystemClock().now()))
    to = one_line(", ".join(resent.recipients))
    show(resent, f"the worker sends invoice {number} of order {resent.order_reference} to {to}", as_json=as_json)


def _shown(invoice: InvoiceRecord) -> dict[str, Any]:
    return {
        "number": invoice.number,
        "order_reference": invoice.order_reference,
        "customer_id": invoice.customer_id,
        "issued_on": uk_date(invoice.issued_at),
        "tax_point": uk_date(invoice.supplied_at),
        "due_on": uk_date(invoice.due_at),
        "cost_net": invoice.net,
        "cost_tax": invoice.vat,
        "cost_gross": invoice.gross,
        "paid": invoice.paid,
        "credited": invoice.credited,
        "due": invoice.due,
    }


def _line(item_id: int | None, line: InvoiceLine) -> dict[str, Any]:
    return {
        "item_id": item_id,
        "sku": line.sku or None,
        "description": line.description,
        "quantity": line.quantity,
        "unit_cost": line.unit_price,
        "cost_net": line.net,
        "tax_rate": line.vat_rate,
        "cost_tax": line.vat,
    }
