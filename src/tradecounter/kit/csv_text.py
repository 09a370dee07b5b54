"""CSV as in RFC 4180: commas, CRLF, quotes only where needed (specification, content negotiation)."""

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime

from msgspec import UNSET

from tradecounter.kit.clock import whole_second

_NEEDS_QUOTES = re.compile(r'[",\r\n]')
# What a spreadsheet takes for a formula; the apostrophes before it guard it.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'(?='*[=+\-@\t\r])")
_TEXT_FORMULA = re.compile(r'="((?:[^"]|"")*)"')

LINE_END = "\r\n"
MEDIA_TYPE = "text/csv; charset=utf-8"


def cell(text: str) -> str:
    """Return a value, quoted if necessary."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def cells_of(texts: Sequence[str]) -> Sequence[str]:
    """Return values, each quoted if necessary; fast for many values without quotes."""
    return list(map(cell, texts)) if _NEEDS_QUOTES.search("".join(texts)) else texts


def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that looks like it begins with an apostrophe."""
    return f"'{text}" if _FORMULA.match(text) else text


def cell_of(value: object) -> str:
    """Return a value as a cell's text, which no spreadsheet takes for a formula; what is not there is empty.

    A moment is in UTC, in whole seconds, as in JSON: 2026-06-16T09:12:44Z.
    """
    if value is None or value is UNSET:
        return ""
    if isinstance(value, str):
        return harmless(value)
    if isinstance(value, datetime):
        return f"{whole_second(value):%Y-%m-%dT%H:%M:%SZ}"
    return value.isoformat() if isinstance(value, date) else str(value)


def unguarded(text: str) -> str:
    """Return a cell's text without what guards it from spreadsheets: the `'` of `harmless`, or `="…"`."""
    if text[:1] not in {"'", "="}:
        return text
    formula = _TEXT_FORMULA.fullmatch(text)
    if formula is not None:
        return formula[1].replace('""', '"')
    return text[1:] if _GUARDED.match(text) else text


def line(values: Iterable[str]) -> str:
    """Return a CSV line with its line end."""
    return ",".join(map(cell, values)) + LINE_END
