"""A request has a fixed number of SQL statements and few round trips, whatever the number of lines and orders."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import pytest

from support.billing import invoiced, number_of
from support.orders import Items, buy, confirm, create, dispatch, sell
from support.proxy import Link, linked
from support.service import Customer, Service, running_service
from support.shop import ADDRESS, order
from tradecounter.kit.clock import uk_date
from tradecounter.orders.adjust_stock import Adjustment, adjust_stock
from tradecounter.payments.bank_file import read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.roll_back_bank_file import roll_back_bank_file
from tradecounter.shipments.wire import Serial

Work = Callable[[], Any]

_names = map("X-{}".format, count(1))


@dataclass
class Counted:
    """The statements and round trips of some work."""

    statements: int
    round_trips: int


@dataclass
class Counter:
    """The API, connected to its database through a counting proxy."""

    service: Service
    link: Link

    def count(self, customer: Customer, work: Work) -> Counted:
        self.service.refresh()
        assert customer.get("/manufacturer").status_code == 200  # the credential is cached from here on
        self.link.spoken.clear()
        work()
        found = Counted(self.link.statements, self.link.round_trips)
        assert found.statements >= found.round_trips > 0
        return found


@pytest.fixture(scope="module")
def counter(shop: Service) -> Iterator[Counter]:
    with linked(shop.database_url) as link, running_service(link.url) as running:
        running.must_load("stock", [{"sku": sku, "available": 10_000} for sku in ("PHONE", "CABLE")])
        yield Counter(running, link)


def lines(size: int) -> Items:
    return [("PHONE", 1), ("CABLE", 1)] * size


def reading(service: Service, customer: Customer, size: int) -> Work:
    """Read orders with several lines and shipments."""
    sku = sell(service, next(_names), available=100)
    for _ in range(size):
        placed = buy(customer, [(sku, 10), *lines(size)], customer_reference=next(_names))
        item = placed["items"][0]["id"]
        for number in range(size - 1):
            dispatch(service, placed, (item, 1), serials=[Serial(item, f"{number}")], tracking_number=f"T{number}")

    def read() -> None:
        for path in ("/order", f"/order/{placed['order_id']}", "/customer/credit"):
            customer.get(path).raise_for_status()

    return read


def creating(_service: Service, customer: Customer, size: int) -> Work:
    reference = next(_names)
    return lambda: create(customer, lines(size), customer_reference=reference)


def buying(_service: Service, customer: Customer, size: int) -> Work:
    reference = next(_names)
    return lambda: buy(customer, lines(size), customer_reference=reference)


def confirming(service: Service, customer: Customer, size: int) -> Work:
    """Confirm an order with some back-ordered lines."""
    scarce = sell(service, next(_names), available=1)
    pending = create(customer, [*lines(size), *[(scarce, 1)] * (size - 1)], customer_reference=next(_names))
    return lambda: confirm(customer, pending).raise_for_status()


def dispatching(service: Service, customer: Customer, size: int) -> Work:
    placed = buy(customer, lines(size), customer_reference=next(_names))
    return lambda: dispatch(service, placed)


def serving_back_orders(service: Service, customer: Customer, size: int) -> Work:
    sku = sell(service, next(_names))
    for _ in range(size):
        buy(customer, [(sku, 1)], customer_reference=next(_names))
    return lambda: service.run_import("stock", [{"sku": sku, "available": 100}])


def adjusting(service: Service, customer: Customer, size: int) -> Work:
    """Adjust several products, of which one serves a back-order."""
    skus = [sell(service, next(_names)) for _ in range(size)]
    buy(customer, [(skus[0], 1)], customer_reference=next(_names))
    adjustments = [Adjustment(sku=sku, change=5, reason="found") for sku in skus]
    return lambda: service.in_transaction(partial(adjust_stock, adjustments=adjustments, now=service.clock.now()))


def importing_customers(service: Service, _customer: Customer, size: int) -> Work:
    rows = [{"email_address": f"{next(_names)}@many.example", "first_name": "A", "last_name": "B"} for _ in range(size)]
    return lambda: service.run_import("customers", rows)


PREPARED = [reading, creating, buying, confirming, dispatching, serving_back_orders, adjusting, importing_customers]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("prepared", PREPARED)
def test_many_orders_lines_and_rows_need_no_more_statements(
    counter: Counter, prepared: Callable[[Service, Customer, int], Work]
) -> None:
    few, many = (
        counter.count(customer, prepared(counter.service, customer, size))
        for customer, size in [(counter.service.customer(unique_references=True), size) for size in (1, 6)]
    )
    assert few == many


@pytest.mark.parametrize(("unique", "trips"), [(False, 2), (True, 3)])
def test_an_order_needs_two_round_trips_or_three_with_unique_references(
    counter: Counter, unique: bool, trips: int
) -> None:
    customer = counter.service.customer(unique_references=unique)
    saved = customer.post("/customer/address", ADDRESS).json()["id"]

    def posting(path: str, **headers: str) -> Work:
        items = [("PHONE", 1), ("CABLE", 2), ("SWITCH", 3)]
        body = order(items, customer_reference=next(_names), billing_address={"id": saved})
        return lambda: customer.post(path, body, headers=headers).raise_for_status()

    def round_trips(work: Work) -> int:
        return counter.count(customer, work).round_trips

    repeated = posting("/order", **{"Idempotency-Key": "k-1"})
    assert [round_trips(work) for work in (posting("/order"), repeated, repeated)] == [trips, trips, 2]
    assert round_trips(posting("/quote")) == round_trips(posting("/quote", **{"Idempotency-Key": "k-2"}))
    for mail in (None, {"email_address": "a@b.example"}):
        pending = create(customer, customer_reference=next(_names), order_notifications=mail)
        assert round_trips(lambda: confirm(customer, pending).raise_for_status()) == 3  # noqa: B023


def test_a_bank_file_and_its_roll_back_need_as_many_round_trips_for_many_payments_as_for_one(counter: Counter) -> None:
    customer, now = counter.service.customer(), counter.service.clock.now()

    def trips(size: int) -> tuple[int, int]:
        numbers = [number_of(counter.service, invoiced(counter.service, customer)) for _ in range(size)]
        lines = "".join(f"{uk_date(now)},1.00,INV {number}\n" for number in numbers)
        file = read_bank_file(f"date,amount,reference\n{lines}".encode(), "CSV", uk_date(now))
        done: list[int] = []

        def recording() -> None:
            imported = counter.service.in_transaction(lambda tx: import_payments(tx, file, now))
            assert imported.recorded == size
            done.append(imported.id or 0)

        def rolling_back() -> None:
            undone = counter.service.in_transaction(lambda tx: roll_back_bank_file(tx, done[0], now))
            assert len(undone.reversed) == size

        return counter.count(customer, recording).round_trips, counter.count(customer, rolling_back).round_trips

    assert trips(1) == trips(6)
