"""Suggestions for an unknown SKU: the SKUs that are spelled most like it."""

from collections.abc import Iterable
from difflib import get_close_matches

from pyroaring import BitMap

from tradecounter.catalogue.snapshot.catalogue_snapshot import CatalogueSnapshot
from tradecounter.kit.text import fold

MOST_SUGGESTED = 3
_ALIKE = 0.6
_NEIGHBOURS = 20  # rows on either side of where the SKU would be
_MOST_FOUND = 20  # rows of a search, which ignores punctuation


def most_similar(sku: str, candidates: Iterable[str]) -> list[str]:
    """Return the candidates that are spelled most like a SKU, the most similar first."""
    spelled = {fold(candidate): candidate for candidate in candidates}
    return [spelled[key] for key in get_close_matches(fold(sku.strip()), spelled, MOST_SUGGESTED, _ALIKE)]


def similar_skus(snapshot: CatalogueSnapshot, sku: str, priced: BitMap) -> list[str]:
    """Return the SKUs of active products in the `priced` rows that are most like one."""
    place = snapshot.row_of_sku.place(fold(sku.strip()))
    rows = BitMap(range(max(place - _NEIGHBOURS, 0), min(place + _NEIGHBOURS, len(snapshot))))
    if (found := snapshot.search.find(sku)) is not None:
        rows |= found[:_MOST_FOUND]
    return most_similar(sku, (snapshot.product(row).sku for row in rows & snapshot.active & priced))
