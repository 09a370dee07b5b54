"""Invoices as a table, and as a ZIP file of PDF files."""

import zipfile
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console
from rich.progress import track

from tradecounter_client.client import Tradecounter
from tradecounter_client.models import CustomerInvoice
from tradecounter_client.trade.lists import pounds, table


def show_invoices(console: Console, invoices: Iterable[CustomerInvoice]) -> None:
    """Print invoices with what is due."""
    shown = table(">Invoice", "Order", "Reference", "Issued", "Due on", ">Gross", ">Due", "State")
    for invoice in invoices:
        shown.add_row(
            str(invoice.number), invoice.order_reference, invoice.customer_reference, invoice.issued_on,
            invoice.due_on, pounds(invoice.cost_gross), pounds(invoice.due), invoice.state,
        )  # fmt: skip
    console.print(shown)


def zip_invoices(console: Console, client: Tradecounter, invoices: Iterable[CustomerInvoice], file: Path) -> None:
    """Save the invoices' files. The ZIP file appears when it is complete."""
    found = list(invoices)
    unfinished = file.with_name(f"{file.name}.part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for invoice in track(found, "Invoices", console=console):
            archive.writestr(f"invoice-{invoice.number}.pdf", client.invoice_file(invoice.number))
    unfinished.replace(file)
    console.print(f"{file}: {len(found)} invoices")
