"""Free-text search: a sorted vocabulary, a set of products per word, prefixes by bisection (specification, section 4).

Every word of a query must be the start of a word of the product.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from pyroaring import BitMap

from tradecounter.catalogue.records import ProductRecord
from tradecounter.kit.text import joined_word, words

_LAST = "\U0010ffff"


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


class _TextCollector(HTMLParser):
    """Collects the text between tags; tags separate words."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:  # what scripts and styles hold is no text
            self.parts.append(data)

    def parse_marked_section(self, i: int, report: bool = True) -> int:  # noqa: FBT002 the standard library's signature
        """Skip `<![…>`, at which the standard library's parser would otherwise give up."""
        return self.parse_bogus_comment(i, report)


def text_of_markup(markup: str) -> str:
    """Return the text of an HTML fragment."""
    if not markup:
        return ""
    collector = _TextCollector()
    collector.feed(markup)
    collector.close()
    return " ".join(collector.parts)
