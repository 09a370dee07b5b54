"""Suggests similar SKUs for an unknown SKU."""

from collections.abc import Iterable
from difflib import get_close_matches

from pyroaring import BitMap

from tradecounter.kit.keys import key_form
from tradecounter.kit.text import fold
from tradecounter.products.search.query import search
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot

MOST_SUGGESTED = 3
_LEAST_SIMILARITY = 0.6
_NEIGHBOURS = 20  # rows before and after the SKU's place
_MOST_FOUND = 20  # rows found by a text search, which ignores punctuation
_LONGEST = 200  # characters of a text that may be a mistyped SKU; pages look for what is typed before they reject it


def most_similar(sku: str, candidates: Iterable[str]) -> list[str]:
    """Return the candidates that are most similar to a SKU, most similar first."""
    spelled = {fold(candidate): candidate for candidate in candidates}
    return [spelled[key] for key in get_close_matches(key_form(sku), spelled, MOST_SUGGESTED, _LEAST_SIMILARITY)]


def similar_skus(snapshot: CatalogueSnapshot, sku: str, visible: BitMap) -> list[str]:
    """Return the SKUs most like `sku` among products in the visible rows."""
    if len(sku) > _LONGEST:
        return []
    place = snapshot.row_of_sku.place(key_form(sku))
    rows = BitMap(range(max(place - _NEIGHBOURS, 0), min(place + _NEIGHBOURS, len(snapshot))))
    rows |= search(snapshot.search, sku, visible).rows[:_MOST_FOUND]
    return most_similar(sku, (snapshot.product(row).sku for row in rows & visible))
