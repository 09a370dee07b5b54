"""Comparing text without regard to case and accents."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")


def fold(text: str) -> str:
    """Return the form in which keys, SKUs and names are compared: without case."""
    return text.casefold()


def normalised(text: str) -> str:
    """Return text for searching: without case, accents and typographic variants."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, normalised, in order."""
    return _WORD.findall(text.casefold() if text.isascii() else normalised(text))


def joined_word(text: str) -> str:
    """Return a text's letters and digits as one word: `WS-C2960` gives `wsc2960`."""
    return "".join(words(text))
