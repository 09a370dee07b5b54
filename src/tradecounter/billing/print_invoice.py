"""Prints invoices and credit notes as PDF files, and packs several into a ZIP file."""

import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any, Final

from tradecounter.billing.invoice_document import (
    BilledDocument,
    CreditNoteDocument,
    InvoiceDocument,
    InvoiceLine,
    VatTotal,
)
from tradecounter.billing.queries.invoices import PrintedDocument
from tradecounter.kit.clock import day_in_words
from tradecounter.kit.money import in_pounds
from tradecounter.letterhead.printing import Printer, print_with
from tradecounter.letterhead.seller import Logo

_PACKAGE: Final = "tradecounter.billing"


def print_invoice(document: InvoiceDocument, issued_at: datetime, logo: Logo | None = None) -> bytes:
    """Return an invoice as a PDF file. Takes some milliseconds of processor time; any thread may call it.

    A square replaces a character that no font has; a line below the text lists these characters.
    """
    return print_with(_PACKAGE, "invoice", lambda printer: _invoice(printer, document), issued_at, logo)


def print_credit_note(document: CreditNoteDocument, issued_at: datetime, logo: Logo | None = None) -> bytes:
    """Return a credit note as a PDF file, as `print_invoice` does."""
    return print_with(_PACKAGE, "invoice", lambda printer: _credit_note(printer, document), issued_at, logo)


def _invoice(printer: Printer, document: InvoiceDocument) -> dict[str, Any]:
    return {
        "kind": "Invoice",
        "labels": {"to": "Invoice to", "due": "Amount due", "terms": "Payment terms"},
        "number": str(document.number),
        "seller": printer.seller(document.seller),
        "customer": printer.party(document.customer),
        "delivery": printer.party(document.delivery),
        "facts": [
            ["Invoice number", str(document.number)],
            ["Invoice date", _day(document.issued_on)],
            ["Tax point", _day(document.supplied_on)],
            ["Due date", _day(document.due_on)],
            ["Customer number", str(document.customer_id)],
            ["Order reference", printer.code(document.order_reference)],
            ["Your reference", printer.code(document.customer_reference)],
        ],
        "lines": _lines(printer, document.lines),
        "totals": _totals(document),
        "due": in_pounds(document.due),
        "nothing_due": not document.due,
        "payment_terms": printer.shown(document.payment_terms).replace(
            day_in_words(document.due_on), _day(document.due_on)
        ),
        "notes": [printer.shown(note) for note in document.notes],
        "unshown": printer.named(),
    }


def _credit_note(printer: Printer, document: CreditNoteDocument) -> dict[str, Any]:
    return {
        "kind": "Credit note",
        "labels": {"to": "Credit to", "due": "Total credit", "terms": "Reason for the credit"},
        "number": str(document.number),
        "seller": printer.seller(document.seller),
        "customer": printer.party(document.customer),
        "delivery": None,
        "facts": [
            ["Credit note number", str(document.number)],
            ["Date", _day(document.issued_on)],
            ["Invoice number", str(document.invoice)],
            ["Invoice date", _day(document.invoice_issued_on)],
            ["Customer number", str(document.customer_id)],
            ["Order reference", printer.code(document.order_reference)],
            ["Your reference", printer.code(document.customer_reference)],
        ],
        "lines": _lines(printer, document.lines),
        "totals": _totals(document),
        "due": in_pounds(document.gross),
        "nothing_due": True,
        "payment_terms": printer.shown(document.reason).removesuffix(".") + ".",
        "notes": ["It lowers what is due of the invoice. What was paid of it already is on the account."],
        "unshown": printer.named(),
    }


def _lines(printer: Printer, lines: Sequence[InvoiceLine]) -> list[dict[str, Any]]:
    return [
        {
            "sku": printer.code(line.sku),
            "description": printer.shown(line.description),
            "serial_numbers": [printer.shown(number) for number in line.serial_numbers],
            "parts": [
                [
                    printer.shown(f"{part.quantity} of {part.sku} {part.description}"),
                    [printer.shown(number) for number in part.serial_numbers],
                ]
                for part in line.parts
            ],
            "figures": [
                f"{line.quantity:,}",
                in_pounds(line.unit_price),
                _per_cent(line.vat_rate),
                in_pounds(line.net),
                in_pounds(line.vat),
            ],
        }
        for line in lines
    ]


def _totals(document: BilledDocument) -> list[list[str]]:
    return [
        ["Total excluding VAT", in_pounds(document.net)],
        *_vat_totals(document.vat_totals, document.vat),
        ["Total including VAT", in_pounds(document.gross)],
    ]


def _vat_totals(totals: Sequence[VatTotal], vat: Decimal) -> list[list[str]]:
    """Return VAT by rate, with the sum for several rates."""
    by_rate = [[f"VAT at {_per_cent(t.rate)} on {in_pounds(t.net)}", in_pounds(t.vat)] for t in totals]
    if len(totals) == 1:
        return [[f"VAT at {_per_cent(totals[0].rate)}", in_pounds(vat)]]
    return [*by_rate, ["Total VAT", in_pounds(vat)]]


def _day(day: date) -> str:
    return day_in_words(day).replace(" ", "\u00a0")


def _per_cent(rate: Decimal) -> str:
    return f"{rate.normalize():f}%"


def zipped_documents(documents: Sequence[PrintedDocument], name: str) -> bytes:
    """Return a ZIP file with documents; the name of each file is `name` and the document's number."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as archive:  # PDF files are compressed already
        for document in documents:
            archive.writestr(f"{name}-{document.number}.pdf", document.pdf)
    return written.getvalue()
