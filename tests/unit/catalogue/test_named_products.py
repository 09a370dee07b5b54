"""The products that a text names in a filter: by SKU, by EAN, or by words."""

import asyncio

from msgspec import Struct

from support.catalogue_records import product_record
from tradecounter.products.find_products import MOST_NAMED, named_products
from tradecounter.products.queries.records import ProductRecord, ReferenceRecords
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, build_snapshot


class Memory(Struct, frozen=True):
    """A catalogue that does not change."""

    kept: CatalogueSnapshot

    async def snapshot(self) -> CatalogueSnapshot:
        return self.kept

    async def latest_snapshot(self) -> CatalogueSnapshot:
        return self.kept


def memory(*products: ProductRecord) -> Memory:
    return Memory(build_snapshot(ReferenceRecords([], [], []), products))


def test_an_exact_sku_or_ean_names_that_product_alone() -> None:
    short, long = product_record("CV-3", ean="5012345678900"), product_record("CV-3 XL", active=False)
    catalogue = memory(short, long)
    for text in ("cv-3", " CV-3 ", "5012345678900"):
        assert asyncio.run(named_products(catalogue, text)).ids == [short.id]
    assert set(asyncio.run(named_products(catalogue, "cv 3")).ids) == {short.id, long.id}
    assert asyncio.run(named_products(catalogue, "xl")).ids == [long.id]  # no longer sold
    assert not asyncio.run(named_products(catalogue, "xyzzy")).ids


def test_of_too_many_products_the_best_are_taken_and_the_note_says_so() -> None:
    catalogue = memory(*(product_record(f"S-{number}", description="a cable") for number in range(MOST_NAMED)))
    assert asyncio.run(named_products(catalogue, "cable")).note == ""
    best = product_record("Z-1", name="Cable")
    catalogue = memory(best, *(product_record(f"S-{number}", description="a cable") for number in range(MOST_NAMED)))
    found = asyncio.run(named_products(catalogue, "cable"))
    assert len(found.ids) == MOST_NAMED
    assert best.id in found.ids
    assert found.note.startswith("Many products match: the 5,000 best are taken.")
    assert found.as_typed == ""
