"""Comparing text without regard to case and accents; showing what others typed."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
# They reorder the text around them, so that it reads as something else.
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def fold(text: str) -> str:
    """Return the form in which keys, SKUs and names are compared: without case."""
    return text.casefold()


def normalised(text: str) -> str:
    """Return text for searching: without case, accents and typographic variants."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return _BEYOND_ASCII.sub(lambda c: "" if unicodedata.combining(c[0]) else c[0], decomposed)


def words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, normalised, in order."""
    return words_of_normalised(normalised(text))


def words_of_normalised(text: str) -> list[str]:
    """Return the runs of letters and digits of a text that is normalised already, in order."""
    return _WORD.findall(text)


def joined_word(text: str) -> str:
    """Return a text's letters and digits as one word: `WS-C2960` gives `wsc2960`."""
    return "".join(words(text))


def one_line(text: str) -> str:
    """Return text as one line, without what would break or reorder it."""
    without_controls = "".join(" " if unicodedata.category(c) == "Cc" else c for c in _DIRECTIONS.sub("", text))
    return " ".join(without_controls.split())
