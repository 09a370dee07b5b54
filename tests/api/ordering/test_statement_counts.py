"""A request takes a fixed number of SQL statements, whatever the number of lines and orders."""

import itertools
from collections.abc import Callable
from typing import Any, ClassVar

import httpx
import pytest
from psycopg import AsyncCursor
from psycopg.rows import TupleRow

from support.orders import buy, confirm, create, dispatch, sell
from support.service import Customer, Service
from support.shop import STANDARD, order
from tradecounter.fulfilment.rules import Serial

MANY = 40
ONE_LINE = [("PHONE", 1)]
MANY_LINES = [("PHONE", 1), ("CABLE", 1)] * (MANY // 2)


class CountingCursor(AsyncCursor[TupleRow]):
    """A cursor that notes what it executes."""

    executed: ClassVar[list[Any]] = []

    async def execute(self, query: Any, *values: Any, **options: Any) -> Any:
        self.executed.append(query)
        return await super().execute(query, *values, **options)


@pytest.fixture(scope="module")
def counted(shop: Service) -> Service:
    """The API, with connections that all count."""
    pool = shop.application.database.pool
    assert isinstance(pool.kwargs, dict)
    pool.kwargs["cursor_factory"] = CountingCursor
    shop.call(pool.drain)
    return shop


@pytest.fixture(scope="module")
def customer(counted: Service) -> Customer:
    return counted.customer(unique_references=True)


def statements(service: Service, customer: Customer, request: Callable[[], httpx.Response]) -> int:
    """How many statements a request takes, its credential being known already."""
    service.refresh()
    customer.get("/manufacturer")
    CountingCursor.executed.clear()
    response = request()
    counted = len(CountingCursor.executed)
    assert response.status_code < 300, response.text
    assert counted > 0
    return counted


@pytest.fixture(scope="module")
def another() -> Callable[[], str]:
    """Makes references that differ."""
    numbers = itertools.count(1)
    return lambda: f"PO-{next(numbers)}"


def test_listing_orders_takes_as_many_statements_for_many_orders_as_for_one(counted: Service) -> None:
    few, many = counted.customer(), counted.customer()
    buy(few, ONE_LINE)
    for _ in range(MANY):
        buy(many, [("PHONE", 1), ("CABLE", 1), ("PHONE", 2)])
    found = [
        statements(counted, customer, lambda c=customer: c.get("/order", params={"limit": 100}))  # type: ignore[misc]
        for customer in (few, many)
    ]
    assert len(many.get("/order").json()) == MANY
    assert found[0] == found[1]


def test_reading_an_order_takes_as_many_statements_for_many_lines_as_for_one(
    counted: Service, customer: Customer, another: Callable[[], str]
) -> None:
    placed = [buy(customer, items, customer_reference=another()) for items in (ONE_LINE, MANY_LINES)]
    few, many = (statements(counted, customer, reading(customer, found)) for found in placed)
    assert few == many


def test_reading_orders_takes_as_many_statements_for_many_shipments_as_for_none(counted: Service) -> None:
    none, many = counted.customer(), counted.customer()
    sku = sell(counted, "SHIPPED", available=10)
    placed = [buy(none, [(sku, 5)]), buy(many, [(sku, 5)])]
    for number in range(4):
        item = placed[1]["items"][0]["id"]
        dispatch(counted, placed[1], (item, 1), serials=[Serial(item, f"S{number}")], tracking_number=f"T{number}")
    for path in ("/order", None):
        asked = [path or f"/order/{order['order_id']}" for order in placed]
        few, more = (
            statements(counted, customer, lambda c=customer, p=path: c.get(p))  # type: ignore[misc]
            for customer, path in zip((none, many), asked, strict=True)
        )
        assert few == more


def test_dispatching_takes_as_many_statements_for_many_lines_as_for_one(
    counted: Service, customer: Customer, another: Callable[[], str]
) -> None:
    sku, found = sell(counted, "LEAVING", available=MANY + 1, weight_kg="0.1"), []
    for items in ([(sku, 1)], [(sku, 1)] * MANY):
        placed = buy(customer, items, customer_reference=another())
        CountingCursor.executed.clear()
        dispatch(counted, placed)
        found.append(len(CountingCursor.executed))
    assert found[0] == found[1]


def reading(customer: Customer, placed: dict[str, Any]) -> Callable[[], httpx.Response]:
    return lambda: customer.get(f"/order/{placed['order_id']}")


@pytest.mark.parametrize("at_once", [False, True])
def test_creating_an_order_takes_as_many_statements_for_many_lines_as_for_one(
    counted: Service, customer: Customer, another: Callable[[], str], *, at_once: bool
) -> None:
    address = customer.post("/customer/address", order()["billing_address"]).json()

    def creating(items: list[tuple[str, int]]) -> Callable[[], httpx.Response]:
        body = order(
            items,
            customer_reference=another(),
            billing_address={"id": address["id"]},
            shipping_method={"id": STANDARD},
            auto_confirm=at_once,
        )
        return lambda: customer.post("/order", body)

    few, many = (statements(counted, customer, creating(items)) for items in (ONE_LINE, MANY_LINES))
    assert few == many


@pytest.mark.parametrize("path", ["/order", "/quote"])
def test_an_idempotency_key_takes_two_statements_more_and_a_replay_takes_one(
    counted: Service, customer: Customer, another: Callable[[], str], path: str
) -> None:
    def creating(headers: dict[str, str]) -> Callable[[], httpx.Response]:
        body = order(customer_reference=another())
        return lambda: customer.post(path, body, headers=headers)

    repeated = creating({"Idempotency-Key": another()})
    bare, keyed, replayed = (statements(counted, customer, ask) for ask in (creating({}), repeated, repeated))
    assert (keyed - bare, replayed) == (2, 1)


def test_confirming_takes_as_many_statements_for_many_lines_as_for_one(
    counted: Service, customer: Customer, another: Callable[[], str]
) -> None:
    scarce = sell(counted, "SCARCE", available=1)

    def confirming(items: list[tuple[str, int]]) -> Callable[[], httpx.Response]:
        pending = create(customer, items, customer_reference=another())
        return lambda: confirm(customer, pending)

    few, many = (
        statements(counted, customer, confirming(items)) for items in (ONE_LINE, [*MANY_LINES, *[(scarce, 1)] * 5])
    )
    assert few == many


def test_the_credit_overview_takes_as_many_statements_for_many_orders_as_for_none(counted: Service) -> None:
    none, many = counted.customer(), counted.customer()
    for _ in range(5):
        buy(many)
    few, more = (
        statements(counted, customer, lambda c=customer: c.get("/customer/credit"))  # type: ignore[misc]
        for customer in (none, many)
    )
    assert few == more


def test_serving_back_orders_takes_as_many_statements_for_many_as_for_one(counted: Service) -> None:
    found = []
    for sku, waiting in (("WAITED-1", 1), ("WAITED-2", 10)):
        sell(counted, sku)
        buyer = counted.customer()
        for _ in range(waiting):
            buy(buyer, [(sku, 1)])
        CountingCursor.executed.clear()
        counted.must_load("stock", [{"sku": sku, "available": 100}])
        found.append(len(CountingCursor.executed))
    assert found[0] == found[1]
