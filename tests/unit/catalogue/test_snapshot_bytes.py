"""A snapshot as bytes."""

import builtins
import os
import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from support.catalogue_records import product_record
from tradecounter.kit.parts import joined_parts
from tradecounter.products.queries.records import (
    AttributeRecord,
    CategoryRecord,
    ManufacturerRecord,
    ProductRecord,
    ReferenceRecords,
)
from tradecounter.products.search.query import search
from tradecounter.products.snapshot.catalogue_snapshot import CatalogueSnapshot, build_snapshot
from tradecounter.products.snapshot.layout import from_bytes, to_bytes

REFERENCE = ReferenceRecords(
    [CategoryRecord("k", "Kind", None), CategoryRecord("sub", "Part", "k")],
    [ManufacturerRecord("acme", "Acme")],
    [AttributeRecord("n", "Ports", "int", [{"value": "1"}]), AttributeRecord("c", "Colour", "string", [])],
)
SOUGHT = ("a", "common", "1", "a1 common", "comon")
TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=30)


def a_product(number: int, text: str) -> ProductRecord:
    return product_record(
        f"A{number}{text}", id=number + 1, ean=str(number), name=text, description=text, categories=["sub"],
        attributes={"n": str(number % 3), "c": text}, active=number != 1, clearance_product=number == 2,
    )  # fmt: skip


def everything(snapshot: CatalogueSnapshot) -> list[Any]:
    """Return all that a snapshot is asked for."""
    rows = range(len(snapshot))
    fragments = snapshot.fragments
    return [
        snapshot.digest,
        [snapshot.product(row) for row in rows],
        [snapshot.orderable(row) for row in rows],
        list(fragments.csv.halves), list(fragments.parts),
        dict(snapshot.row_of_sku), dict(snapshot.row_of_id), dict(snapshot.rows_of_ean),
        snapshot.active, snapshot.clearance, snapshot.manufacturers, snapshot.categories,
        [list(search(snapshot.search, query, BitMap(rows)).tiers()) for query in SOUGHT], snapshot.name_rank.tolist(),
        [snapshot.attributes.find([where]) for where in ("ports>=1", "n=2", "colour=x")],
        snapshot.attributes.possible, snapshot.category_tree, snapshot.manufacturer_list, snapshot.attribute_list,
        snapshot.unreadable,
    ]  # fmt: skip


@pytest.mark.sweep
@given(st.lists(TEXTS, max_size=5))
def test_a_snapshot_that_was_bytes_is_the_same(texts: list[str]) -> None:
    snapshot = build_snapshot(REFERENCE, [a_product(number, text) for number, text in enumerate(texts)])
    again = from_bytes(to_bytes(snapshot))
    assert everything(again) == everything(snapshot)
    assert everything(from_bytes(to_bytes(again))) == everything(snapshot)


def test_long_lists_of_rows_are_kept_too() -> None:
    snapshot = build_snapshot(REFERENCE, [a_product(number, "common") for number in range(300)])
    assert everything(from_bytes(to_bytes(snapshot))) == everything(snapshot)


def pickled(value: Any) -> bytes:
    parts = joined_parts([memoryview(pickle.dumps(value))])
    return zstandard.ZstdCompressor().compress(b"".join(parts))


class Calls:
    """Runs a function when it is unpickled as usual."""

    def __init__(self, function: Callable[..., Any], *values: Any) -> None:
        self._call = function, values

    def __reduce__(self) -> Any:
        return self._call


@pytest.mark.parametrize(
    ("function", "values"), [(os.mkdir, ("made",)), (builtins.getattr, ("", "join")), (builtins.eval, ("1",))]
)
def test_bytes_that_name_anything_else_are_rejected_and_run_nothing(
    function: Callable[..., Any], values: tuple[Any, ...], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pickle.UnpicklingError, match="no snapshot contains"):
        from_bytes(pickled(Calls(function, *values)))
    assert not list(tmp_path.iterdir())


def test_bytes_of_anything_but_a_snapshot_are_rejected() -> None:
    with pytest.raises(pickle.UnpicklingError, match="contain no snapshot"):
        from_bytes(pickled(Decimal(1)))
