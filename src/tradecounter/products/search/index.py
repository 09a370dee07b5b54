"""The search index: which products have a word, a joined word or a synonym, and in which fields.

What a query means is in `query.py`, how texts become terms in `terms.py`.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain
from operator import and_, or_

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray
from pyroaring import BitMap

from tradecounter.kit.columns.bytes_column import bytes_column, encoded
from tradecounter.kit.columns.lookups import SortedKeys, bitmap
from tradecounter.products.markup_text import text_of_markup
from tradecounter.products.queries.records import ProductRecord
from tradecounter.products.search.fields import (
    FIELDS,
    MOST_PLACES,
    Field,
    FieldIndex,
    NearestWords,
    Span,
    WordOrder,
    first_key,
)
from tradecounter.products.search.terms import (
    COMPOUND,
    PHRASE,
    Synonyms,
    changes_kind,
    is_word,
    neighbours,
    numbers_with_units,
    stem,
    stems,
    terms_of,
    terms_of_code,
    token_of_code,
    tokens,
)

_NO_ROWS = BitMap()
_LONGEST_PARTED = 40  # bytes
MOST_RECENT = 500  # words: a few KB each, and up to 0.2 MB for one that most of 100,000 products have


class Matches(Struct, frozen=True):
    """Rows that match: `found[f]` have a match in the field f or one before it, `whole[f]` one of whole words."""

    found: tuple[BitMap, ...]
    whole: tuple[BitMap, ...]
    as_typed: BitMap = _NO_ROWS  # in any field, not by the stem; of a single word

    def __or__(self, other: "Matches") -> "Matches":
        return Matches(tuple(map(or_, self.found, other.found)), tuple(map(or_, self.whole, other.whole)))

    def __and__(self, other: "Matches") -> "Matches":
        return Matches(tuple(map(and_, self.found, other.found)), tuple(map(and_, self.whole, other.whole)))

    def only_whole(self) -> "Matches":
        """Return the matches of whole words."""
        return Matches(self.whole, self.whole)

    @property
    def rows(self) -> BitMap:
        """All rows that match."""
        return self.found[-1]


NOTHING = Matches((_NO_ROWS,) * FIELDS, (_NO_ROWS,) * FIELDS)


class Stems(Struct, frozen=True):
    """The numbers of the words that share each stem: `numbers[starts[i] : starts[i + 1]]` for the stem i."""

    stems: SortedKeys
    starts: NDArray[np.int64]
    numbers: NDArray[np.int32]

    def numbers_of(self, word: bytes) -> list[int]:
        """Return the numbers of the words with this stem."""
        place = self.stems.get_encoded(word)
        return [] if place is None else self.numbers[self.starts[place] : self.starts[place + 1]].tolist()


class Terms(Struct, frozen=True):
    """The numbers of terms in the lexicon: whole words, and spans of those that begin so."""

    whole: Sequence[Span]
    begun: Sequence[Span]

    def __bool__(self) -> bool:
        return bool(self.whole or self.begun)

    @property
    def all(self) -> list[Span]:
        """All terms."""
        return [*self.whole, *self.begun]


class WordEntry(Struct, frozen=True):
    """What the index has of a word: its terms, and what matches them."""

    terms: Terms
    matches: Matches


class RecentWords:
    """The entries of the words that were searched for last: customers search for the same words, whatever they may see.

    A copy in another process begins empty.
    """

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: dict[tuple[str, bool], WordEntry] = {}

    def get(self, word: str, *, typed_as_one: bool) -> WordEntry | None:
        """Return the entry of a word, or None."""
        entry = self._entries.pop((word, typed_as_one), None)
        if entry is not None:
            self._entries[word, typed_as_one] = entry
        return entry

    def add(self, word: str, entry: WordEntry, *, typed_as_one: bool) -> None:
        """Remember the entry of a word, and forget the one that was least recently used."""
        self._entries[word, typed_as_one] = entry
        if len(self._entries) > MOST_RECENT:
            del self._entries[next(iter(self._entries))]

    def __reduce__(self) -> tuple[type["RecentWords"], tuple[()]]:
        return RecentWords, ()


class SearchIndex(Struct, frozen=True):
    """The terms of all products. `fields` are in the order of `Field`."""

    lexicon: SortedKeys
    stems: Stems
    fields: tuple[FieldIndex, ...]
    order: WordOrder
    nearest: NearestWords
    synonyms: Synonyms
    recent: RecentWords = field(default_factory=RecentWords)

    def entry_of(self, word: str, *, typed_as_one: bool = True) -> WordEntry:
        """Return the entry of a word as it is typed, or of one that is joined from several."""
        entry = self.recent.get(word, typed_as_one=typed_as_one)
        if entry is None:
            entry = self.new_entry_of(word, typed_as_one=typed_as_one)
            self.recent.add(word, entry, typed_as_one=typed_as_one)
        return entry

    def new_entry_of(self, word: str, *, typed_as_one: bool = True) -> WordEntry:
        """Return what `entry_of` does, for a word that nobody has typed; it is not remembered."""
        terms = self.word(word) if typed_as_one else self.joined(word)
        parted = self.neighbours(word) if typed_as_one else _NO_ROWS
        return WordEntry(terms, self.matches(terms, parted) if terms or parted else NOTHING)

    def word(self, word: str) -> Terms:
        """Return the terms of a word as it is typed: joined and parted ones, plurals, and all that it begins."""
        own, stemmed = encoded(word), encoded(stem(word))
        spans = [self.lexicon.span_encoded(kind + own) for kind in (b"", COMPOUND)]
        numbers = set(self.stems.numbers_of(stemmed)) | set(self.stems.numbers_of(COMPOUND + stemmed))
        numbers |= {start for start, end in spans if start < end and self._has(start, own)}
        if (phrase := self.lexicon.get_encoded(PHRASE + stemmed)) is not None:
            numbers.add(phrase)
        return Terms(_spans(numbers), [span for span in spans if span[0] < span[1]])

    def joined(self, word: str) -> Terms:
        """Return the terms of typed words that are joined: only words that texts write as one, and what they begin."""
        own = encoded(word)
        span = self.lexicon.span_encoded(own)
        numbers = set(self.stems.numbers_of(encoded(stem(word))))
        if span[0] < span[1] and self._has(span[0], own):
            numbers.add(span[0])
        return Terms(_spans(numbers), [span] if span[0] < span[1] else [])

    def is_begun(self, word: str, visible: BitMap) -> bool:
        """Return whether something visible has a word that begins so, or one that is separated by punctuation."""
        return self.occurs([self.lexicon.span_encoded(encoded(word))], visible) or self.is_compound(word, visible)

    def is_compound(self, word: str, visible: BitMap) -> bool:
        """Return whether something visible has a word that punctuation parts, or the beginning of one."""
        return self.occurs([self.lexicon.span_encoded(COMPOUND + encoded(word))], visible)

    def is_whole(self, word: str, visible: BitMap, kind: bytes = COMPOUND) -> bool:
        """Return whether something visible has a word, by default one that punctuation parts."""
        number = self.lexicon.get_encoded(kind + encoded(word))
        return number is not None and self.occurs(_spans([number]), visible)

    def occurs(self, spans: Sequence[Span], visible: BitMap) -> bool:
        """Return whether something visible has a term of spans; what others have must not show."""
        return any(postings.rows(spans).intersect(visible) for postings in self.fields)

    def neighbours(self, word: str) -> BitMap:
        """Return the rows whose names have a word separated by white space: `patchpanels` finds `Patch panel`."""
        found, own = BitMap(), encoded(word)
        if len(own) > _LONGEST_PARTED:
            return found
        for length, number in self.lexicon.beginnings(own):
            left, right = own[:length], own[length:]
            second = self.joined(right.decode(errors="surrogatepass"))
            spans = second.all if changes_kind(left, right) else second.whole
            if spans:
                found |= bitmap(self.order.following([(number, number + 1)], spans))
        return found

    def matches(self, terms: Terms, in_name: BitMap = _NO_ROWS) -> Matches:
        """Return the rows that have one of the terms. Those of `in_name` have them in their name as whole words."""
        whole = [postings.rows(terms.whole) for postings in self.fields]
        whole[Field.NAME] |= in_name
        begun = [postings.rows(terms.begun) for postings in self.fields]
        in_field = map(or_, whole, begun)
        return Matches(_cumulative(in_field), _cumulative(whole), BitMap.union(in_name, *begun))

    def _has(self, number: int, word: bytes) -> bool:
        return self.lexicon.key(number).lstrip(COMPOUND) == word


def _spans(numbers: Iterable[int]) -> list[Span]:
    return [(number, number + 1) for number in sorted(numbers)]


def _cumulative(rows: Iterable[BitMap]) -> tuple[BitMap, ...]:
    return tuple(accumulate(rows, or_))


_Lists = dict[bytes, list[int]]
TextRows = Iterable[tuple[str, Sequence[int]]]  # texts, such as a category's name, and the rows of those that have it


class SearchIndexBuilder:
    """Collects the tokens of products; terms are made of them at the end, when each differs from all others."""

    def __init__(self) -> None:
        self._codes: _Lists = defaultdict(list)
        self._names: _Lists = defaultdict(list)  # keys of `WordOrder`
        self._texts: _Lists = defaultdict(list)

    def add(self, first: int, products: Iterable[ProductRecord]) -> None:
        """Add the texts of the products in the rows from `first` on."""
        # Dictionaries of these products alone fit into the processor's cache.
        names: _Lists = defaultdict(list)
        texts: _Lists = defaultdict(list)
        for row, product in enumerate(products, start=first):
            self._codes[token_of_code(product.sku)].append(row)
            if product.ean:
                self._codes[encoded(product.ean)].append(row)
            name = tokens(product.name)
            for key, token in enumerate(name[:MOST_PLACES], start=first_key(row)):
                names[token].append(key)
            for token in self._text(product):
                texts[token].append(row)
        for collected, added in ((self._names, names), (self._texts, texts)):
            for token, rows in added.items():
                collected[token] += rows

    @staticmethod
    def _text(product: ProductRecord) -> set[bytes]:
        markup = product.description_html
        text = tokens(f"{product.short_description}\n{product.description}\n{text_of_markup(markup) if markup else ''}")
        return {*text, *numbers_with_units(text)}

    def done(
        self, manufacturers: TextRows, categories: TextRows, attribute_values: TextRows, synonyms: Collection[str]
    ) -> SearchIndex:
        """Return the index of all products; the texts are those of manufacturers, categories and attributes' values."""
        codes, names = _by_term(self._codes, terms_of_code), _by_term(self._names, terms_of)
        valued = [_by_term(_of_texts(texts), terms_of) for texts in (manufacturers, categories, attribute_values)]
        texts = _by_term(self._texts, terms_of)
        lexicon = sorted({}.fromkeys(chain(codes, names, *valued, texts)))
        number_of = dict(zip(lexicon, range(len(lexicon)), strict=True))
        order = WordOrder.of(names, number_of)
        return SearchIndex(
            lexicon=SortedKeys(bytes_column(lexicon)),
            stems=_stems(lexicon),
            fields=(
                FieldIndex.of(codes, number_of),
                FieldIndex(order.numbers, order.postings()),
                *(FieldIndex.of(rows_of_term, number_of) for rows_of_term in (*valued, texts)),
            ),
            order=order,
            nearest=NearestWords.of(lexicon),
            synonyms=Synonyms.of(synonyms),
        )


