"""Reads forms (`application/x-www-form-urlencoded`)."""

import re

from tradecounter.kit.errors import DomainError, Kind

MEDIA_TYPE = "application/x-www-form-urlencoded"

_ESCAPE = re.compile(rb"%([0-9a-fA-F]{2})?")


def read_form(raw: bytes) -> dict[str, str]:
    """Return a form's fields; a field without a value counts as absent.

    Raises DomainError (invalid) for a repeated field, a broken escape, a NUL, or bytes that are not UTF-8.
    """
    fields: dict[str, str] = {}
    for part in raw.split(b"&"):
        if not part:
            continue
        name, _, value = part.partition(b"=")
        field = form_decoded(name)
        if field in fields:
            raise DomainError(Kind.INVALID, f"{field[:100]}: is given more than once")
        fields[field] = form_decoded(value)
    return {name: value for name, value in fields.items() if value}


def form_decoded(raw: bytes) -> str:
    """Return a form's name or value, decoded. Raises DomainError (invalid)."""
    try:
        text = _ESCAPE.sub(_decoded, raw.replace(b"+", b" ")).decode()
    except ValueError as error:
        raise DomainError(Kind.INVALID, "the form is not UTF-8, or contains a broken % escape") from error
    if "\x00" in text:
        raise DomainError(Kind.INVALID, "the form contains a NUL character: leave it out")
    return text


def _decoded(escape: re.Match[bytes]) -> bytes:
    if escape[1] is None:
        raise ValueError("a % without two hexadecimal digits")
    return bytes([int(escape[1], 16)])
