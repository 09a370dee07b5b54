"""The terms under which a text is found, and the words that mean the same.

White space parts a text into tokens. Punctuation, which a token keeps as `~`, parts a token into words. Each word is a
term. The words of a token are also joined to terms (`usbc` for `USB-C`), and so are numbers beside short words (`2m`
for `2 m`).
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import pairwise

from msgspec import Struct
from Stemmer import Stemmer

from tradecounter.kit.text import normalised, words

# First byte of a term that is no word of the text. Words have neither.
COMPOUND = b"\x01"  # words that punctuation parts in the text, joined: `usbc` for `USB-C`
PHRASE = b"\x02"  # two words of a short text, joined and stemmed: `patchpanel` for `Patch panels`; found as a whole
LAST_KIND = PHRASE[0]

_MARK = b"~"
_BLANK = b" "
_UNIT = 5  # letters of a word that is joined with a number in long texts: `2 m`, `24 ports`
_MOST_PARTS = 8  # of a token that are joined; an address of a page has more
_DIGITS_END = ord("9") + 1  # in encoded texts, letters come after digits

_ASCII_END = 128
_TABLE = bytes(
    (ord(chr(byte).lower()) if chr(byte).isalnum() else ord(_BLANK if chr(byte).isspace() else _MARK))
    if byte < _ASCII_END
    else byte
    for byte in range(256)
)
_OTHER = re.compile(r"[\W_]")

_STEMMER = Stemmer("english")
_NO_PLURALS = frozenset({"ids", "ims", "ips", "its", "ups"})
_SHORTEST_PLURAL = 4  # letters of an abbreviation whose final s is dropped: `pdus`


def stem(word: str) -> str:
    """Return what forms of an English word have in common: `switch` for `switches`. Other words stay what they are."""
    return stems([word])[0] if word.isascii() and word.isalpha() else word


def stems(words: list[str]) -> list[str]:
    """Return the stem of each word, which has only letters of ASCII, as `stem` does."""
    stemmed_words: list[str] = _STEMMER.stemWords(words)
    return [_stem(word, stemmed) for word, stemmed in zip(words, stemmed_words, strict=True)]


def _stem(word: str, stemmed: str) -> str:
    if word in _NO_PLURALS:
        return word
    if len(stemmed) >= _SHORTEST_PLURAL and stemmed.endswith("s") and not stemmed.endswith("ss"):
        return stemmed[:-1]
    return stemmed


def tokens(text: str) -> list[bytes]:
    """Return the tokens of a text, encoded, in order."""
    if text.isascii() or (text := normalised(text)).isascii():
        marked = text.encode().translate(_TABLE)
    else:
        marked = _OTHER.sub(lambda other: " " if other[0].isspace() else "~", text).encode(errors="surrogatepass")
    # Punctuation at the ends of words parts nothing; without it, fewer tokens differ.
    return marked.replace(b"~ ", _BLANK).replace(b" ~", _BLANK).split()


def token_of_code(code: str) -> bytes:
    """Return a code, such as a SKU, as one token: its parts belong together, whatever stands between them."""
    return _MARK.join(tokens(code))


def is_word(token: bytes) -> bool:
    """Return whether a token's only term is itself."""
    return _MARK not in token and _BLANK not in token


def parts_of(token: bytes) -> list[bytes]:
    """Return the words of a token, in order."""
    return token.replace(_MARK, _BLANK).split()


def changes_kind(left: bytes, right: bytes) -> bool:
    """Return whether a letter follows a digit or a digit a letter where two words meet."""
    return (left[-1] < _DIGITS_END) != (right[0] < _DIGITS_END)


def numbers_with_units(token_list: list[bytes]) -> list[bytes]:
    """Return the numbers beside short words in a long text, joined by a blank, as `terms_of` takes them."""
    return [
        left + _BLANK + right
        for left, right in pairwise(token_list)
        if (left[-1] < _DIGITS_END) != (right[0] < _DIGITS_END)
        and len(left if right[0] < _DIGITS_END else right) <= _UNIT
    ]


