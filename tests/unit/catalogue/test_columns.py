"""Columns behave like the plain lists and dictionaries that they replace."""

import pickle
from bisect import bisect_left
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyroaring import BitMap

from tradecounter.kit.columns.bytes_column import BytesColumn, GappedColumnBuilder, bytes_column, encoded
from tradecounter.kit.columns.lookups import InvertedIndex, PostingLists, RowOfId, SortedKeys, bitmap, rows_of

pytestmark = pytest.mark.sweep

Packed = TypeVar("Packed")

WORDS = st.text(st.sampled_from("abé日😀\ud800\xff"), max_size=3)
ROWS = st.sets(st.integers(0, 5000), max_size=8).map(sorted) | st.integers(256, 300).map(lambda size: list(range(size)))


def again(value: Packed) -> Packed:
    """Return a copy, pickled as between processes."""
    buffers: list[pickle.PickleBuffer] = []
    pickled = pickle.dumps(value, 5, buffer_callback=buffers.append)
    copy: Packed = pickle.loads(pickled, buffers=[buffer.raw().tobytes() for buffer in buffers])  # noqa: S301 made above
    return copy


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.text("ab", max_size=6).map(str.encode)), st.text("ab", max_size=4).map(str.encode))
def test_the_rows_with_a_part_are_those_that_contain_it(rows: list[bytes], part: bytes) -> None:
    column = bytes_column(rows)
    inside = BytesColumn(memoryview(b"ab" + b"".join(rows) + b"ab")[2:-2], np.cumsum([0, *map(len, rows)]))
    wanted = [number for number, row in enumerate(rows) if part and part in row]
    assert list(column.containing(part)) == list(inside.containing(part)) == wanted


@settings(max_examples=60, derandomize=True, deadline=None)
@given(parts=st.lists(st.binary(max_size=4), max_size=6), chosen=st.lists(st.integers(0, 5), max_size=4))
def test_a_bytes_column_returns_the_packed_strings(parts: list[bytes], chosen: list[int]) -> None:
    rows = [row for row in chosen if row < len(parts)]
    for packed in (bytes_column(parts), again(bytes_column(parts))):
        assert (len(packed), list(packed), packed[1:3]) == (len(parts), parts, parts[1:3])
        assert packed.take(np.array(rows, dtype=np.int32)) == [parts[row] for row in rows]
        with pytest.raises(IndexError):
            packed[len(parts)]


@settings(max_examples=100, derandomize=True, deadline=None)
@given(
    texts=st.lists(st.tuples(st.binary(max_size=3), st.binary(max_size=3)), max_size=6),
    chosen=st.lists(st.integers(0, 5), min_size=1, max_size=8),
)
def test_texts_with_gaps_are_read_in_any_order(texts: list[tuple[bytes, bytes]], chosen: list[int]) -> None:
    rows = [row for row in chosen if row < len(texts)]
    builder = GappedColumnBuilder()
    builder.add([], [])
    builder.add([before for before, _ in texts], [after for _, after in texts])
    wanted = [texts[row] for row in rows]
    for packed in (builder.done(), again(builder.done())):
        assert [(packed.before(row), packed.after(row)) for row in rows] == wanted
        assert list(zip(*packed.take(np.array(rows, dtype=np.int32)), strict=True)) == wanted
        if rows:
            heads, tails = packed.take_joined(np.array(rows, dtype=np.int32))
            joined = [before + b"|" + after for before, after in zip(heads, tails, strict=True)]
            assert b"".join(joined) == b"".join(before + b"|" + after for before, after in wanted)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    sets=st.lists(ROWS, max_size=6),
    spans=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=3),
)
def test_a_union_contains_the_rows_of_every_list(sets: list[list[int]], spans: list[tuple[int, int]]) -> None:
    spans = [(start, min(end, len(sets))) for start, end in spans]
    wanted = [BitMap().union(*(BitMap(rows) for rows in sets[start:end])) for start, end in spans]
    for packed in (PostingLists.of(sets), again(PostingLists.of(sets))):
        assert [packed.union(start, end) for start, end in spans] == wanted
        assert packed.union_of(spans) == BitMap().union(*wanted)


@settings(max_examples=100, derandomize=True, deadline=None)
@given(rows=st.dictionaries(WORDS, ROWS, max_size=6), sought=WORDS)
def test_rows_are_found_by_term(rows: dict[str, list[int]], sought: str) -> None:
    plain = {word: BitMap(having) for word, having in rows.items()}
    packed = InvertedIndex.of({encoded(word): having for word, having in rows.items()})
    for found in (packed, again(packed)):
        assert found == plain
        assert found.get(sought) == plain.get(sought)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(words=st.sets(WORDS, max_size=6), sought=WORDS)
def test_a_keys_place_is_its_position_in_the_sorted_keys(words: set[str], sought: str) -> None:
    ordered = sorted(words)
    packed = SortedKeys(bytes_column([encoded(word) for word in ordered]))
    for found in (packed, again(packed)):
        assert list(found) == ordered
        assert found.get(sought) == (bisect_left(ordered, sought) if sought in words else None)


SHORT = st.text("abc", max_size=4)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(words=st.sets(SHORT, min_size=40, max_size=121), sought=st.lists(SHORT, min_size=1, max_size=20))
def test_hundreds_of_keys_are_found_by_their_beginning_and_in_longer_words(words: set[str], sought: list[str]) -> None:
    ordered = sorted(words)
    packed = SortedKeys(bytes_column([encoded(word) for word in ordered]))
    for one in sought:
        place, begun = bisect_left(ordered, one), [word for word in ordered if word.startswith(one)]
        assert packed.place(one) == place
        assert packed.span(one) == (place, place + len(begun))
        inside = [(len(word), ordered.index(word)) for word in ordered if word and word != one and one.startswith(word)]
        assert list(packed.beginnings(encoded(one))) == inside


IDS = st.integers(0, 50)


@settings(max_examples=60, derandomize=True, deadline=None)
@given(ids=st.lists(IDS, unique=True, max_size=8), sought=st.lists(IDS, max_size=4))
def test_an_id_maps_to_its_row(ids: list[int], sought: list[int]) -> None:
    plain = {product_id: row for row, product_id in enumerate(ids)}
    for found in (RowOfId.of(ids), again(RowOfId.of(ids))):
        assert found == plain
        assert found.rows(np.array(sought, dtype=np.int64)).tolist() == [plain.get(i, -1) for i in sought]


def test_a_bitmap_and_its_array_contain_the_same_rows() -> None:
    rows = np.array([0, 3, 70_000], dtype=np.int32)
    assert bitmap(rows) == BitMap([0, 3, 70_000])
    assert rows_of(bitmap(rows)).tolist() == [0, 3, 70_000]
    assert rows_of(BitMap()).tolist() == []
