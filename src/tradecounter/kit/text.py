"""Normalises strings for comparison and search, makes untrusted strings safe to print, and says numbers of things."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import takewhile

LONGEST_REASON = 1000  # characters, of a reason that someone gives
LONGEST_NAME = 200
_LONGEST_SHOWN = 60

_WORD = re.compile(r"[^\W_]+")
# Letters that Unicode does not take apart: strokes are left out, ligatures opened.
_OPENED = str.maketrans(
    {"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ı": "i", "ŋ": "n"}  # noqa: RUF001 the letter that is meant
)
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_SIGMAS = "\N{GREEK CAPITAL LETTER SIGMA}\N{GREEK SMALL LETTER SIGMA}\N{GREEK SMALL LETTER FINAL SIGMA}"
# Direction characters, which change the visible order of the surrounding text.
_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")

# What shows nothing: control and format characters, separators of lines, and letters and marks that are blank. NUL is
# not removed from the ends of texts, because none may have it.
_INVISIBLE = (
    "\x01-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
INVISIBLE = re.compile(f"[\\x00{_INVISIBLE}]")
_ENDS = re.compile(rf"\A[\s{_INVISIBLE}]+|[\s{_INVISIBLE}]+\Z")


def fold(text: str) -> str:
    """Return the form of a string in which names are compared: without case, and composed (NFC)."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def and_more(names: Sequence[str], most: int) -> str:
    """Return names in a row; of more than `most` the first, and the number of the others: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def did_you_mean(candidates: Sequence[str]) -> str:
    """Return the end of an error that suggests what was meant; empty without candidates."""
    return f"; did you mean {' or '.join(candidates)}?" if candidates else ""


def trimmed(text: str) -> str:
    """Return a string without white space and invisible characters at its ends."""
    text = text.strip()
    return text if text.isascii() and text.isprintable() else _ENDS.sub("", text)


def is_blank(text: str) -> bool:
    """Return whether a string shows nothing."""
    return not trimmed(text)


def normalised(text: str) -> str:
    """Return a string for searching, without case, accents, strokes, ligatures and typographic variants."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return _BEYOND_ASCII.sub(lambda c: "" if unicodedata.combining(c[0]) else c[0], decomposed).translate(_OPENED)


def lowered_pattern(text: str) -> str:
    """Return a regular expression that finds a text in what a database has lowered, perhaps ASCII letters alone."""
    return "".join(_lowered_letter(letter) for letter in unicodedata.normalize("NFC", text))


def _lowered_letter(letter: str) -> str:
    if letter.isascii():
        return re.escape(letter.lower())
    lower = letter.lower()  # of the Turkish capital I, an i with a dot above; some databases write the i alone
    cases = {letter, lower, lower[0], letter.upper(), letter.upper().lower(), letter.title()}
    if letter in _SIGMAS:  # which of the small ones a database writes depends on the word, or does not
        cases.update(_SIGMAS)
    return f"(?:{'|'.join(sorted({_lowered_ascii(case) for case in cases}))})"


def _lowered_ascii(text: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def words(text: str) -> list[str]:
    """Return a string's words (runs of letters and digits), normalised and in order."""
    return _WORD.findall(normalised(text))


def joined_word(text: str) -> str:
    """Return a string's letters and digits as one word: `WS-C2960` gives `wsc2960`."""
    return "".join(words(text))


def shown_name(text: str) -> str:
    """Return a name from a request for a message: one line of at most sixty printable characters."""
    printable = "".join(c if c.isprintable() else " " for c in text[: _LONGEST_SHOWN + 1].strip())
    line = " ".join(printable.split())
    return f"{line[:_LONGEST_SHOWN]}\N{HORIZONTAL ELLIPSIS}" if len(text.strip()) > _LONGEST_SHOWN else line


def one_line(text: str) -> str:
    """Return a string as one line, without control and direction characters."""
    without_controls = "".join(" " if unicodedata.category(c) == "Cc" else c for c in _DIRECTIONS.sub("", text))
    return " ".join(without_controls.split())


def sentence(text: str) -> str:
    """Return a text with a capital letter at its beginning, unless it begins with an e-mail address."""
    return text if "@" in text.partition(" ")[0] else f"{text[:1].upper()}{text[1:]}"


def common_beginning(one: str, other: str) -> int:
    """Return how many characters two texts begin with together."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def counted(number: int, most: int | None = None) -> str:
    """Return a number for people; 1,000+ for one that was counted up to `most`."""
    return f"{number:,}+" if most is not None and number >= most else f"{number:,}"


def plural(number: int, one: str, several: str = "", most: int | None = None) -> str:
    """Return a number, which may be counted up to `most`, with its noun: 1 order, 2 orders, 1,000+ orders."""
    return f"{counted(number, most)} {one if number == 1 else several or one + 's'}"
