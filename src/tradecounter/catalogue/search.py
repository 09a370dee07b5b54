"""Free-text search: a sorted vocabulary, a set of products per word, prefixes by bisection (specification, section 4).

Every word of a query must be the start of a word of the product.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

from pyroaring import BitMap

from tradecounter.catalogue.records import ProductRecord
from tradecounter.kit.text import joined_word, words

_LAST = "\U0010ffff"
_COMMENT = r"<!--(?:[^<-]|<(?!!--)|-(?!->))*-->"
_TAG = re.compile(_COMMENT + r"|<(?P<closing>/?)(?P<name>[a-zA-Z][^\s<>/]*)[^<>]*>|<[!?][^<>]*>")
_ENTITY = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_NO_TEXT = {"script", "style"}


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The words of all products, sorted, and beside each the rows of the products that have it."""

    vocabulary: list[str]
    rows: list[BitMap]

    def find(self, query: str) -> BitMap | None:
        """Return the rows in which every word of the query starts a word; None when the query has no word."""
        found: BitMap | None = None
        for word in set(words(query)):
            start = bisect_left(self.vocabulary, word)
            end = bisect_left(self.vocabulary, word + _LAST, start)
            matching = BitMap.union(*self.rows[start:end]) if start < end else BitMap()
            found = matching if found is None else found & matching
        return found


def build_search_index(products: Sequence[ProductRecord], manufacturer_names: dict[str, str]) -> SearchIndex:
    """Index products in the order of their rows. `manufacturer_names` is by key."""
    rows_of_word: defaultdict[str, list[int]] = defaultdict(list)
    for row, product in enumerate(products):
        for word in set(_words_of(product, manufacturer_names)):
            rows_of_word[word].append(row)
    vocabulary = sorted(rows_of_word)
    return SearchIndex(vocabulary, [BitMap(rows_of_word[word]) for word in vocabulary])


def _words_of(product: ProductRecord, manufacturer_names: dict[str, str]) -> list[str]:
    return [
        joined_word(product.sku),
        *words(
            " ".join(
                (
                    product.sku,
                    product.name,
                    product.ean or "",
                    product.manufacturer,
                    manufacturer_names.get(product.manufacturer, ""),
                    product.short_description,
                    product.description,
                    text_of_markup(product.description_html),
                )
            )
        ),
    ]


def text_of_markup(markup: str) -> str:
    """Return the text of an HTML fragment; tags separate words. Takes any text, in time that grows with its length."""
    parts: list[str] = []
    hidden, end = "", 0  # inside a script or a style, its name
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
