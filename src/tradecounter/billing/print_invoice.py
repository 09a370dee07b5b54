"""An invoice as a PDF file, from the template `invoice.typ`.

The template gets the invoice as data: nothing of it is ever read as markup. Only the fonts that come with the package
`typst` are used, so that every machine makes the same bytes.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

import typst
from msgspec import json

from tradecounter.billing.invoice_document import InvoiceDocument, InvoiceLine, Party
from tradecounter.billing.rules import day_in_words
from tradecounter.kit.text import one_line

_LONG_WORD = re.compile(r"\S{22,}")
_PIECE = re.compile(r"(.{8})(?=.)", re.DOTALL)
_MAY_BREAK = "\u200b"
_JOINERS = "\u200c\u200d"  # which some scripts write with


def print_invoice(document: InvoiceDocument, issued_at: datetime) -> bytes:
    """Return an invoice as a PDF file; it takes some milliseconds of processor time, and may run in any thread."""
    return typst.compile(
        _template(),
        font_paths=_fonts(),
        ignore_system_fonts=True,
        sys_inputs={"invoice": json.encode(_printed(document)).decode()},
        timestamp=int(issued_at.timestamp()),
    )


@cache
def _template() -> bytes:
    return files(__package__).joinpath("invoice.typ").read_bytes()


@cache
def _fonts() -> typst.Fonts:
    return typst.Fonts(include_system_fonts=False)


def _printed(document: InvoiceDocument) -> dict[str, Any]:
    """Return what the template shows: texts alone."""
    return {
        "number": str(document.number),
        "seller": _party(document.seller),
        "customer": _party(document.customer),
        "delivery": _party(document.delivery),
        "facts": [
            ["Invoice number", str(document.number)],
            ["Invoice date", day_in_words(document.issued_on)],
            ["Tax point", day_in_words(document.supplied_on)],
            ["Due date", day_in_words(document.due_on)],
            ["Customer number", str(document.customer_id)],
            ["Order", _shown(document.order_reference)],
            ["Your reference", _shown(document.customer_reference)],
        ],
        "lines": _lines(document.lines),
        "vat_totals": [
            [f"VAT at {_per_cent(t.rate)} on {_pounds(t.net)}", _pounds(t.vat)] for t in document.vat_totals
        ],
        "net": _pounds(document.net),
        "vat": _pounds(document.vat),
        "gross": _pounds(document.gross),
        "due": _pounds(document.due),
        "payment_terms": _shown(document.payment_terms),
        "notes": [_shown(note) for note in document.notes],
    }


def _party(party: Party) -> dict[str, Any]:
    return {
        "name": _shown(party.name),
        "address": [shown for line in party.address if (shown := _shown(line))],
        "tax_number": None if party.tax_number is None else _shown(party.tax_number),
    }


def _lines(lines: Sequence[InvoiceLine]) -> list[dict[str, Any]]:
    return [
        {
            "sku": _shown(line.sku),
            "description": _shown(line.description),
            "parts": [_shown(f"{part.quantity} of {part.sku} {part.description}") for part in line.parts],
            "figures": [
                f"{line.quantity:,}",
                _pounds(line.unit_price),
                _per_cent(line.vat_rate),
                _pounds(line.net),
                _pounds(line.vat),
            ],
        }
        for line in lines
    ]


def _pounds(amount: Decimal) -> str:
    return f"£{amount:,.2f}"


def _per_cent(rate: Decimal) -> str:
    return f"{rate.normalize():f}%"


def _shown(text: str) -> str:
    """Return what somebody typed as one line, so that it cannot pass for another part of the invoice.

    Its long words may be broken, so that they stay in their column. Letters and their marks are composed, and invisible
    characters left out: who copies from a PDF file gets for every glyph what it stood for first, in amounts too.
    """
    composed = unicodedata.normalize("NFC", one_line(text))
    visible = "".join(c for c in composed if c in _JOINERS or unicodedata.category(c) != "Cf")
    return _LONG_WORD.sub(lambda word: _PIECE.sub(rf"\1{_MAY_BREAK}", word[0]), visible)
