"""CSV as RFC 4180 has it: commas, CRLF, quotes only where needed (decisions, content negotiation)."""

import re
from collections.abc import Iterable

_NEEDS_QUOTES = re.compile(r'[",\r\n]')

LINE_END = "\r\n"
MEDIA_TYPE = "text/csv; charset=utf-8"


def cell(text: str) -> str:
    """Return one value as it stands in a CSV line."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def line(values: Iterable[str]) -> str:
    """Return one CSV line, with its end."""
    return ",".join(map(cell, values)) + LINE_END