def neighbours(token_list: list[bytes]) -> list[bytes]:
    """Return each two neighbours of a short text, joined by a blank, as `terms_of` takes them."""
    return [left + _BLANK + right for left, right in pairwise(token_list)]


def terms_of(token: bytes) -> set[bytes]:
    """Return the terms of a token; of two that a blank joins, what their neighbouring words are together."""
    left, blank, right = token.partition(_BLANK)
    if blank:
        pair = [*parts_of(left)[-1:], *parts_of(right)[:1]]
        return {_joined(pair, PHRASE)} if len(pair) > 1 else set()
    if _MARK not in token:
        return {token}
    parts = parts_of(token)
    terms = set(parts)
    joinable = parts[:_MOST_PARTS]
    for start in range(len(joinable) - 1):
        terms.add(_joined(joinable[start : start + 2], COMPOUND))
        if start + 2 < len(joinable):
            terms.add(_joined(joinable[start:], COMPOUND))
    return terms


def terms_of_code(token: bytes) -> set[bytes]:
    """Return the terms of a code: its parts, and all of them joined."""
    parts = parts_of(token)
    return {*parts, COMPOUND + b"".join(parts)} if len(parts) > 1 else set(parts)


def _joined(parts: list[bytes], kind: bytes) -> bytes:
    """Join words. Where only letters and digits meet, what is joined and what is parted is the same word."""
    joined = b"".join(parts)
    if len(parts) == 2 and changes_kind(*parts):  # noqa: PLR2004 two words
        return joined
    if len(parts) > 2 and all(changes_kind(left, right) for left, right in pairwise(parts)):  # noqa: PLR2004
        return joined
    return kind + (encoded_stem(joined) if kind == PHRASE else joined)


def encoded_stem(word: bytes) -> bytes:
    """Return the encoded stem of an encoded word."""
    return stem(word.decode(errors="surrogatepass")).encode(errors="surrogatepass")


Phrase = tuple[str, ...]

# The trade's. Only what means the same belongs here, not what is near: a transceiver is not always an SFP.
GROUPS = (
    "adaptor, adapter",
    "wlan, wifi, wireless lan",
    "patch cable, patch lead, patch cord",
    "poe injector, midspan",
    "fibre, fiber",
    "psu, power supply, power supply unit",
    "ups, uninterruptible power supply",
    "pdu, power distribution unit",
    "nvr, network video recorder",
    "nic, network adapter, network interface card",
    "ap, access point",
)


class Synonyms(Struct, frozen=True):
    """The phrases that mean the same as a phrase, by its words, joined and stemmed; all phrases, joined, in order."""

    others: dict[str, tuple[Phrase, ...]]
    joined: tuple[str, ...]

    @classmethod
    def of(cls, groups: Collection[str]) -> "Synonyms":
        """Return the synonyms of the program's groups and of others; each is a line of phrases separated by commas."""
        synonyms: defaultdict[str, dict[Phrase, None]] = defaultdict(dict)
        for group in (*GROUPS, *groups):
            phrases = phrases_of(group)
            for phrase in phrases:
                synonyms[key_of(phrase)] |= dict.fromkeys(other for other in phrases if key_of(other) != key_of(phrase))
        joined = sorted("".join(phrase) for group in (*GROUPS, *groups) for phrase in phrases_of(group))
        return cls({key: tuple(others) for key, others in synonyms.items()}, tuple(joined))

    def of_phrase(self, phrase: Iterable[str]) -> tuple[Phrase, ...]:
        """Return the phrases that mean the same as a phrase, without itself."""
        return self.others.get(key_of(phrase), ())

    def is_begun(self, joined: str) -> bool:
        """Return whether a phrase of a group, joined, begins so."""
        place = bisect_left(self.joined, joined)
        return place < len(self.joined) and self.joined[place].startswith(joined)


def phrases_of(group: str) -> list[Phrase]:
    """Return a group's phrases."""
    return [phrase for text in group.split(",") if (phrase := tuple(words(text)))]


def key_of(phrase: Iterable[str]) -> str:
    """Return a phrase's words, joined and stemmed."""
    return stem("".join(phrase))
