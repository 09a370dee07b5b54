"""The search of products as a plain scan of all texts, to compare the index with.

It reads every text of every product again for every word of a query, and tries all ways to join the words.
"""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from tradecounter.products.search.terms import GROUPS, stem

FIELDS = ("code", "name", "manufacturer", "category", "attribute", "text")
_OPENED = dict(zip("łøđħŧðıŋ", "lodhtdin", strict=True)) | {"æ": "ae", "œ": "oe", "þ": "th"}

Texts = dict[str, list[str]]  # of a product, by field


def plain(text: str) -> str:
    """A text without case, accents, strokes and ligatures."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if not unicodedata.combining(c))
    return "".join(_OPENED.get(c, c) for c in bare)


def words_of(text: str) -> list[str]:
    """Runs of letters and digits."""
    return "".join(c if c.isalnum() else " " for c in plain(text)).split()


def kind_changes(left: str, right: str) -> bool:
    return (left[-1] in "0123456789") != (right[0] in "0123456789")


def joins_freely(parts: Sequence[str]) -> bool:
    return all(kind_changes(left, right) for left, right in pairwise(parts))


@dataclass(frozen=True)
class Form:
    """A form in which a text has something: a word, a compound of a token, or a phrase, found only as a whole."""

    text: str
    kind: str = "word"

    def whole(self, word: str, *, as_one: bool) -> bool:
        if self.kind == "phrase":
            return as_one and stem(self.text) == stem(word)
        if self.kind == "compound" and not as_one:
            return False
        return self.text == word or (self.text.isascii() and self.text.isalpha() and stem(self.text) == stem(word))

    def begun(self, word: str, *, as_one: bool) -> bool:
        return self.kind != "phrase" and (as_one or self.kind == "word") and self.text.startswith(word)


def forms_of_token(token: str) -> set[Form]:
    parts = words_of(token)
    forms = {Form(part) for part in parts}
    joinable = parts[:8]
    for start in range(len(joinable) - 1):
        for some in (joinable[start : start + 2], joinable[start:]):
            forms.add(Form("".join(some), "word" if joins_freely(some) else "compound"))
    return forms


@lru_cache(maxsize=50_000)
def forms_of(field_name: str, text: str) -> frozenset[Form]:
    if field_name == "code":
        parts = words_of(text)
        return frozenset({*map(Form, parts), *([Form("".join(parts), "compound")] if len(parts) > 1 else [])})
    tokens = [token for token in plain(text).split() if words_of(token)]
    forms = set().union(*map(forms_of_token, tokens))
    if field_name == "name":
        return frozenset(forms)
    for left, right in pairwise(tokens):
        pair = (words_of(left)[-1], words_of(right)[0])
        if kind_changes(*pair):
            letters = left if kind_changes("0", pair[0]) else right
            if field_name != "text" or len("~".join(words_of(letters))) <= 5:
                forms.add(Form("".join(pair)))
        elif field_name != "text":
            forms.add(Form("".join(pair), "phrase"))
    return frozenset(forms)


@lru_cache(maxsize=50_000)
def has_neighbours(name: str, word: str) -> bool:
    """Whether two neighbouring tokens of a name are a word together."""
    tokens = [forms_of_token(token) for token in plain(name).split() if words_of(token)]
    for before, after in pairwise(tokens):
        for left in before:
            if left.kind != "word" or not word.startswith(left.text) or left.text == word:
                continue
            rest = word[len(left.text) :]
            for right in after:
                if right.whole(rest, as_one=False):
                    return True
                if kind_changes(left.text, rest) and right.begun(rest, as_one=False):
                    return True
    return False


def distance(one: str, other: str) -> int:
    """Letters that are wrong, missing, too many, or swapped with a neighbour."""
    table = {(i, j): i + j for i in range(len(one) + 1) for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            table[i, j] = min(
                table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (one[i - 1] != other[j - 1])
            )
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


Segment = tuple[int, int]


class NaiveSearch:
    """Products by their texts; `visible` are the numbers of those that are found."""

    def __init__(self, products: Sequence[Texts], visible: set[int], synonyms: Sequence[str] = ()) -> None:
        self.products, self.visible, self.synonyms = products, visible, synonyms
        self._having: defaultdict[Form, list[set[int]]] = defaultdict(lambda: [set() for _ in FIELDS])
        for number in visible:  # what is hidden changes nothing
            for name, texts in products[number].items():
                for form in set().union(*(forms_of(name, text) for text in texts)):
                    self._having[form][FIELDS.index(name)].add(number)
        self._also: dict[str, str] = {}  # words that are read as others too
        self._products = cache(self._products_of)

    def read(self, query: str) -> tuple[list[str], dict[str, str]]:
        """The words that are searched for, and those of them that were typed otherwise."""
        typed: list[str] = []
        for token in plain(query).split():
            parts = words_of(token)
            joined = "".join(parts)
            compound = any(form.kind == "compound" and form.text.startswith(joined) for form in self._having)
            typed += [joined] if len(parts) > 1 and (compound or self._seen(joined, as_one=False)) else parts
        joined_places = {place for start, end in self._joins(typed) for place in range(start, end)}
        corrected = {}
        for place, word in enumerate(typed):
            if place not in joined_places and not self._is_written(word) and not list(self._same(word)):
                nearest = self._nearest(word)
                if nearest is not None:
                    corrected[word] = nearest
                elif not self._seen(word):
                    corrected.clear()
                    break
        self._also = corrected
        return [word if self._seen(word) else corrected.get(word, word) for word in typed], corrected

    def levels(self, words: Sequence[str]) -> dict[int, tuple[int, bool]]:
        """The products that have the words: the first field that is enough, and whether as whole words."""
        found: dict[int, tuple[int, bool]] = {}
        for place in range(len(FIELDS) if words else 0):
            whole = self._all(words, place, only_whole=True)
            for number in self._all(words, place, only_whole=False) & self.visible:
                found.setdefault(number, (place, number in whole))
        return found

    def in_order(self, number: int, words: Sequence[str]) -> bool:
        """Whether a product's name has the words in the order typed."""
        [name] = self.products[number]["name"]
        tokens = [forms_of_token(token) for token in plain(name).split()]
        joins = self._joins(words)
        place = 0
        for at, word in enumerate(words):
            several = [("".join(words[s:e]), joins_freely(words[s:e])) for s, e in joins if s <= at < e]
            sought = [(word, True), *several]
            while place < len(tokens) and not any(
                form.whole(some, as_one=as_one) or form.begun(some, as_one=as_one)
                for form in tokens[place]
                for some, as_one in sought
            ):
                place += 1
            if place == len(tokens):
                return False
        return True

    def _all(self, words: Sequence[str], most: int, *, only_whole: bool) -> set[int]:
        """The products that have all words in the first fields."""
        joins, bound = self._joins(words), self._bound(words)
        found = [set(range(len(self.products)))]
        for end in range(1, len(words) + 1):
            found.append(set())
            for start in [end - 1, *(s for s, e in joins if e == end)]:
                whole = only_whole or (end == start + 1 and start in bound)
                found[end] |= found[start] & self._reads(words[start:end], most, only_whole=whole)
        return found[-1]

    def _reads(self, words: Sequence[str], most: int, *, only_whole: bool) -> set[int]:
        found = self._has("".join(words), most, as_one=joins_freely(words), only_whole=only_whole)
        if len(words) > 1:
            begun = self._has("".join(words), most, only_whole=only_whole)
            begun &= self._has(words[-1], most, only_whole=only_whole)
            found |= begun.intersection(*(self._has(word, most, only_whole=True) for word in words[:-1]))
        elif words[0] in self._also:
            found |= self._has(self._also[words[0]], most, only_whole=only_whole)
        for phrase in self._same(*words):
            found |= self._has("".join(phrase), most, only_whole=True)
            found |= set.intersection(*(self._has(word, most, only_whole=True) for word in phrase))
        return found

    def _has(self, word: str, most: int, *, as_one: bool = True, only_whole: bool = False) -> set[int]:
        found, whole = self._products(word, as_one)
        return set().union(*(whole if only_whole else found)[: most + 1])

    def _products_of(self, word: str, as_one: bool) -> tuple[list[set[int]], list[set[int]]]:
        """The products that have a word, or a beginning of one, in each field, and those that have the whole word."""
        found: list[set[int]] = [set() for _ in FIELDS]
        whole: list[set[int]] = [set() for _ in FIELDS]
        for form, having in self._having.items():
            is_whole = form.whole(word, as_one=as_one)
            if is_whole or form.begun(word, as_one=as_one):
                for place, numbers in enumerate(having):
                    found[place] |= numbers
                    whole[place] |= numbers if is_whole else set()
        if as_one:
            for number, product in enumerate(self.products):
                if any(has_neighbours(name, word) for name in product["name"]):
                    found[1].add(number)
                    whole[1].add(number)
        return found, whole

    def _seen(self, word: str, *, as_one: bool = True) -> bool:
        return bool(self._has(word, len(FIELDS), as_one=as_one) & self.visible)

    def _joins(self, words: Sequence[str]) -> list[Segment]:
        found = []
        for start in range(len(words)):
            for end in range(start + 2, min(len(words), start + 8) + 1):
                part, joined = words[start:end], "".join(words[start:end])
                compound = Form(joined, "compound") in self._having
                if self._seen(joined, as_one=joins_freely(part)) or compound or list(self._same(*part)):
                    found.append((start, end))
                if not self._begins(joined):
                    break
        return found

    def _begins(self, joined: str) -> bool:
        """Whether a text or a group of synonyms has something that begins so."""
        phrases = ["".join(words_of(text)) for group in (*GROUPS, *self.synonyms) for text in group.split(",")]
        written = [form.text for form in self._having if form.kind != "phrase"]
        return any(text.startswith(joined) for text in (*phrases, *written))

    def _is_written(self, word: str) -> bool:
        """Whether something visible has a word as it is typed, or begins with it; the plural counts too."""
        if word.endswith("s"):
            return self._seen(word)
        having = [each for form, each in self._having.items() if form.begun(word, as_one=True)]
        named = {n for n, product in enumerate(self.products) if has_neighbours(product["name"][0], word)}
        return bool(named.union(*(numbers for each in having for numbers in each)) & self.visible)

    def _bound(self, words: Sequence[str]) -> set[int]:
        return {
            place
            for start, end in self._joins(words)
            if any(
                form.whole("".join(words[start:end]), as_one=joins_freely(words[start:end])) for form in self._having
            )
            for place in range(start, end)
        }

    def _is_whole(self, word: str, *, as_one: bool) -> bool:
        return any(
            form.whole(word, as_one=as_one) or (form.kind == "compound" and form.text == word) for form in self._having
        )

    def _same(self, *words: str) -> Iterator[list[str]]:
        """The other phrases of the groups that have a phrase."""
        wanted = stem("".join(words))
        for group in (*GROUPS, *self.synonyms):
            phrases = [phrase for text in group.split(",") if (phrase := words_of(text))]
            if wanted in {stem("".join(phrase)) for phrase in phrases}:
                yield from (phrase for phrase in phrases if stem("".join(phrase)) != wanted)

    def _nearest(self, word: str) -> str | None:
        letters = sum(c.isalpha() for c in word)
        digits = [c for c in word if not c.isalpha()]
        most = 2 if letters >= 8 else 1 if letters >= 4 else 0
        near = [
            (off, -len(self._has(form.text, len(FIELDS), only_whole=True) & self.visible), form.text)
            for form in self._having
            if form.kind == "word"
            and abs(len(form.text) - len(word)) <= most
            and len(form.text.encode()) >= 3
            and [c for c in form.text if not c.isalpha()] == digits
            and (off := distance(word, form.text)) <= most
        ]
        return min((each for each in near if each[1]), default=(0, 0, None))[2]
