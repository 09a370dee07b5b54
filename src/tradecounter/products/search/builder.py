"""Builds the search index from products."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from html import unescape
from itertools import chain

import numpy as np

from tradecounter.products.columns.bytes_column import bytes_column, encoded
from tradecounter.products.columns.sorted_keys import SortedKeys
from tradecounter.products.queries.records import ProductRecord
from tradecounter.products.search.fields import MOST_PLACES, FieldIndex, WordOrder, first_key
from tradecounter.products.search.index import SearchIndex, Stems
from tradecounter.products.search.nearest import NearestWords
from tradecounter.products.search.synonyms import Synonyms
from tradecounter.products.search.terms import (
    COMPOUND,
    is_word,
    neighbours,
    numbers_with_units,
    stems,
    terms_of,
    terms_of_code,
    token_of_code,
    tokens,
)

_COMMENT = r"<!--(?:[^<-]|<(?!!--)|-(?!->))*-->"
_TAG = re.compile(_COMMENT + r"|<(?P<closing>/?)(?P<name>[a-zA-Z][^\s<>/]*)[^<>]*>|<[!?][^<>]*>")
_ENTITY = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_NO_TEXT = {"script", "style"}

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
            SortedKeys(bytes_column(lexicon)),
            _stems(lexicon),
            (
                FieldIndex.of(codes, number_of),
                FieldIndex(order.numbers, order.postings()),
                *(FieldIndex.of(rows_of_term, number_of) for rows_of_term in (*valued, texts)),
            ),
            order,
            NearestWords.of(lexicon),
            Synonyms.of(synonyms),
        )


def _by_term(rows_of_token: Mapping[bytes, list[int]], terms_of: Callable[[bytes], set[bytes]]) -> _Lists:
    """Return the rows, or keys, of each term. Terms that several tokens have get those of one after the other."""
    found = {token: rows for token, rows in rows_of_token.items() if is_word(token)}
    several: _Lists = defaultdict(list)
    for token, rows in rows_of_token.items():
        if not is_word(token):
            for term in terms_of(token):
                several[term] += rows
    for term, rows in several.items():
        found[term] = [*found[term], *rows] if term in found else rows
    return found


def _of_texts(texts: TextRows) -> _Lists:
    rows_of_token: _Lists = defaultdict(list)
    for text, rows in texts:
        found = tokens(text)
        for token in {*found, *neighbours(found)}:
            rows_of_token[token] += rows
    return rows_of_token


def _stems(lexicon: Sequence[bytes]) -> Stems:
    """Return the stems of words of letters, and of compounds of such."""
    numbers = [number for number, term in enumerate(lexicon) if term.lstrip(COMPOUND).isalpha()]
    words = [lexicon[number].lstrip(COMPOUND).decode() for number in numbers]
    kinds = [lexicon[number][:1] if lexicon[number][:1] == COMPOUND else b"" for number in numbers]
    found: _Lists = defaultdict(list)
    for number, kind, stem in zip(numbers, kinds, stems(words), strict=True):
        found[kind + stem.encode()].append(number)
    keys = sorted(found)
    starts = np.cumsum([0, *(len(found[key]) for key in keys)])
    flat = np.fromiter(chain.from_iterable(found[key] for key in keys), dtype=np.int32)
    return Stems(SortedKeys(bytes_column(keys)), starts, flat)


def text_of_markup(markup: str) -> str:
    """Return an HTML fragment's text, in linear time for any input; tags separate words."""
    parts: list[str] = []
    hidden, end = "", 0  # `hidden`: the name of the script or style element around the text
    for tag in _TAG.finditer(markup):
        if not hidden:
            parts.append(markup[end : tag.start()])
        name = (tag["name"] or "").lower()
        if not hidden and not tag["closing"] and name in _NO_TEXT:
            hidden = name
        elif name == hidden and tag["closing"]:
            hidden = ""
        end = tag.end()
    if not hidden:
        parts.append(markup[end:])
    return _ENTITY.sub(lambda entity: unescape(entity[0]), " ".join(parts))
