"""Reads invoices as the reseller sees them."""

from collections.abc import Sequence
from datetime import datetime

from tradecounter.billing.queries.invoice_records import InvoiceRecord, fetch_invoice, lines_of_invoices
from tradecounter.billing.reseller_wire import Invoice, present_invoices
from tradecounter.db.transaction import Transaction


async def shown_invoice(tx: Transaction, number: int, now: datetime) -> Invoice:
    """Return an invoice with its lines. Raises DomainError (not found)."""
    [invoice] = await shown_invoices(tx, [await fetch_invoice(tx, number)], now)
    return invoice


async def shown_invoices(tx: Transaction, records: Sequence[InvoiceRecord], now: datetime) -> list[Invoice]:
    """Return invoices with their lines, with one statement."""
    return present_invoices(records, await lines_of_invoices(tx, [record.number for record in records]), now)
