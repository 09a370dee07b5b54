"""What a search finds, and in which order; suggests similar SKUs for an unknown SKU.

Every word of a query must match: as it is typed, joined with its neighbours, or by a synonym. The readings of the first
words are combined with those of the next, so all ways to join a query's words are tried. A word that nothing has is
read as the nearest that something has.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import reduce
from itertools import pairwise
from operator import and_, or_

from msgspec import Struct, field
from pyroaring import BitMap

from tradecounter.kit.columns.bytes_column import encoded
from tradecounter.kit.columns.lookups import bitmap, rows_of
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import fold, normalised, words
from tradecounter.products.search.fields import Field
from tradecounter.products.search.index import NOTHING, Matches, SearchIndex
from tradecounter.products.search.terms import Phrase, changes_kind
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot

_MOST_JOINED = 8  # words
_MOST_WORDS = 32  # of a query in which words are joined, and repeated words count
_MOST_CORRECTED = 5  # words of a query; looking for the nearest takes a millisecond each

_QUOTES = frozenset('"“”')


class FoundRows(Struct, frozen=True):
    """The rows that a search finds, and the words that were read as others: what was typed, and what was read."""

    rows: BitMap
    corrected: tuple[tuple[str, str], ...] = ()
    _matches: Matches = NOTHING
    _in_order: Callable[[BitMap], BitMap] | None = None  # None: one word

    @property
    def note(self) -> str:
        """What a page says of the words that were read as others; empty without any."""
        typed = " and ".join(f"“{typed}”" for typed, _ in self.corrected)
        read = " and ".join(f"“{read}”" for _, read in self.corrected)
        return f"No product has {typed}: read as {read}." if self.corrected else ""

    def tiers(self) -> Iterator[BitMap]:
        """Yield the rows by relevance, equal ones together: by field, then whole words, then the order typed."""
        before, ordered = BitMap(), None
        for field_, found, whole in zip(Field, self._matches.found, self._matches.whole, strict=True):
            here = (found & self.rows) - before
            before |= here
            for tier in (here & whole, here - whole):
                if self._in_order is None or not tier or field_ > Field.NAME:
                    yield tier
                else:
                    if ordered is None:
                        ordered = self._in_order(self._matches.found[Field.NAME] & self.rows)
                    yield tier & ordered
                    yield tier - ordered


def search(index: SearchIndex, query: str, visible: BitMap) -> FoundRows:
    """Find products among the visible rows. A query without words finds nothing; one in quotes is not corrected."""
    reader = _Reader(index, visible)
    typed = reader.joined_by_punctuation(query)
    if not typed:
        return FoundRows(BitMap())
    corrected = {} if is_as_typed(query) else reader.corrected(typed)
    read = tuple(word if reader.is_known(word) else corrected.get(word, word) for word in typed)
    matches = reader.phrase(read)
    return FoundRows(
        matches.rows & visible,
        tuple(corrected.items()),
        matches,
        (lambda rows: reader.in_order(rows, read)) if len(read) > 1 else None,
    )


def is_as_typed(query: str) -> bool:
    """Return whether a query is in quotes, so that its words are searched for as they are typed."""
    text = query.strip()
    return bool(text.strip('"“”')) and text[:1] in _QUOTES and text[-1:] in _QUOTES


def as_typed(query: str) -> str:
    """Return a query that finds its words as they are typed."""
    return query if is_as_typed(query) else f'"{query.strip()}"'


class _Reader(Struct):
    """Reads the words of one query; `visible` are the rows that it may find."""

    index: SearchIndex
    visible: BitMap
    nearest: dict[str, str] = field(default_factory=dict)
    _joined: dict[Phrase, list[tuple[int, int]]] = field(default_factory=dict)

    def joined_by_punctuation(self, query: str) -> tuple[str, ...]:
        """Return the words of a query; what punctuation parts is one word if a text writes it so."""
        found: list[str] = []
        for token in normalised(query).split():
            parts = words(token)
            joined = "".join(parts)
            is_written = self.index.is_compound(joined, self.visible) or self.is_known(joined, typed_as_one=False)
            found += [joined] if len(parts) > 1 and is_written else parts
        return tuple(found if len(found) <= _MOST_WORDS else dict.fromkeys(found))

    def corrected(self, typed: Phrase) -> dict[str, str]:
        """Return the nearest word that something visible has for each typed word that nothing has.

        None are returned if some words have no nearest one, or there are too many: nothing has all words then.
        """
        joined = {place for start, end in self._segments(typed) for place in range(start, end)}
        for place, word in enumerate(typed):
            if place in joined or word in self.nearest or self._is_written(word):
                continue
            if self.index.synonyms.of_phrase((word,)):
                continue
            nearest = self._nearest(word) if len(self.nearest) < _MOST_CORRECTED else None
            if nearest is not None:
                self.nearest[word] = nearest
            elif not self.is_known(word):  # by its stem, as `alled` by `all`
                self.nearest.clear()
                break
        return self.nearest

    def phrase(self, phrase: Phrase) -> Matches:
        """Return what matches all words of a phrase, in any field and order."""
        bound, joined = self._bound(phrase), self._segments(phrase)
        ends: list[Matches] = []
        for end in range(1, len(phrase) + 1):
            starts = [end - 1, *(start for start, joined_end in joined if joined_end == end)]
            readings = [
                ends[start - 1] & matches if start else matches
                for start in starts
                for matches in self._readings(phrase[start:end], only_whole=start in bound)
            ]
            ends.append(reduce(or_, readings))
        return ends[-1]

    def in_order(self, rows: BitMap, phrase: Phrase) -> BitMap:
        """Return the rows whose names have the words of a phrase in their order."""
        spans = [self.index.entry_of(word).terms.all for word in phrase]
        for start, end in self._segments(phrase):
            joined = self.index.entry_of("".join(phrase[start:end]), typed_as_one=_is_one(phrase[start:end])).terms.all
            for place in range(start, end):
                spans[place] = spans[place] + joined
        ordered = rows_of(rows)
        return bitmap(ordered[self.index.order.typed(ordered, spans)])

    def _readings(self, phrase: Phrase, *, only_whole: bool) -> Iterator[Matches]:
        """Yield what matches a phrase as one word, or as one of its synonyms."""
        if len(phrase) == 1:
            matches = self.index.entry_of(phrase[0]).matches
            yield matches.only_whole() if only_whole else matches
            if phrase[0] in self.nearest:  # by its stem, it may be a form of another word: `alled` of `all`
                yield self.index.entry_of(self.nearest[phrase[0]]).matches
        else:
            *first, last = [self.index.entry_of(word).matches for word in phrase]
            written = self.index.entry_of("".join(phrase)).matches  # also where punctuation parts it: `Wi-Fi6`
            yield reduce(and_, (each.only_whole() for each in first), written & last)
            yield self.index.entry_of("".join(phrase), typed_as_one=_is_one(phrase)).matches
        for synonym in self.index.synonyms.of_phrase(phrase):
            yield self._synonym(synonym)

    def _synonym(self, phrase: Phrase) -> Matches:
        """Return what has all words of a synonym as whole words, or joined."""
        apart = [self.index.entry_of(word).matches for word in phrase]
        joined = self.index.entry_of("".join(phrase)).matches
        return (reduce(and_, apart) | joined).only_whole()

    def _segments(self, phrase: Phrase) -> list[tuple[int, int]]:
        """Return the first word, and the one after the last, of words that something visible joins."""
        if phrase not in self._joined:
            self._joined[phrase] = [
                (start, end) for start in range(min(len(phrase), _MOST_WORDS)) for end in self._ends(phrase, start)
            ]
        return self._joined[phrase]

    def _ends(self, phrase: Phrase, start: int) -> Iterator[int]:
        """Yield the ends of the words from `start` on that texts join or part by punctuation, or that have synonyms."""
        for end in range(start + 2, min(len(phrase), start + _MOST_JOINED) + 1):
            part = phrase[start:end]
            joined = "".join(part)
            if (
                self.is_known(joined, typed_as_one=_is_one(part))
                or self.index.is_whole(joined, self.visible)
                or self.index.synonyms.of_phrase(part)
            ):
                yield end
            if not (self.index.is_begun(joined, self.visible) or self.index.synonyms.is_begun(joined)):
                return

    def _bound(self, phrase: Phrase) -> set[int]:
        """Return the words that together are one whole word: apart, they match only whole words."""
        return {
            place
            for start, end in self._segments(phrase)
            if self._is_whole(phrase[start:end])
            for place in range(start, end)
        }

    def _is_whole(self, part: Phrase) -> bool:
        joined = "".join(part)
        terms = self.index.entry_of(joined, typed_as_one=_is_one(part)).terms
        return self.index.occurs(terms.whole, self.visible) or self.index.is_whole(joined, self.visible)

    def _nearest(self, word: str) -> str | None:
        """Return the nearest word that something visible has; of several, the one that most products have."""
        for words_off in self.index.nearest.candidates(word, self.index.lexicon):
            if seen := [each for each in words_off if self.index.is_whole(each, self.visible, kind=b"")]:
                whole = {each: self.index.new_entry_of(each).matches.whole[-1] & self.visible for each in seen}
                return min(seen, key=lambda each: (-len(whole[each]), each))
        return None

    def is_known(self, word: str, *, typed_as_one: bool = True) -> bool:
        """Return whether something visible has a word, in one of its forms, or begins with it."""
        return bool(self.index.entry_of(word, typed_as_one=typed_as_one).matches.rows.intersect(self.visible))

    def _is_written(self, word: str) -> bool:
        """Return whether something visible has a word as it is typed, in the singular, or begins with it."""
        if word.endswith("s"):
            return self.is_known(word)
        return bool(self.index.entry_of(word).matches.as_typed.intersect(self.visible))


def _is_one(phrase: Sequence[str]) -> bool:
    """Return whether only letters and digits meet between the words, so that they are one word however typed."""
    return all(changes_kind(encoded(left), encoded(right)) for left, right in pairwise(phrase))


MOST_SUGGESTED = 3
_LEAST_SKU_SIMILARITY = 0.6
_SKU_NEIGHBOURS = 20  # rows before and after the SKU's place
_MOST_SKUS_FOUND = 20  # rows found by a text search, which ignores punctuation
_LONGEST_SKU = (
    200  # characters of a text that may be a mistyped SKU; pages look for what is typed before they reject it
)


def most_similar(sku: str, candidates: Iterable[str]) -> list[str]:
    """Return the candidates that are most similar to a SKU, most similar first."""
    spelled = {fold(candidate): candidate for candidate in candidates}
    return [spelled[key] for key in get_close_matches(key_form(sku), spelled, MOST_SUGGESTED, _LEAST_SKU_SIMILARITY)]


def similar_skus(snapshot: CatalogueSnapshot, sku: str, visible: BitMap) -> list[str]:
    """Return the SKUs most like `sku` among products in the visible rows."""
    if len(sku) > _LONGEST_SKU:
        return []
    place = snapshot.row_of_sku.place(key_form(sku))
    rows = BitMap(range(max(place - _SKU_NEIGHBOURS, 0), min(place + _SKU_NEIGHBOURS, len(snapshot))))
    rows |= search(snapshot.search, sku, visible).rows[:_MOST_SKUS_FOUND]
    return most_similar(sku, (snapshot.product(row).sku for row in rows & visible))
