"""Compares text without regard to case and accents; makes untrusted text safe to show."""

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
# They reorder the text around them, which then reads differently.
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def fold(text: str) -> str:
    """Return the form without case in which keys, SKUs and names are compared."""
    return text.casefold()


def normalised(text: str) -> str:
    """Return text for searching: without case, accents and typographic variants."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return _BEYOND_ASCII.sub(lambda c: "" if unicodedata.combining(c[0]) else c[0], decomposed)


def words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text in order, normalised."""
    return words_of_normalised(normalised(text))


def words_of_normalised(text: str) -> list[str]:
    """Return the runs of letters and digits of a normalised text in order."""
    return _WORD.findall(text)


def joined_word(text: str) -> str:
    """Return a text's letters and digits as one word: `WS-C2960` gives `wsc2960`."""
    return "".join(words(text))


def one_line(text: str) -> str:
    """Return text as one line, without control and direction characters."""
    without_controls = "".join(" " if unicodedata.category(c) == "Cc" else c for c in _DIRECTIONS.sub("", text))
    return " ".join(without_controls.split())
