"""Prints documents as PDF files, from templates for typst.

A template gets its document as data, never as markup. Latin, Greek and Cyrillic letters use the fonts of
the package `typst`, so every machine makes the same bytes. Other characters use the machine's fonts (Debian's
`fonts-noto-core` and `fonts-noto-cjk` cover nearly all scripts). The document lists the characters that no font has.
"""

import re
import unicodedata
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

import typst
from msgspec import json

from tradecounter.kit.text import and_more, one_line
from tradecounter.letterhead.seller import Logo, Party, Seller

_MISSING = re.compile(r"the text `\"(.*?)\"` could not be displayed")
_ESCAPED = re.compile(r"\\u\{([0-9a-fA-F]{1,6})\}|\\(.)")
_MOST_ROUNDS = 8  # a round finds the missing characters of one layout pass, usually all
_REPLACEMENT = "\u25a1"  # a white square, which the package's fonts have
_MOST_NAMED = 20

_LONG_WORD = re.compile(r"\S{22,}")
_LONG_RUN = re.compile(r"[^\W_]{22,}|[^\w\s]{22,}|[0-9A-Z]{14,}")  # capitals and digits are wide
_LONG_CODE = re.compile(r"\S{9,}")
_LONG_RUN_OF_CODE = re.compile(r"[^\W_]{9,}|[^\w\s]{9,}")
_END_OF_PART = re.compile(r"([^\w\s]|_)(?=\w)")
_PIECE = re.compile(r"(.{6})(?=.{3})", re.DOTALL)
_MAY_BREAK = "\u200b"  # `copying.typ` prints no character for it
_JOINERS = "\u200c\u200d"  # invisible, but part of the spelling in some scripts


def print_with(
    package: str, template: str, printed: Callable[["Printer"], dict[str, Any]], issued_at: datetime, logo: Logo | None
) -> bytes:
    """Return a PDF file of a package's template and its strings. May run in any thread.

    A square replaces each character that no font has; `Printer.named` lists these characters.
    """
    missing: set[str] = set()
    for _ in range(_MOST_ROUNDS):
        try:
            return _compile(
                _template(package, template), template, printed(Printer(missing)), issued_at, logo, archival=True
            )
        except typst.TypstError as error:
            missing_now = _missing_in(error) - missing
            if not missing_now:
                break
            missing |= missing_now
    return _compile(_template(package, template), template, printed(Printer(missing)), issued_at, logo, archival=False)


def _compile(
    source: bytes, name: str, shown: dict[str, Any], issued_at: datetime, logo: Logo | None, *, archival: bool
) -> bytes:
    shown["logo"] = None if logo is None else logo.as_input()
    return typst.compile(
        source,
        font_paths=_fonts(),
        sys_inputs={
            name: json.encode(shown).decode(),
            "mark": shown.get("mark") or (shown.get("seller") or {}).get("mark", ""),
        },
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
def _template(package: str, name: str) -> bytes:
    common = files("tradecounter.letterhead").joinpath("copying.typ").read_bytes()
    return common + files(package).joinpath(f"{name}.typ").read_bytes()


@cache
def _fonts() -> typst.Fonts:
    return typst.Fonts(include_system_fonts=True)


class Printer:
    """Converts documents to their templates' strings, without the characters that no font has."""

    def __init__(self, missing: AbstractSet[str]) -> None:
        self._missing = missing
        self._replaced: set[str] = set()

    def seller(self, seller: Seller) -> dict[str, Any]:
        """Return the seller's name, address, contact, legal details and bank."""
        facts = [
            ("VAT number", seller.tax_number),
            ("Company number", seller.company_number),
            ("Registered office:", seller.registered_office),
        ]
        return {
            **self.party(seller),
            "mark": seller.mark,
            "contact": [self.shown(text) for text in (seller.phone, seller.email) if text],
            "legal": [f"{label} {self.shown(text)}" for label, text in facts if text],
            "bank": [shown for line in seller.bank if (shown := self.shown(line))],
        }

    def party(self, party: Party) -> dict[str, Any]:
        """Return a name and an address."""
        return {
            "name": self.shown(party.name),
            "address": [shown for line in party.address if (shown := self.shown(line))],
            "tax_number": None if party.tax_number is None else self.shown(party.tax_number),
        }

    def named(self) -> str:
        """Return a line with the code points of the replaced characters; empty without replacements."""
        if not self._replaced:
            return ""
        codes = [f"U+{ord(character):04X}" for character in sorted(self._replaced)]
        return f"{_REPLACEMENT} replaces characters that could not be printed: {and_more(codes, _MOST_NAMED)}."

    def shown(self, text: str) -> str:
        """Return typed text as one line, so it cannot imitate another part of the document.

        Words that are too long for any column may break, where possible after a punctuation mark. Letters and their
        marks are composed, and invisible characters are removed: a PDF maps each glyph to one string, which would
        appear wherever the glyph's text is copied.
        """
        composed = unicodedata.normalize("NFC", one_line(text))
        visible = "".join(c for c in composed if c in _JOINERS or unicodedata.category(c) != "Cf")
        # Private code points show different characters in different fonts.
        replaced = {c for c in visible if c in self._missing or unicodedata.category(c) == "Co"}
        self._replaced |= replaced
        visible = "".join(_REPLACEMENT if c in replaced else c for c in visible)
        return _breakable(visible, _LONG_WORD, _LONG_RUN)

    def code(self, text: str) -> str:
        """Return a SKU or a reference as `shown`, for a narrow column of its own: shorter words may break too."""
        return _breakable(self.shown(text).replace(_MAY_BREAK, ""), _LONG_CODE, _LONG_RUN_OF_CODE)


def _breakable(text: str, long_word: re.Pattern[str], long_run: re.Pattern[str]) -> str:
    """Return the text with places to break after the parts of long words, and within long runs of like characters."""
    may_break = rf"\1{_MAY_BREAK}"
    in_parts = long_word.sub(lambda word: _END_OF_PART.sub(may_break, word[0]), text)
    return long_run.sub(lambda run: _PIECE.sub(may_break, run[0]), in_parts)
