"""Formats values for an operator's terminal."""

import re
from typing import Any

from tradecounter.kit.to_json import to_json

_MOMENT = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})\.[0-9]+Z")  # in UTC, with a fraction


def cell(value: Any) -> str:
    """Return a record's value on one line; a missing value is a dash."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and not any(isinstance(item, dict | list) for item in value):
        return one_line(", ".join(map(str, value))) or "-"
    text = to_json(value).decode() if isinstance(value, dict | list) else str(value)
    moment = _MOMENT.fullmatch(text)
    return one_line(text if moment is None else f"{moment[1]}Z") or "-"


def one_line(text: str) -> str:
    """Return a string without control characters: customers' input must not control the operator's terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
