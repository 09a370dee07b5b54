"""Slices of matching rows, compared with slices of all sorted rows."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from tradecounter.storefront.query import Found

ROWS = st.sets(st.integers(0, 40), max_size=20).map(sorted)
PLACES = st.integers(0, 25)


@settings(max_examples=200, derandomize=True, deadline=None)
@given(rows=ROWS, keys=st.lists(st.integers(-3, 3), min_size=41, max_size=41), start=PLACES, end=PLACES)
def test_a_slice_equals_the_slice_of_all_rows_sorted_by_key(
    rows: list[int], keys: list[int], start: int, end: int
) -> None:
    of_row = np.array(keys, dtype=np.int32)
    found = Found(BitMap(rows), key=lambda some: of_row[some])
    assert found[start:end].tolist() == sorted(rows, key=lambda row: (keys[row], row))[start:end]
    assert (len(found), found[:].tolist()) == (len(rows), sorted(rows, key=lambda row: (keys[row], row)))
    assert Found(BitMap(rows))[start:end].tolist() == rows[start:end]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(rows=ROWS, firsts=st.integers(0, 3), start=PLACES, end=PLACES)
def test_exact_matches_are_first_and_not_repeated(rows: list[int], firsts: int, start: int, end: int) -> None:
    first = tuple(reversed(rows))[:firsts]
    expected = [*first, *(row for row in rows if row not in first)]
    assert Found(BitMap(rows), first)[start:end].tolist() == expected[start:end]


def test_the_largest_keys_are_sorted_correctly() -> None:
    of_row = np.array([2**31 - 1, 0, -(2**31) + 1], dtype=np.int64)
    assert Found(BitMap([0, 1, 2]), key=lambda some: of_row[some])[0:2].tolist() == [2, 1]