def _by_term(rows_of_token: Mapping[bytes, list[int]], terms_of: Callable[[bytes], set[bytes]]) -> _Lists:
    """Return the rows, or keys, of each term. Terms that several tokens have get those of one after the other."""
    rows_of_term = {token: rows for token, rows in rows_of_token.items() if is_word(token)}
    several: _Lists = defaultdict(list)
    for token, rows in rows_of_token.items():
        if not is_word(token):
            for term in terms_of(token):
                several[term] += rows
    for term, rows in several.items():
        rows_of_term[term] = [*rows_of_term[term], *rows] if term in rows_of_term else rows
    return rows_of_term


def _of_texts(texts: TextRows) -> _Lists:
    rows_of_token: _Lists = defaultdict(list)
    for text, rows in texts:
        words = tokens(text)
        for token in {*words, *neighbours(words)}:
            rows_of_token[token] += rows
    return rows_of_token


def _stems(lexicon: Sequence[bytes]) -> Stems:
    """Return the stems of words of letters, and of compounds of such."""
    numbers = [number for number, term in enumerate(lexicon) if term.lstrip(COMPOUND).isalpha()]
    words = [lexicon[number].lstrip(COMPOUND).decode() for number in numbers]
    kinds = [lexicon[number][:1] if lexicon[number][:1] == COMPOUND else b"" for number in numbers]
    found: _Lists = defaultdict(list)
    for number, kind, stemmed in zip(numbers, kinds, stems(words), strict=True):
        found[kind + stemmed.encode()].append(number)
    keys = sorted(found)
    starts = np.cumsum([0, *(len(found[key]) for key in keys)])
    flat = np.fromiter(chain.from_iterable(found[key] for key in keys), dtype=np.int32)
    return Stems(SortedKeys(bytes_column(keys)), starts, flat)
