"""After any history of orders, cancellations and dispatches, credit, stock, shipments and statuses agree."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.orders import cancel, confirm, create, dispatch, faults_in_the_books, read, sell
from support.service import Customer, Service
from tradecounter.kit.errors import DomainError

pytestmark = pytest.mark.sweep

SKUS = ("STORY-1", "STORY-2", "STORY-KIT")

orders = st.lists(st.tuples(st.sampled_from(SKUS), st.integers(1, 5)), min_size=1, max_size=3)
which = st.integers(0, 9)
parts = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=1)
steps = st.one_of(
    st.tuples(st.just("buy"), orders),
    st.tuples(st.just("create"), orders),
    st.tuples(st.just("confirm"), which),
    st.tuples(st.just("dispatch"), which, st.none() | parts),
    st.tuples(st.just("dispatch"), which, st.none()),
    st.tuples(st.just("cancel"), which),
    st.tuples(st.just("import"), st.dictionaries(st.sampled_from(SKUS), st.integers(0, 9), min_size=1)),
)  # fmt: skip


@dataclass
class Story:
    service: Service
    customer: Customer
    placed: list[dict[str, Any]]

    def apply(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("create" | "buy", items):
                order = create(self.customer, items)
                if step[0] == "buy":
                    order = confirm(self.customer, order).json()
                self.placed.append(order)
            case ("import", levels):
                self.service.must_load("stock", [{"sku": sku, "available": n} for sku, n in levels.items()])
            case (_, number, *_) if self.placed:
                self.change(number % len(self.placed), step)

    def change(self, number: int, step: tuple[Any, ...]) -> None:
        order = self.placed[number]
        before = read(self.customer, order) if "order_id" in order else None
        try:
            match step:
                case ("confirm", _):
                    response = confirm(self.customer, order)
                    assert response.status_code in {200, 410}
                    if response.status_code == 200:
                        self.placed[number] = response.json()
                case ("cancel", _):
                    cancel(self.service, order)
                case ("dispatch", _, None):
                    name = order.get("order_reference") or order["confirmation_code"]
                    dispatch(self.service, {"order_reference": name})
                case ("dispatch", _, wanted) if "order_reference" in order:
                    ids = [item["id"] for item in order["items"]]
                    dispatch(self.service, order, *[(ids[n % len(ids)], units) for n, units in wanted])
        except DomainError:
            assert before is None or read(self.customer, order) == before


@pytest.fixture(scope="module")
def stocked(shop: Service) -> Service:
    for sku in SKUS[:2]:
        sell(shop, sku, 10, available=6)
    sell(shop, SKUS[2], 30, available=3, components=[{"sku": SKUS[0], "quantity": 2}])
    return shop


@given(st.lists(steps, min_size=10, max_size=16))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_stock_and_credit_totals_match_the_orders_after_every_step(
    stocked: Service, history: list[tuple[Any, ...]]
) -> None:
    story = Story(stocked, stocked.customer(), [])
    for step in history:
        story.apply(step)
        assert faults_in_the_books(stocked) == {}
