"""The rows and indexes of a catalogue snapshot."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from support.catalogue_records import product_record
from tradecounter.products.queries.records import (
    AttributeRecord,
    CategoryRecord,
    ManufacturerRecord,
    ProductRecord,
    ReferenceRecords,
)
from tradecounter.products.search.query import search
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, SnapshotBuilder, build_snapshot
from tradecounter.products.wire import Category


def snapshot(*products: ProductRecord, categories: tuple[CategoryRecord, ...] = ()) -> CatalogueSnapshot:
    manufacturers = [ManufacturerRecord("acme", "Acme"), ManufacturerRecord("b", "acme"), ManufacturerRecord("a", "B")]
    attributes = [AttributeRecord("z", "Alpha", "int", [{"value": "1"}]), AttributeRecord("y", "beta", "string", [])]
    return build_snapshot(ReferenceRecords(list(categories), manufacturers, attributes), products)


def products(rows: CatalogueSnapshot) -> list[ProductRecord]:
    return [rows.product(row) for row in range(len(rows))]


def test_an_empty_catalogue_makes_an_empty_snapshot() -> None:
    empty = build_snapshot(ReferenceRecords([], [], []), [])
    assert (len(empty), empty.row("A"), list(empty.active)) == (0, None, [])


def test_rows_are_in_order_of_sku_by_code_point_after_case_folding() -> None:
    skus = ["b", "A", "a-1", "A+1", "Z", "é", "É2", "10", "9", "a/1", "ß", "ST", "ss1"]
    rows = snapshot(*(product_record(sku) for sku in skus))
    assert [product.sku for product in products(rows)] == [
        "10", "9", "A", "A+1", "a-1", "a/1", "b", "ß", "ss1", "ST", "Z", "é", "É2"
    ]  # fmt: skip
    for row, product in enumerate(products(rows)):
        assert rows.row(product.sku) == rows.row(product.sku.upper()) == rows.row_of_id[product.id] == row


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_size_of_batches_changes_nothing(size: int) -> None:
    records = [
        product_record(f"A{n}", ean=str(n % 3), name=f"Name, {n % 2}", attributes={"z": str(n)}, active=n > 1)
        for n in range(7)
    ]
    reference = ReferenceRecords([], [], [AttributeRecord("z", "Alpha", "int", [])])
    whole, builder = build_snapshot(reference, records), SnapshotBuilder(reference)
    for start in range(0, len(records), size):
        builder.add([])
        builder.add(records[start : start + size])
    pieces = builder.done()
    assert (pieces.digest, pieces.active, products(pieces)) == (whole.digest, whole.active, products(whole))
    assert (pieces.rows_of_ean, pieces.row_of_id) == (whole.rows_of_ean, whole.row_of_id)
    for query in ("a", "name 1", "a3", "nmae"):
        one, other = (search(each.search, query, BitMap(range(7))) for each in (pieces, whole))
        assert (list(one.tiers()), one.corrected) == (list(other.tiers()), other.corrected)
    for column in ("json", "csv"):
        assert list(getattr(pieces.fragments, column).halves) == list(getattr(whole.fragments, column).halves)
    assert list(pieces.attributes.find(["alpha=5"]) or ()) == [5]


@pytest.mark.parametrize("first", ["z", "Alpha"])
def test_an_attribute_without_a_name_never_hides_one_that_is_shown_by_that_name(first: str) -> None:
    values = {"z": "shown", "Alpha": "retired"}
    ordered = {first: values[first], **values}
    rows = snapshot(product_record("A", attributes=ordered | {"other": "kept"}))
    assert rows.product(0).attributes == {"Alpha": "shown", "other": "kept"}


def test_an_inactive_product_has_a_row_but_is_not_found_by_sku() -> None:
    rows = snapshot(product_record("A", active=False), product_record("B", clearance_product=True))
    assert (rows.row("a"), rows.row("b"), rows.row("c")) == (None, 1, None)
    assert (rows.row_of_sku["a"], list(rows.active), list(rows.clearance)) == (0, [1], [1])


def test_all_products_with_the_same_ean_are_found() -> None:
    rows = snapshot(*(product_record(sku, ean=ean) for sku, ean in (("C", "1"), ("B", None), ("A", "1"), ("D", ""))))
    assert rows.rows_of_ean == {"1": BitMap([0, 2])}


def test_a_category_is_found_by_key_and_name_and_includes_its_children() -> None:
    categories = (
        CategoryRecord("top", "The Top", None),
        CategoryRecord("other", "Other", None),
        CategoryRecord("one", "Bits", "top"),
        CategoryRecord("two", "BITS", "other"),
    )
    rows = snapshot(
        product_record("A", categories=["top"]),
        product_record("B", categories=["top", "one"]),
        product_record("C", categories=["two"]),
        product_record("D", categories=["retired"]),
        categories=categories,
    )
    found = {name: list(of) for name, of in rows.categories.items()}
    assert found == {"top": [0, 1], "the top": [0, 1], "other": [2], "one": [1], "two": [2], "bits": [1, 2]}
    assert rows.category_tree == [
        Category("top", "The Top", [Category("one", "Bits", None)]),
        Category("other", "Other", [Category("two", "BITS", None)]),
    ]


def test_reference_lists_are_in_order_of_name_without_case() -> None:
    rows = snapshot()
    assert [(m.key, m.name) for m in rows.manufacturer_list] == [("acme", "Acme"), ("b", "acme"), ("a", "B")]
    assert [(a.key, a.name) for a in rows.attribute_list] == [("z", "Alpha"), ("y", "beta")]
    assert [v.value for v in rows.attribute_list[0].possible_values] == ["1"]


def test_a_manufacturer_without_products_is_known_and_empty() -> None:
    rows = snapshot(product_record("A", manufacturer="acme"), product_record("B", manufacturer="b"))
    assert {key: list(of) for key, of in rows.manufacturers.items()} == {"acme": [0], "b": [1], "a": []}


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.text(st.sampled_from("aAbBéß 1"), min_size=1, max_size=3), min_size=1, max_size=8))
def test_the_name_rank_sorts_by_name_then_by_sku(names: list[str]) -> None:
    rows = snapshot(*(product_record(f"{n:02}", name=name) for n, name in enumerate(reversed(names))))
    by_rank = [rows.product(row) for row in np.argsort(rows.name_rank).tolist()]
    assert by_rank == sorted(products(rows), key=lambda p: (p.name.casefold(), p.sku))


@pytest.mark.parametrize("sku", ["A", "a"])
def test_skus_that_differ_only_in_case_mean_the_same_product(sku: str) -> None:
    assert snapshot(product_record("A")).row(sku) == 0
