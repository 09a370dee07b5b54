"""Several buffers in one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.kit.parts import joined_parts, split_parts

BUFFERS = st.lists(st.binary(min_size=1, max_size=200), min_size=1, max_size=5)


def joined(parts: list[bytes]) -> bytes:
    return b"".join(joined_parts([memoryview(part) for part in parts]))


@given(st.lists(st.binary(max_size=200), max_size=5))
def test_split_parts_are_those_that_were_joined(parts: list[bytes]) -> None:
    assert split_parts(joined(parts)) == parts


@given(BUFFERS)
def test_each_part_begins_at_a_multiple_of_64_bytes(parts: list[bytes]) -> None:
    whole = joined(parts)
    start = np.frombuffer(whole, dtype=np.uint8).ctypes.data
    found = [np.frombuffer(part, dtype=np.uint8).ctypes.data - start for part in split_parts(whole)]
    assert [place % 64 for place in found] == [0] * len(parts)


@given(BUFFERS)
def test_a_buffer_that_ends_too_early_is_an_error(parts: list[bytes]) -> None:
    with pytest.raises(ValueError, match="shorter than its parts"):
        split_parts(joined(parts)[:-1])
