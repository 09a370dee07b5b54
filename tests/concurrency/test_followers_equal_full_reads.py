"""A client that follows the change feed has what a fresh full read has, whatever happens."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.followed import Step, World, followed, steps
from support.service import Service

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def world(shop: Service) -> Iterator[World]:
    with followed(shop) as made:
        yield made


@given(st.lists(steps, min_size=5, max_size=30))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_a_follower_has_what_a_full_read_has(world: World, chosen: list[Step]) -> None:
    world.take(chosen)
    world.first.refresh()
    world.second.refresh()
    world.check(everywhere=True)
