"""When deliveries cover an order's shortfall (specification, stock)."""

from datetime import UTC, datetime

import pytest

from tradecounter.stock.rules import FROM_STOCK, Cover, Delivery, cover, latest

NOW = datetime(2026, 6, 16, 9, 0, tzinfo=UTC)
FIRST = datetime(2026, 6, 24, 8, 0, tzinfo=UTC)
SECOND = datetime(2026, 7, 1, 8, 0, tzinfo=UTC)
TEN_AND_TEN = (Delivery(10, FIRST), Delivery(10, SECOND))
UNKNOWN = Cover(known=False)


def by(moment: datetime) -> Cover:
    return Cover(known=True, last_delivery=moment)


@pytest.mark.parametrize(
    ("quantity", "available", "back_ordered", "expected"),
    [
        pytest.param(3, 5, 0, FROM_STOCK, id="less than is in stock"),
        pytest.param(5, 5, 0, FROM_STOCK, id="all that is in stock"),
        pytest.param(5, 5, 99, FROM_STOCK, id="stock that is for sale is not reserved"),
        pytest.param(6, 5, 0, by(FIRST), id="one more than is in stock"),
        pytest.param(15, 5, 0, by(FIRST), id="stock and the whole first delivery"),
        pytest.param(16, 5, 0, by(SECOND), id="one more needs the second delivery"),
        pytest.param(25, 5, 0, by(SECOND), id="stock and both deliveries"),
        pytest.param(26, 5, 0, UNKNOWN, id="one more than is known to come"),
        pytest.param(2, 0, 8, by(FIRST), id="earlier back-orders leave just enough of the first"),
        pytest.param(3, 0, 8, by(SECOND), id="earlier back-orders do not leave enough of the first"),
        pytest.param(10, 0, 10, by(SECOND), id="earlier back-orders take the whole first"),
        pytest.param(1, 0, 20, UNKNOWN, id="earlier back-orders take everything"),
    ],
)
def test_stock_and_then_deliveries_cover_an_order_after_earlier_back_orders(
    quantity: int, available: int, back_ordered: int, expected: Cover
) -> None:
    assert cover(quantity, available, back_ordered, TEN_AND_TEN, NOW) == expected


def test_without_a_known_delivery_a_shortfall_is_not_covered() -> None:
    assert cover(1, 0, 0, (), NOW) == UNKNOWN


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(FIRST, by(FIRST), id="due now"),
        pytest.param(FIRST.replace(hour=22, minute=59), by(FIRST), id="late on its day, which ends at 23:00 UTC"),
        pytest.param(FIRST.replace(hour=23), by(SECOND), id="its day is over"),
        pytest.param(SECOND.replace(day=2), UNKNOWN, id="all are overdue"),
    ],
)
def test_an_overdue_delivery_covers_nothing(now: datetime, expected: Cover) -> None:
    assert cover(1, 0, 0, TEN_AND_TEN, now) == expected


@pytest.mark.parametrize(
    ("covers", "expected"),
    [
        pytest.param([FROM_STOCK, FROM_STOCK], FROM_STOCK, id="all from stock"),
        pytest.param([FROM_STOCK, by(FIRST)], by(FIRST), id="one waits"),
        pytest.param([by(SECOND), by(FIRST), FROM_STOCK], by(SECOND), id="the later of two"),
        pytest.param([by(SECOND), UNKNOWN, FROM_STOCK], UNKNOWN, id="one is not covered"),
    ],
)
def test_an_order_is_available_when_its_last_product_is(covers: list[Cover], expected: Cover) -> None:
    assert latest(covers) == expected
