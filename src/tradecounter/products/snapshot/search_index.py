"""Text search (specification, section 4).

Every word of a query must be the prefix of a word of the product.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import unescape

from pyroaring import BitMap

from tradecounter.kit.text import normalised, words, words_of_normalised
from tradecounter.products.columns.bytes_column import encoded
from tradecounter.products.columns.inverted_index import InvertedIndex
from tradecounter.products.queries.records import ProductRecord

_ASCII_END = 128
_COMMENT = r"<!--(?:[^<-]|<(?!!--)|-(?!->))*-->"
_TAG = re.compile(_COMMENT + r"|<(?P<closing>/?)(?P<name>[a-zA-Z][^\s<>/]*)[^<>]*>|<[!?][^<>]*>")
_ENTITY = re.compile(r"&(#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_NO_TEXT = {"script", "style"}


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """The rows of the products that contain each word."""

    rows: InvertedIndex

    def find(self, query: str) -> BitMap | None:
        """Return the rows that match: every word of the query begins a word of the product. None without words."""
        found: BitMap | None = None
        for word in set(words(query)):
            matching = self.rows.starting(word)
            found = matching if found is None else found & matching
        return found


class SearchIndexBuilder:
    """Collects the words of products. `manufacturer_names` is by key."""

    def __init__(self, manufacturer_names: Mapping[str, str]) -> None:
        self._rows: defaultdict[bytes, list[int]] = defaultdict(list)
        self._manufacturer_names = manufacturer_names

    def add(self, first: int, products: Iterable[ProductRecord]) -> None:
        """Add the words of the products in the rows from `first` on."""
        # A dictionary of these products alone fits into the processor's cache.
        found: defaultdict[bytes, list[int]] = defaultdict(list)
        for row, product in enumerate(products, start=first):
            joined = b"".join(_encoded_words(product.sku))
            for word in {joined, *_encoded_words(self._text(product))}:
                found[word].append(row)
        for word, rows in found.items():
            self._rows[word] += rows

    def _text(self, product: ProductRecord) -> str:
        name = self._manufacturer_names.get(product.manufacturer, "")
        markup = product.description_html
        return (
            f"{product.sku} {product.name} {product.ean or ''} {product.manufacturer} {name} "
            f"{product.short_description} {product.description} {text_of_markup(markup) if markup else ''}"
        )

    def done(self) -> SearchIndex:
        """Return the index of all products."""
        return SearchIndex(InvertedIndex.of(self._rows))


# Lower-case letters, digits, and a blank for every other byte: a fast `words` of `kit/text.py` for ASCII.
_FOLDED_ASCII = bytes(byte if byte < _ASCII_END and chr(byte).isalnum() else ord(" ") for byte in range(256)).lower()


def _encoded_words(text: str) -> list[bytes]:
    """Return the encoded words of a string, the same as `words` of `kit/text.py`."""
    if text.isascii() or (text := normalised(text)).isascii():
        return text.encode().translate(_FOLDED_ASCII).split()
    return [encoded(word) for word in words_of_normalised(text)]


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
