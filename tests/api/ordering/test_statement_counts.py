"""A request takes a fixed number of SQL statements, whatever the number of lines and orders."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from support.orders import buy, confirm, create, dispatch, sell
from support.proxy import Link, linked
from support.service import Customer, Service, running_service
from support.shop import STANDARD, order
from tradecounter.fulfilment.rules import Serial

MANY = 40
ONE_LINE = [("PHONE", 1)]
MANY_LINES = [("PHONE", 1), ("CABLE", 1)] * (MANY // 2)


@dataclass
class Counted:
    """What a request takes: statements, and round trips to the database."""

    statements: int
    round_trips: int


Count = Callable[[Customer, Callable[[], httpx2.Response]], Counted]


@pytest.fixture(scope="module")
def link(shop: Service) -> Iterator[Link]:
    with linked(shop.database_url) as found:
        yield found


@pytest.fixture(scope="module")
def counted(link: Link) -> Iterator[Service]:
    """The API, with a link to its database that counts."""
    with running_service(link.url) as running:
        yield running


@pytest.fixture(scope="module")
def customer(counted: Service) -> Customer:
    return counted.customer(unique_references=True)


@pytest.fixture(scope="module")
def count(counted: Service, link: Link) -> Count:
    """Tells what a request takes, its credential being known already."""

    def count(customer: Customer, request: Callable[[], httpx2.Response]) -> Counted:
        counted.refresh()
        customer.get("/manufacturer")
        link.spoken.clear()
        response = request()
        found = Counted(link.statements, link.round_trips)
        assert response.status_code < 300, response.text
        assert found.statements >= found.round_trips > 0
        return found

    return count


@pytest.fixture(scope="module")
def another() -> Callable[[], str]:
    """Makes references that differ."""
    numbers = itertools.count(1)
    return lambda: f"PO-{next(numbers)}"


def test_listing_orders_takes_as_many_statements_for_many_orders_as_for_one(counted: Service, count: Count) -> None:
    few, many = counted.customer(), counted.customer()
    buy(few, ONE_LINE)
    for _ in range(MANY):
        buy(many, [("PHONE", 1), ("CABLE", 1), ("PHONE", 2)])
    found = [
        count(customer, lambda c=customer: c.get("/order", params={"limit": 100}))  # type: ignore[misc]
        for customer in (few, many)
    ]
    assert len(many.get("/order").json()) == MANY
    assert found[0] == found[1]


def test_reading_an_order_takes_as_many_statements_for_many_lines_as_for_one(
    count: Count, customer: Customer, another: Callable[[], str]
) -> None:
    placed = [buy(customer, items, customer_reference=another()) for items in (ONE_LINE, MANY_LINES)]
    few, many = (count(customer, reading(customer, found)) for found in placed)
    assert few == many


def test_reading_orders_takes_as_many_statements_for_many_shipments_as_for_none(counted: Service, count: Count) -> None:
    none, many = counted.customer(), counted.customer()
    sku = sell(counted, "SHIPPED", available=10)
    placed = [buy(none, [(sku, 5)]), buy(many, [(sku, 5)])]
    for number in range(4):
        item = placed[1]["items"][0]["id"]
        dispatch(counted, placed[1], (item, 1), serials=[Serial(item, f"S{number}")], tracking_number=f"T{number}")
    for path in ("/order", None):
        asked = [path or f"/order/{order['order_id']}" for order in placed]
        few, more = (
            count(customer, lambda c=customer, p=path: c.get(p))  # type: ignore[misc]
            for customer, path in zip((none, many), asked, strict=True)
        )
        assert few == more


def test_dispatching_takes_as_many_statements_for_many_lines_as_for_one(
    counted: Service, link: Link, customer: Customer, another: Callable[[], str]
) -> None:
    sku, found = sell(counted, "LEAVING", available=MANY + 1, weight_kg="0.1"), []
    for items in ([(sku, 1)], [(sku, 1)] * MANY):
        placed = buy(customer, items, customer_reference=another())
        link.spoken.clear()
        dispatch(counted, placed)
        found.append(link.statements)
    assert found[0] == found[1]


def reading(customer: Customer, placed: dict[str, Any]) -> Callable[[], httpx2.Response]:
    return lambda: customer.get(f"/order/{placed['order_id']}")


@pytest.mark.parametrize("at_once", [False, True])
def test_creating_an_order_takes_as_many_statements_for_many_lines_as_for_one(
    count: Count, customer: Customer, another: Callable[[], str], *, at_once: bool
) -> None:
    address = customer.post("/customer/address", order()["billing_address"]).json()

    def creating(items: list[tuple[str, int]]) -> Callable[[], httpx2.Response]:
        body = order(
            items,
            customer_reference=another(),
            billing_address={"id": address["id"]},
            shipping_method={"id": STANDARD},
            auto_confirm=at_once,
        )
        return lambda: customer.post("/order", body)

    few, many = (count(customer, creating(items)) for items in (ONE_LINE, MANY_LINES))
    assert few == many


@pytest.mark.parametrize("path", ["/order", "/quote"])
def test_an_idempotency_key_takes_two_statements_but_no_trip_more_and_a_replay_takes_one_and_the_commit(
    count: Count, customer: Customer, another: Callable[[], str], path: str
) -> None:
    def creating(headers: dict[str, str]) -> Callable[[], httpx2.Response]:
        body = order(customer_reference=another())
        return lambda: customer.post(path, body, headers=headers)

    repeated = creating({"Idempotency-Key": another()})
    bare, keyed, replayed = (count(customer, ask) for ask in (creating({}), repeated, repeated))
    assert (keyed.statements - bare.statements, keyed.round_trips - bare.round_trips) == (2, 0)
    assert replayed.round_trips == 2


@pytest.mark.parametrize(("unique", "trips"), [(False, 2), (True, 3)])
@pytest.mark.parametrize("saved", [False, True])
def test_an_order_of_three_lines_with_a_key_takes_two_round_trips_and_three_where_references_are_unique(
    counted: Service, count: Count, unique: bool, trips: int, saved: bool
) -> None:
    customer = counted.customer(unique_references=unique)
    values: dict[str, Any] = {}
    if saved:
        values["billing_address"] = {"id": customer.post("/customer/address", order()["billing_address"]).json()["id"]}
    body = order([("PHONE", 1), ("CABLE", 2), ("SWITCH", 3)], shipping_method={"id": STANDARD}, **values)
    found = count(customer, lambda: customer.post("/order", body, headers={"Idempotency-Key": "k-1"}))
    assert found.round_trips == trips


def test_a_confirmation_with_its_mail_takes_three_round_trips(counted: Service, count: Count) -> None:
    customer = counted.customer()
    silent, told = (create(customer, order_notifications=who) for who in (None, {"email_address": "a@b.example"}))
    found = [count(customer, lambda p=pending: confirm(customer, p)).round_trips for pending in (silent, told)]  # type: ignore[misc]
    assert found == [3, 3]


def test_confirming_takes_as_many_statements_for_many_lines_as_for_one(
    counted: Service, count: Count, customer: Customer, another: Callable[[], str]
) -> None:
    scarce = sell(counted, "SCARCE", available=1)

    def confirming(items: list[tuple[str, int]]) -> Callable[[], httpx2.Response]:
        pending = create(customer, items, customer_reference=another())
        return lambda: confirm(customer, pending)

    few, many = (count(customer, confirming(items)) for items in (ONE_LINE, [*MANY_LINES, *[(scarce, 1)] * 5]))
    assert few == many


def test_the_credit_overview_takes_as_many_statements_for_many_orders_as_for_none(
    counted: Service, count: Count
) -> None:
    none, many = counted.customer(), counted.customer()
    for _ in range(5):
        buy(many)
    few, more = (
        count(customer, lambda c=customer: c.get("/customer/credit"))  # type: ignore[misc]
        for customer in (none, many)
    )
    assert few == more


def test_serving_back_orders_takes_as_many_statements_for_many_as_for_one(counted: Service, link: Link) -> None:
    found = []
    for sku, waiting in (("WAITED-1", 1), ("WAITED-2", 10)):
        sell(counted, sku)
        buyer = counted.customer()
        for _ in range(waiting):
            buy(buyer, [(sku, 1)])
        link.spoken.clear()
        counted.must_load("stock", [{"sku": sku, "available": 100}])
        found.append(link.statements)
    assert found[0] == found[1]
