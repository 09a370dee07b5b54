"""Programs of the reseller and of its customers work on the same few orders and products at once: the books agree."""

import pytest

from support.reseller_crowd import assert_crowd_agrees
from support.service import Service

pytestmark = pytest.mark.sweep


def test_steps_of_many_clients_at_once_leave_books_that_agree(shop: Service) -> None:
    assert_crowd_agrees(shop, seed=1)
