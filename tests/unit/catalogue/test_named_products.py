"""The products that a text names in a filter: by SKU, by EAN, or by words."""

import pytest
from pyroaring import BitMap

from support.catalogue_records import product_record
from tradecounter.kit.errors import DomainError
from tradecounter.products.find_products import MOST_NAMED, named_products
from tradecounter.products.queries.records import ProductRecord, ReferenceRecords
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, build_snapshot


def catalogue_of(*products: ProductRecord) -> CatalogueSnapshot:
    return build_snapshot(ReferenceRecords([], [], []), products)


def test_an_exact_sku_or_ean_names_that_product_alone() -> None:
    short, long = product_record("CV-3", ean="5012345678900"), product_record("CV-3 XL", active=False)
    catalogue = catalogue_of(short, long)
    for text in ("cv-3", " CV-3 ", "5012345678900"):
        assert named_products(catalogue, text).ids == [short.id]
    assert set(named_products(catalogue, "cv 3").ids) == {short.id, long.id}
    assert named_products(catalogue, "xl").ids == [long.id]  # no longer sold
    assert not named_products(catalogue, "xyzzy").ids


def test_a_customer_is_told_no_word_of_a_product_that_it_cannot_see() -> None:
    catalogue = catalogue_of(
        product_record("A-1", name="Periwinkle", active=False), product_record("B-1", name="Marigold")
    )
    seen = BitMap([1])
    assert named_products(catalogue, "perwinkle").note
    assert not named_products(catalogue, "perwinkle", seen).note
    assert named_products(catalogue, "periwinkle", seen).ids  # whoever knows the word has ordered the product
    corrected = named_products(catalogue, "marigld", seen)
    assert corrected.ids
    assert corrected.as_typed == '"marigld"'


def test_words_of_too_many_products_are_refused() -> None:
    products = [product_record(f"S-{number}", description="a cable") for number in range(MOST_NAMED)]
    assert len(named_products(catalogue_of(*products), "cable").ids) == MOST_NAMED
    with pytest.raises(DomainError, match="sku: more than 5,000 products have these words"):
        named_products(catalogue_of(product_record("Z-1", name="Cable"), *products), "cable")
