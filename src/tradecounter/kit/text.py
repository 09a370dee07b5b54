"""Normalises strings for comparison and search, and makes untrusted strings safe to print."""

import re
import unicodedata

_LONGEST_NAME = 60

_WORD = re.compile(r"[^\W_]+")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
# Direction characters, which change the visible order of the surrounding text.
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def fold(text: str) -> str:
    """Return a string's case-folded form, in which keys, SKUs and names are compared."""
    return text.casefold()


def normalised(text: str) -> str:
    """Return a string for searching, without case, accents and typographic variants."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return _BEYOND_ASCII.sub(lambda c: "" if unicodedata.combining(c[0]) else c[0], decomposed)


def words(text: str) -> list[str]:
    """Return a string's words (runs of letters and digits), normalised and in order."""
    return words_of_normalised(normalised(text))


def words_of_normalised(text: str) -> list[str]:
    """Return the words (runs of letters and digits) of a normalised string, in order."""
    return _WORD.findall(text)


def joined_word(text: str) -> str:
    """Return a string's letters and digits as one word: `WS-C2960` gives `wsc2960`."""
    return "".join(words(text))


def shown_name(text: str) -> str:
    """Return a name from a request for a message: one line of at most sixty printable characters."""
    printable = "".join(c if c.isprintable() else " " for c in text[: _LONGEST_NAME + 1].strip())
    line = " ".join(printable.split())
    return f"{line[:_LONGEST_NAME]}\N{HORIZONTAL ELLIPSIS}" if len(text.strip()) > _LONGEST_NAME else line


def one_line(text: str) -> str:
    """Return a string as one line, without control and direction characters."""
    without_controls = "".join(" " if unicodedata.category(c) == "Cc" else c for c in _DIRECTIONS.sub("", text))
    return " ".join(without_controls.split())
