"""Slices of matching rows, compared with slices of all sorted rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from tradecounter.storefront.find_in_view import FoundProducts

ROWS = st.sets(st.integers(0, 40), max_size=20).map(sorted)
PLACES = st.integers(0, 25)


@pytest.mark.sweep
@settings(max_examples=200, derandomize=True, deadline=None)
@given(rows=ROWS, keys=st.lists(st.integers(-3, 3), min_size=41, max_size=41), start=PLACES, end=PLACES)
def test_a_slice_equals_the_slice_of_all_rows_sorted_by_key(
    rows: list[int], keys: list[int], start: int, end: int
) -> None:
    of_row = np.array(keys, dtype=np.int32)
    found = FoundProducts(BitMap(rows), key=lambda some: of_row[some])
    assert found[start:end].tolist() == sorted(rows, key=lambda row: (keys[row], row))[start:end]
    assert (len(found), found[:].tolist()) == (len(rows), sorted(rows, key=lambda row: (keys[row], row)))
    assert FoundProducts(BitMap(rows))[start:end].tolist() == rows[start:end]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(rows=ROWS, cuts=st.lists(st.integers(0, 40), max_size=3), start=PLACES, end=PLACES)
def test_tiers_follow_each_other(rows: list[int], cuts: list[int], start: int, end: int) -> None:
    bounds = [0, *sorted(cuts), 41]
    tiers = [[row for row in rows if low <= row < high] for low, high in pairwise(bounds)][::-1]
    found = FoundProducts(BitMap(rows), tiers=lambda: map(BitMap, tiers))
    assert found[start:end].tolist() == [row for tier in tiers for row in tier][start:end]


def test_the_largest_keys_are_sorted_correctly() -> None:
    of_row = np.array([2**31 - 1, 0, -(2**31) + 1], dtype=np.int64)
    assert FoundProducts(BitMap([0, 1, 2]), key=lambda some: of_row[some])[0:2].tolist() == [2, 1]
