"""Stock by catalogue row, and its label."""

from datetime import UTC, datetime

import pytest

from support.arrays import delivery_rows, stock_rows
from tradecounter.kit.columns.lookups import RowOfId
from tradecounter.stock.rules import Delivery, status
from tradecounter.stock.stock_vector import empty_stock

ROW_OF_ID = RowOfId.of([30, 10, 20])
JULY, AUGUST = datetime(2026, 7, 1, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC)


def test_an_empty_vector_has_no_stock_and_no_deliveries() -> None:
    empty = empty_stock(3)
    assert (empty.available.tolist(), empty.back_ordered.tolist(), empty.deliveries) == ([0] * 3, [0] * 3, {})
    assert list(empty.in_stock) == []


def test_changed_levels_update_only_their_rows() -> None:
    first = empty_stock(3).with_levels(stock_rows((10, 5, 0), (30, 7, 0)), ROW_OF_ID)
    second = first.with_levels(stock_rows((10, 0, 4), (99, 1, 1)), ROW_OF_ID)
    assert (second.available.tolist(), second.back_ordered.tolist()) == ([7, 0, 0], [0, 4, 0])
    assert (first.available.tolist(), first.back_ordered.tolist()) == ([7, 5, 0], [0, 0, 0])
    assert (list(first.in_stock), list(second.in_stock)) == ([0, 1], [0])


def test_equal_levels_leave_the_vector_as_it_is() -> None:
    first = empty_stock(3).with_levels(stock_rows((10, 5, 0), (30, 7, 2)), ROW_OF_ID)
    assert first.with_levels(stock_rows((30, 7, 2), (99, 1, 1)), ROW_OF_ID) is first
    assert first.with_levels(stock_rows((30, 7, 3)), ROW_OF_ID) is not first


def test_the_later_of_two_levels_of_one_product_applies() -> None:
    changed = empty_stock(3).with_levels(stock_rows((20, 5, 0), (20, 2, 1)), ROW_OF_ID)
    assert (changed.available.tolist(), changed.back_ordered.tolist()) == ([0, 0, 2], [0, 0, 1])


def test_new_deliveries_replace_all_deliveries_in_order() -> None:
    first = empty_stock(3).with_deliveries(delivery_rows((30, 9, JULY)), ROW_OF_ID)
    records = delivery_rows((10, 1, JULY), (99, 5, JULY), (10, 2, AUGUST))
    second = first.with_levels(stock_rows((10, 5, 0)), ROW_OF_ID).with_deliveries(records, ROW_OF_ID)
    assert second.deliveries == {1: (Delivery(1, JULY), Delivery(2, AUGUST))}
    assert second.available.tolist() == [0, 5, 0]
    assert first.deliveries == {0: (Delivery(9, JULY),)}


@pytest.mark.parametrize(
    ("available", "low_stock", "delivery_shown", "label"),
    [
        (5, 5, False, "In stock"),
        (5, 5, True, "In stock"),
        (4, 5, False, "Low stock"),
        (4, 5, True, "Low stock"),
        (1, 5, False, "Low stock"),
        (0, 5, True, "On order"),
        (0, 5, False, "Out of stock"),
        (1, 1, False, "In stock"),
        (1, 0, False, "In stock"),
        (0, 0, False, "Out of stock"),
        (0, 0, True, "On order"),
    ],
)
def test_the_label_depends_on_units_and_deliveries(
    available: int, low_stock: int, label: str, *, delivery_shown: bool
) -> None:
    assert status(available, low_stock, delivery_shown=delivery_shown) == label
