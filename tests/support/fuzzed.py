"""Properties of parsers that meet strangers: few examples in the tests, the same each time; many in `make fuzz`."""

import os
from collections.abc import Callable
from typing import TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st

VARIABLE = "FUZZ_TIMES"
TIMES = int(os.environ.get(VARIABLE, "1"))

Test = TypeVar("Test", bound=Callable[..., None])


def fuzzed(examples: int) -> Callable[[Test], Test]:
    """Mark a property for `make fuzz`, and say how many examples the other commands try."""

    def mark(test: Test) -> Test:
        chosen = settings(max_examples=examples * TIMES, deadline=None, derandomize=TIMES == 1, database=None)
        marked: Test = pytest.mark.fuzzed(chosen(test))
        return marked

    return mark


@st.composite
def damaged(draw: st.DrawFn, whole: bytes, pieces: st.SearchStrategy[bytes]) -> bytes:
    """Some bytes of which a few stretches are missing, repeated, or replaced by pieces."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(whole)))
        end = min(len(whole), start + draw(st.sampled_from([0, 1, 1, 2, 8, 40, 400])))
        put = draw(st.sampled_from(["drop", "repeat", "replace"]))
        middle = {"drop": b"", "repeat": whole[start:end] * 2, "replace": b""}[put]
        whole = whole[:start] + (draw(pieces) if put == "replace" else middle) + whole[end:]
    return whole
