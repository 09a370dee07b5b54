"""Whatever happens between the reseller and its customers, the service's books are those of a naive twin.

One state machine takes every step of the reseller's side, over HTTP. The twin is `support/naive_money.py`. Where it
expects an error, the response has one of the statuses that it names, and nothing changes.
"""

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from support.backoffice import backoffice_of
from support.reseller_history import history_of
from support.reseller_twin import SELLER
from support.service import Service

# Steps of people on pages, each of which has to happen in these histories.
STEPS = {
    "put",
    "change_basket",
    "order_basket",
    "confirm_on_page",
    "discard",
    "create_list",
    "change_list",
    "put_list",
    "delete_list",
    "limit",
    "ask_approval",
    "approve",
    "decline_approval",
    "price_again",
    "ask",
    "answer",
    "expect_delivery",
    "receive_goods",
    "count_stock",
}

pytestmark = pytest.mark.long


def test_every_step_leaves_the_books_of_a_naive_twin(shop: Service) -> None:
    with backoffice_of(shop, **SELLER) as office:
        machine = history_of(office)
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=14, stateful_step_count=40, deadline=None, derandomize=True, phases=(Phase.generate,)
            ),
        )
    assert STEPS - machine.taken.keys() == set()
