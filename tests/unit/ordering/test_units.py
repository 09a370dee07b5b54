"""Units of confirmed orders: which a cancellation takes, and what follows for lines, stock and status."""

import time
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.kit.errors import DomainError
from tradecounter.orders.cancel_order import CANCEL
from tradecounter.orders.lines import (
    OrderLine,
    named_lines,
    released_units,
    share_out,
    status_of,
    with_quantity,
    without_units,
)

TWENTY = Decimal(20)


def line(allocated: int, back_ordered: int, dispatched: int = 0, **values: Any) -> OrderLine:
    quantity = allocated + back_ordered + dispatched
    named = {"id": 1, "order_id": 1, "product_id": 7, "sku": "A", "name": "", **values}
    made = OrderLine(quantity=quantity, allocated=allocated, back_ordered=back_ordered, dispatched=dispatched, **named)
    return made.at_price(Decimal("1.99"), TWENTY)


units = st.integers(0, 6)


@pytest.mark.parametrize(("taken", "shares"), [(0, [0, 0]), (1, [1, 0]), (2, [2, 0]), (4, [2, 2]), (5, [2, 3])])
def test_allocated_units_go_to_the_earlier_lines_of_their_product_first(taken: int, shares: list[int]) -> None:
    lines = [line(0, 2), line(0, 4, id=2, product_id=8), line(0, 3, id=3)]
    assert share_out(lines, {7: taken, 8: 3}) == {1: shares[0], 2: 3, 3: shares[1]}
    assert share_out([], {}) == {}


@given(units, units, units, units)
def test_back_ordered_units_are_cancelled_first(allocated: int, back_ordered: int, dispatched: int, named: int) -> None:
    before = line(allocated, back_ordered, dispatched)
    cancelled = min(named, before.undispatched)
    after = without_units(before, cancelled, TWENTY)
    assert after.back_ordered == max(back_ordered - cancelled, 0)
    assert after.allocated == allocated - max(cancelled - back_ordered, 0)
    assert after.quantity == after.allocated + after.back_ordered + after.dispatched
    assert (after.dispatched, after.cancelled) == (dispatched, cancelled)
    assert after.cost_net == Decimal("1.99") * after.quantity
    taken, waiting = released_units([before], [after])
    assert taken[7] + waiting[7] == cancelled


def test_added_units_are_back_ordered_until_stock_serves_them() -> None:
    before = line(2, 0, 1)
    after = with_quantity(before, 5, Decimal("1.50"), TWENTY)
    assert (after.quantity, after.allocated, after.back_ordered, after.cancelled) == (5, 2, 2, 0)
    assert (after.cost_net, after.cost_tax) == (Decimal("7.50"), Decimal("1.50"))
    assert released_units([before], [after]) == ({7: 0}, {7: -2})


def test_components_follow_their_bundle() -> None:
    component = OrderLine(id=2, order_id=1, product_id=8, sku="B", name="", quantity=9, bundle_line_id=1)
    first = without_units(line(3, 0, components=(component,)), 2, TWENTY)
    second = without_units(first, 1, TWENTY)
    for after, figures in ((first, (3, 6)), (second, (0, 9))):
        [part] = after.components
        assert (part.quantity, part.cancelled) == figures


def test_the_status_follows_from_the_units() -> None:
    for lines, status in (
        ([line(0, 0, 2), line(0, 0)], "Dispatched"),
        ([line(0, 0, 2), line(1, 0)], "Part dispatched"),
        ([line(1, 1), line(1, 0)], "Back-ordered"),
        ([line(1, 0), line(0, 0)], "Awaiting dispatch"),
    ):
        assert status_of(lines, {}, Decimal(1)) == status


@pytest.mark.parametrize(
    ("lines", "invoiced", "due", "status"),
    [
        ([line(0, 0, 2)], {1: 1, None: 1}, 1, "Part invoiced"),
        ([line(0, 0, 2)], {1: 1, None: 1}, 0, "Part invoiced"),
        ([line(0, 0, 2), line(1, 0, id=2)], {1: 2, None: 1}, 1, "Part invoiced"),
        ([line(0, 0, 2), line(0, 3, id=2)], {1: 2, None: 1}, 1, "Part invoiced"),
        ([line(1, 1, 2)], {1: 2, None: 1}, 0, "Part invoiced"),
        ([line(0, 0, 2), line(0, 0, id=2)], {1: 2, None: 1}, 1, "Invoiced"),
        ([line(0, 0, 2), line(0, 0, id=2)], {1: 2, None: 1}, 0, "Completed"),
        ([line(0, 0, 2, unbilled=1)], {1: 1, None: 1}, 1, "Invoiced"),
        ([line(0, 0, 2, unbilled=2)], {None: 1}, 1, "Invoiced"),
        ([line(0, 0, 2, unbilled=2)], {None: 1}, 0, "Completed"),
    ],
)
def test_the_status_of_an_order_with_an_invoice_says_so(
    lines: list[OrderLine], invoiced: dict[int | None, int], due: int, status: str
) -> None:
    assert status_of(lines, invoiced, Decimal(due)) == status


@given(st.lists(st.tuples(units, units, units, units), min_size=1, max_size=3), st.booleans(), st.integers(0, 1))
def test_the_status_shows_whether_there_is_an_invoice(
    figures: list[tuple[int, int, int, int]], has_invoice: bool, due: int
) -> None:
    lines = [line(a, b, c, id=number) for number, (a, b, c, _) in enumerate(figures)]
    billed: dict[int | None, int] = {number: min(c, d) for number, (_, _, c, d) in enumerate(figures)}
    status = status_of(lines, {None: 1, **billed} if has_invoice else {}, Decimal(due))
    assert (status in {"Part invoiced", "Invoiced", "Completed"}) == has_invoice


@pytest.mark.sweep
@pytest.mark.parametrize("named", [[1] * 45_000, range(501, 45_501)], ids=["one", "unknown"])
def test_lines_that_are_named_wrongly_very_often_are_rejected_at_once(named: Iterable[int]) -> None:
    lines = [line(0, 2, id=number) for number in range(1, 501)]

    def seconds() -> float:
        began = time.process_time()
        with pytest.raises(DomainError, match="items"):
            named_lines(lines, list(named), CANCEL)
        return time.process_time() - began

    assert min(seconds() for _ in range(3)) < 0.9
