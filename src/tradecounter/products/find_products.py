"""Finds products, active or not, with the search of the shop."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from pyroaring import BitMap

from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import invalid
from tradecounter.kit.keys import key_form
from tradecounter.kit.text import fold
from tradecounter.products.queries.products import ProductFilter, ProductSummary, products_after, products_named
from tradecounter.products.search.query import as_typed, search
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot

_LONGEST_SEARCH = 500
MOST_NAMED = 5_000


class NamedProducts(Struct, frozen=True):
    """The ids of the products that a text names, none if it names none, and how it was read.

    `as_typed` is the query for its words as they are typed, if any was read as another.
    """

    ids: Sequence[int] = ()
    note: str = ""
    as_typed: str = ""


class Catalogue(Protocol):
    """The catalogue in memory."""

    async def snapshot(self) -> CatalogueSnapshot:
        """Return it without what changed within the last second."""

    async def latest_snapshot(self) -> CatalogueSnapshot:
        """Return it with what has just changed, which takes longer."""


async def list_products(
    tx: Transaction, memory: Catalogue, text: str, wanted: ProductFilter, after: str, most: int
) -> list[ProductSummary]:
    """Return the first products with a greater SKU that a search finds and a filter matches, by SKU.

    Without a text, the search finds any. A text that no product has in its words is looked for inside of SKUs. The
    memory has SKUs in the order of their bytes, the database in that of its collation: one of them does both, find what
    is greater and order it.
    """
    if not text:
        return await products_after(tx, after, most, wanted)
    catalogue = await memory.snapshot()
    if not (matches := search(catalogue.search, text, _all(catalogue)).rows):
        catalogue = await memory.latest_snapshot()
        matches = search(catalogue.search, text, _all(catalogue)).rows or BitMap(_containing(catalogue, text))
    if wanted != ProductFilter():
        return await products_after(tx, after, most, replace(wanted, sku_keys=_keys(catalogue, matches)))
    first = catalogue.row_of_sku.place(after) + (after in catalogue.row_of_sku)
    return await products_named(tx, _keys(catalogue, (matches & BitMap(range(first, len(catalogue))))[:most]))


async def most_relevant(tx: Transaction, memory: Catalogue, text: str, most: int) -> tuple[list[ProductSummary], str]:
    """Return the products that a search finds, and what to say of its words.

    The product with this SKU comes first, then those with this EAN, then the most relevant ones. A text that no product
    has in its words is looked for inside of SKUs. A product that the memory has not yet is found by its SKU.
    """
    catalogue = await memory.snapshot()
    searched = search(catalogue.search, text, _all(catalogue))
    named = catalogue.named(text)
    rows = chain.from_iterable(chain(named, searched.tiers()))  # those that are named come twice
    first = list(dict.fromkeys(islice(rows, most + sum(map(len, named)))))
    keys = _keys(catalogue, (first or list(islice(_containing(catalogue, text), most)))[:most]) or [key_form(text)]
    product_of_key = {product.sku_key: product for product in await products_named(tx, keys)}
    return [product_of_key[key] for key in keys if key in product_of_key], searched.note


def named_products(catalogue: CatalogueSnapshot, text: str, visible: BitMap | None = None) -> NamedProducts:
    """Return the product whose SKU a text is, or those whose EAN it is, or those that its words find.

    Words that no product has are read as the nearest ones of `visible` products, without it of all. Raises DomainError
    (invalid: `sku`) for words that more than MOST_NAMED products have.
    """
    for rows in catalogue.named(text):
        if rows:
            return NamedProducts(_ids(catalogue, rows))
    words = text[:_LONGEST_SEARCH]
    searched = search(catalogue.search, as_typed(words), _all(catalogue))
    if not searched.rows:
        searched = search(catalogue.search, words, _all(catalogue) if visible is None else visible)
    if len(searched.rows) > MOST_NAMED:
        raise invalid("sku", f"more than {MOST_NAMED:,} products have these words: use more of them")
    return NamedProducts(_ids(catalogue, searched.rows), searched.note, as_typed(words) if searched.corrected else "")


async def note_of_search(memory: Catalogue, text: str) -> str:
    """Return what to say of the words of a search; empty if none was read as another."""
    catalogue = await memory.snapshot()
    return search(catalogue.search, text, _all(catalogue)).note if text else ""


def _all(catalogue: CatalogueSnapshot) -> BitMap:
    return BitMap(range(len(catalogue)))


def _containing(catalogue: CatalogueSnapshot, text: str) -> Iterator[int]:
    """Return the rows whose SKU contains a text: a scan of the table would take most of a search's time."""
    return catalogue.row_of_sku.containing(fold(text))


def _keys(catalogue: CatalogueSnapshot, rows: Iterable[int]) -> list[str]:
    return [catalogue.row_of_sku.key(row).decode(errors="surrogatepass") for row in rows]


def _ids(catalogue: CatalogueSnapshot, rows: Iterable[int]) -> list[int]:
    ids: list[int] = catalogue.row_of_id.ids(np.fromiter(rows, dtype=np.int64)).tolist()
    return ids
