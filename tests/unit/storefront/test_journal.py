"""The journal of changes: packing loses nothing."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.storefront.changes.journal import SubjectChanges
from tradecounter.storefront.changes.queries import Ids

NOTED = st.lists(st.one_of(st.none(), st.sets(st.integers(1, 9), max_size=6)), max_size=12)


def told(found: list[Ids | None]) -> tuple[bool, set[int]]:
    """Whether all products changed, and the ids of those that are named."""
    return any(ids is None for ids in found), {int(each) for ids in found if ids is not None for each in ids}


@given(NOTED, st.integers(0, 12), st.integers(0, 12))
def test_packed_changes_tell_the_same_up_to_every_version_that_is_shown(
    noted: list[set[int] | None], packed: int, after: int
) -> None:
    plain, tight = SubjectChanges(), SubjectChanges(pack_at=0)
    for changes in (plain, tight):
        for version, ids in enumerate(noted, start=1):
            changes.add(version, None if ids is None else np.array(sorted(ids), dtype=np.int64))
    tight.pack(packed)
    for until in range(max(packed, after), len(noted) + 1):
        assert told(tight.between(after, until)) == told(plain.between(after, until))
    tight.forget(after)
    assert tight.size == sum(1 if ids is None else len(ids) for ids in tight.ids)
    shown = [int(each) for ids in tight.ids[: max(packed - after, 0)] if ids is not None for each in ids]
    assert len(shown) == len(set(shown)), "a product stands once among those that are packed"
