"""Prints invoices and credit notes as PDF files, from the template `invoice.typ`.

The template gets them as data, never as markup. Latin, Greek and Cyrillic letters use the fonts of
the package `typst`, so every machine makes the same bytes. Other characters use the machine's fonts (Debian's
`fonts-noto-core` and `fonts-noto-cjk` cover nearly all scripts). The invoice lists the characters that no font has.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

import typst
from msgspec import json

from tradecounter.billing.invoice_document import CreditNoteDocument, InvoiceDocument, InvoiceLine, VatTotal
from tradecounter.kit.local_time import day_in_words
from tradecounter.kit.money import in_pounds
from tradecounter.kit.text import one_line
from tradecounter.letterhead.logo import Logo
from tradecounter.letterhead.seller import Party, Seller

_MISSING = re.compile(r"the text `\"(.*?)\"` could not be displayed")
_ESCAPED = re.compile(r"\\u\{([0-9a-fA-F]{1,6})\}|\\(.)")
_MOST_ROUNDS = 8  # a round finds the missing characters of one layout pass, usually all
_REPLACEMENT = "\u25a1"  # a white square, which the package's fonts have
_MOST_NAMED = 20

_LONG_WORD = re.compile(r"\S{22,}")
_PIECE = re.compile(r"(.{8})(?=.)", re.DOTALL)
_MAY_BREAK = "\u200b"
_JOINERS = "\u200c\u200d"  # invisible, but part of the spelling in some scripts


def print_invoice(document: InvoiceDocument, issued_at: datetime, logo: Logo | None = None) -> bytes:
    """Return an invoice as a PDF file. Takes some milliseconds of processor time, and may run in any thread.

    A square replaces each character that no font has; a line below the text lists these characters.
    """
    return print_with("invoice", lambda printer: printer.printed(document), issued_at, logo)


def print_credit_note(document: CreditNoteDocument, issued_at: datetime, logo: Logo | None = None) -> bytes:
    """Return a credit note as a PDF file, as `print_invoice` does."""
    return print_with("invoice", lambda printer: printer.printed_credit_note(document), issued_at, logo)


def print_with(
    template: str, printed: Callable[["Printer"], dict[str, Any]], issued_at: datetime, logo: Logo | None
) -> bytes:
    """Return a PDF file of a template and its strings, as `print_invoice` does."""
    missing: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        try:
            return _compile(template, printed(Printer(missing)), issued_at, logo, archival=True)
        except typst.TypstError as error:
            found = _missing_in(error) - missing
            if not found:
                break
            missing |= found
    return _compile(template, printed(Printer(missing)), issued_at, logo, archival=False)


def _compile(template: str, shown: dict[str, Any], issued_at: datetime, logo: Logo | None, *, archival: bool) -> bytes:
    shown["logo"] = None if logo is None else logo.as_input()
    return typst.compile(
        _template(template),
        font_paths=_fonts(),
        sys_inputs={template: json.encode(shown).decode()},
        # PDF/A: the file embeds its fonts, and the compiler rejects missing glyphs.
        pdf_standards="a-2b" if archival else None,
        timestamp=int(issued_at.timestamp()),
    )


def _missing_in(error: typst.TypstError) -> set[str]:
    """Return the characters that the compiler reports as missing from all fonts."""
    texts = _MISSING.findall(f"{error}\n{getattr(error, 'diagnostic', '')}")
    return {character for text in texts for character in _ESCAPED.sub(_unescaped, text)} - {_REPLACEMENT, " "}


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else escape[2]


@cache
def _template(name: str) -> bytes:
    return files(__package__).joinpath(f"{name}.typ").read_bytes()


@cache
def _fonts() -> typst.Fonts:
    return typst.Fonts(include_system_fonts=True)


class Printer:
    """Converts documents to their templates' strings, without the characters that no font has."""

    def __init__(self, missing: AbstractSet[str]) -> None:
        self._missing = missing
        self._replaced: set[str] = set()

    def printed(self, document: InvoiceDocument) -> dict[str, Any]:
        """Return the strings of an invoice."""
        return {
            "kind": "Invoice",
            "labels": {"to": "Invoice to", "due": "Amount due", "terms": "Payment terms"},
            "number": str(document.number),
            "seller": self.seller(document.seller),
            "customer": self._party(document.customer),
            "delivery": self._party(document.delivery),
            "facts": [
                ["Invoice number", str(document.number)],
                ["Invoice date", _day(document.issued_on)],
                ["Tax point", _day(document.supplied_on)],
                ["Due date", _day(document.due_on)],
                ["Customer number", str(document.customer_id)],
                ["Order reference", self.shown(document.order_reference)],
                ["Your reference", self.shown(document.customer_reference)],
            ],
            "lines": self._lines(document.lines),
            "totals": _totals(document),
            "due": in_pounds(document.due),
            "nothing_due": not document.due,
            "payment_terms": self.shown(document.payment_terms).replace(
                day_in_words(document.due_on), _day(document.due_on)
            ),
            "notes": [self.shown(note) for note in document.notes],
            "unshown": self.named(),
        }

    def printed_credit_note(self, document: CreditNoteDocument) -> dict[str, Any]:
        """Return the strings of a credit note."""
        return {
            "kind": "Credit note",
            "labels": {"to": "Credit to", "due": "Total credit", "terms": "Reason for the credit"},
            "number": str(document.number),
            "seller": self.seller(document.seller),
            "customer": self._party(document.customer),
            "delivery": None,
            "facts": [
                ["Credit note number", str(document.number)],
                ["Date", _day(document.issued_on)],
                ["Invoice number", str(document.invoice)],
                ["Invoice date", _day(document.invoice_issued_on)],
                ["Customer number", str(document.customer_id)],
                ["Order reference", self.shown(document.order_reference)],
                ["Your reference", self.shown(document.customer_reference)],
            ],
            "lines": self._lines(document.lines),
            "totals": _totals(document),
            "due": in_pounds(document.gross),
            "nothing_due": True,
            "payment_terms": self.shown(document.reason).removesuffix(".") + ".",
            "notes": ["It lowers what is due of the invoice. What was paid of it already is on the account."],
            "unshown": self.named(),
        }

    def seller(self, seller: Seller) -> dict[str, Any]:
        """Return the seller's name, address, contact, legal details and bank."""
        facts = [
            ("VAT number", seller.tax_number),
            ("Company number", seller.company_number),
            ("Registered office:", seller.registered_office),
        ]
        return {
            **self._party(seller),
            "contact": [self.shown(text) for text in (seller.phone, seller.email) if text],
            "legal": [f"{label} {self.shown(text)}" for label, text in facts if text],
            "bank": [shown for line in seller.bank if (shown := self.shown(line))],
        }

    def _party(self, party: Party) -> dict[str, Any]:
        return {
            "name": self.shown(party.name),
            "address": [shown for line in party.address if (shown := self.shown(line))],
            "tax_number": None if party.tax_number is None else self.shown(party.tax_number),
        }

    def _lines(self, lines: Sequence[InvoiceLine]) -> list[dict[str, Any]]:
        return [
            {
                "sku": self.shown(line.sku),
                "description": self.shown(line.description),
                "serial_numbers": [self.shown(number) for number in line.serial_numbers],
                "parts": [
                    [
                        self.shown(f"{part.quantity} of {part.sku} {part.description}"),
                        [self.shown(number) for number in part.serial_numbers],
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

    def named(self) -> str:
        """Return a line with the code points of the replaced characters; empty without replacements."""
        if not self._replaced:
            return ""
        codes = [f"U+{ord(character):04X}" for character in sorted(self._replaced)]
        more = f" and {len(codes) - _MOST_NAMED} more" if len(codes) > _MOST_NAMED else ""
        return f"{_REPLACEMENT} replaces characters that could not be printed: {', '.join(codes[:_MOST_NAMED])}{more}."

    def shown(self, text: str) -> str:
        """Return typed text as one line, so it cannot imitate another part of the invoice.

        Long words may break, to stay in their column. Letters and their marks are composed, and invisible characters
        are removed: a PDF maps each glyph to one string, which would appear wherever the glyph's text is copied.
        """
        composed = unicodedata.normalize("NFC", one_line(text))
        visible = "".join(c for c in composed if c in _JOINERS or unicodedata.category(c) != "Cf")
        # Private code points show different characters in different fonts.
        replaced = {c for c in visible if c in self._missing or unicodedata.category(c) == "Co"}
        self._replaced |= replaced
        visible = "".join(_REPLACEMENT if c in replaced else c for c in visible)
        return _LONG_WORD.sub(lambda word: _PIECE.sub(rf"\1{_MAY_BREAK}", word[0]), visible)


def _totals(document: InvoiceDocument | CreditNoteDocument) -> list[list[str]]:
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
