"""Keys that people type, ids that the reseller's own programs give, and EANs.

A key is composed (NFC), has no white space or invisible characters at its ends, and neither line breaks nor invisible
characters inside. Keys are compared without case (specification, numbers and files that people make).
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta

from tradecounter.kit.errors import DomainError, Kind, invalid
from tradecounter.kit.text import INVISIBLE, fold, trimmed

_LINE_BREAK = re.compile("[\n\r\v\f\x85\u2028\u2029]")
_ODD_SPACE = re.compile(r"[^\S ]")


class UnusableKeyError(ValueError):
    """A text cannot be a key; the message has the reason."""


def clean_key(text: str) -> str:
    """Return a key as it is stored. Raises UnusableKeyError."""
    key = trimmed(text)
    if not key:
        raise UnusableKeyError("must not be empty")
    if key.isascii() and key.isprintable():
        return key
    if _LINE_BREAK.search(key):
        raise UnusableKeyError(f"{key!r} has a line break")
    odd = INVISIBLE.search(key)
    if odd is not None:
        raise UnusableKeyError(f"{key!r} has the invisible character U+{ord(odd[0]):04X}")
    space = _ODD_SPACE.search(key)
    if space is not None:
        raise UnusableKeyError(f"{key!r} has the space U+{ord(space[0]):04X}: write a plain one")
    return unicodedata.normalize("NFC", key)


def key_form(text: str) -> str:
    """Return the form in which keys are compared and looked up; any text has one."""
    return fold(trimmed(text))


class Spellings:
    """The spellings of stored keys, which references and further imports keep."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._by_form = {key_form(key): key for key in keys}

    def of(self, key: str) -> str:
        """Return the stored spelling of a key; an unknown key unchanged."""
        return self._by_form.get(key_form(key), key)

    def settled(self, key: str) -> str:
        """Return the stored spelling of a key; from now on, an unknown key keeps its first one."""
        return self._by_form.setdefault(key_form(key), key)


Key = Annotated[str, Meta(min_length=1, max_length=200)]  # of a product, which is its SKU, a category, a price list …

ExternalId = Annotated[
    str,
    Meta(
        max_length=200,
        description="Its id in another of your programs, unique for its kind, which customers never see. Null or "
        "empty: none.",
    ),
]


def clean_external_id(text: str | None) -> str | None:
    """Return an external id as it is stored; None for an empty one. Raises DomainError (invalid)."""
    if text is None or not text.strip():
        return None
    try:
        return clean_key(text)
    except UnusableKeyError as error:
        raise invalid("external_id", str(error)) from error


def taken_external_id(external_id: str | None) -> DomainError:
    """Return the error (conflict) for an external id that another record of the kind has."""
    return DomainError(Kind.CONFLICT, f"external_id: {external_id!r} is another one's")


_EAN = re.compile(r"[0-9]{8}|[0-9]{12,14}")


def ean_problem(text: str) -> str:
    """Return why a text is not an EAN, as the end of a sentence; empty for an EAN.

    An EAN has 8, 12, 13 or 14 ASCII digits. The last one is the check digit.
    """
    if _EAN.fullmatch(text) is None:
        return "which has 8, 12, 13 or 14 digits"
    if not text.strip("0"):
        return "which is not all zeros"
    digits = [int(digit) for digit in reversed(text)]
    fits = (sum(digits[::2]) + 3 * sum(digits[1::2])) % 10 == 0
    return "" if fits else "because its last digit, the check digit, does not fit the others"
