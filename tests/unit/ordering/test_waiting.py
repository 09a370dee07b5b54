"""Why the lines of an order have not left."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from support.service import MORNING
from tradecounter.credit.rules import CreditRoom
from tradecounter.orders.waiting import OpenLine, Queue, wait_of_order, wait_of_pending, waits_of_lines
from tradecounter.stock.rules import Delivery

NONE_LATER = "no later delivery is known yet."
LATER = MORNING + timedelta(days=30)


def late(quantity: int = 4, back_ordered: int = 4) -> OpenLine:
    return OpenLine(1, "PHONE", quantity, quantity - back_ordered, back_ordered)


READY = OpenLine(2, "CABLE", 3, 3, 0)


def coming(units: int, days: int) -> Delivery:
    return Delivery(units, MORNING + timedelta(days=days))


def day(days: int) -> str:
    when = MORNING + timedelta(days=days)
    return f"{when.day} {when:%b %Y}"


@pytest.mark.parametrize(
    ("queue", "sentence", "short"),
    [
        (Queue(), "All 4 wait for stock. No delivery is expected yet.", "Waits for stock, no date yet"),
        (
            Queue(0, [coming(50, 5)]),
            f"All 4 wait for stock: 50 are expected on {day(5)}.",
            f"Waits for stock, {day(5)}",
        ),
        (
            Queue(48, [coming(50, 5), coming(10, 9)]),
            f"All 4 wait for stock: 10 are expected on {day(9)}, after 48 for earlier orders.",
            f"Waits for stock, {day(9)}",
        ),
        (
            Queue(60, [coming(50, 5)]),
            f"All 4 wait for stock. The 50 expected on {day(5)} go to earlier orders, and {NONE_LATER}",
            "Waits for stock, no date yet",
        ),
        (
            Queue(0, [coming(50, -3)]),
            f"All 4 wait for stock. The delivery of 50 due on {day(-3)} is late.",
            "Waits for stock, no date yet",
        ),
        (
            Queue(0, [coming(3, 5)]),
            f"All 4 wait for stock. The 3 expected on {day(5)} are too few, and {NONE_LATER}",
            "Waits for stock, no date yet",
        ),
        (Queue(0, None), "All 4 wait for stock.", "Waits for stock"),
    ],
)
def test_a_line_without_stock_says_what_comes_when_and_for_whom(queue: Queue, sentence: str, short: str) -> None:
    wait = waits_of_lines([late()], {1: queue}, LATER, MORNING)[1]
    assert (wait.sentence, wait.short) == (sentence, short)


def test_units_that_are_reserved_are_told_apart_from_those_that_wait() -> None:
    wait = waits_of_lines([late(5, 2)], {1: Queue()}, None, MORNING)[1]
    assert wait.sentence == "2 of 5 wait for stock. No delivery is expected yet. 3 are reserved and ready."


@pytest.mark.parametrize(("units", "said"), [(1, "It waits"), (2, "Both wait"), (3, "All 3 wait")])
def test_a_line_of_one_or_two_units_is_told_without_a_number(units: int, said: str) -> None:
    wait = waits_of_lines([late(units, units)], {1: Queue()}, None, MORNING)[1]
    assert wait.sentence == f"{said} for stock. No delivery is expected yet."


def test_a_line_in_stock_waits_for_the_others_of_its_order() -> None:
    waits = waits_of_lines([READY, late()], {}, LATER, MORNING)
    assert waits[2].sentence == f"Reserved. It waits to leave with PHONE, planned for {day(30)}."
    order = wait_of_order(waits)
    assert order is not None
    assert order.reason == "stock"


@pytest.mark.parametrize(
    ("second", "short"), [([coming(9, 20)], f"Waits for stock, {day(20)}"), ([], "Waits for stock, no date yet")]
)
def test_an_order_waits_for_the_last_of_its_lines(second: list[Delivery], short: str) -> None:
    lines = [late(), OpenLine(3, "SWITCH", 1, 0, 1), OpenLine(4, "PLUG", 1, 0, 1)]
    queues = {1: Queue(0, [coming(9, 3)]), 3: Queue(0, second), 4: Queue(0, [coming(9, 5)])}
    wait = wait_of_order(waits_of_lines(lines, queues, None, MORNING))
    assert wait is not None
    assert wait.short == short


@pytest.mark.parametrize(
    ("leaves", "sentence"),
    [
        (MORNING, "Reserved. It is packed and leaves today."),
        (LATER, f"Reserved. It is packed and leaves on {day(30)}."),
        (None, "Reserved, and next to be packed."),
    ],
)
def test_an_order_in_stock_waits_to_be_packed(leaves: datetime | None, sentence: str) -> None:
    assert waits_of_lines([READY], {}, leaves, MORNING)[2].sentence == sentence


def test_nothing_waits_once_all_has_left() -> None:
    waits = waits_of_lines([OpenLine(1, "PHONE", 4, 0, 0)], {}, None, MORNING)
    assert waits == {}
    assert wait_of_order(waits) is None


@pytest.mark.parametrize(
    ("asked_at", "room", "short"),
    [
        (MORNING, CreditRoom(None, Decimal(0)), "Waits for approval"),
        (None, CreditRoom(None, Decimal(0)), "Waits for credit terms"),
        (None, CreditRoom(Decimal(100), Decimal(60)), "Waits for £10.00 of credit"),
        (None, CreditRoom(Decimal(100), Decimal(50)), "Waits to be confirmed"),
    ],
)
def test_an_order_that_is_not_confirmed_waits_for_approval_credit_or_a_person(
    asked_at: datetime | None, room: CreditRoom, short: str
) -> None:
    assert wait_of_pending(Decimal(50), LATER, asked_at, room).short == short
