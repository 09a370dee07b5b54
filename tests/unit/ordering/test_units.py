"""Units of confirmed orders: which a cancellation takes, and what follows for lines, stock and status."""

from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tradecounter.ordering.lines import OrderLine
from tradecounter.ordering.units import released_units, status_of, with_quantity, without_units

TWENTY = Decimal(20)


def line(allocated: int, back_ordered: int, dispatched: int = 0, **values: Any) -> OrderLine:
    quantity = allocated + back_ordered + dispatched
    made = OrderLine(id=1, order_id=1, product_id=7, sku="A", name="", quantity=quantity, allocated=allocated,
                     back_ordered=back_ordered, dispatched=dispatched, **values)  # fmt: skip
    return made.at_price(Decimal("1.99"), TWENTY)


units = st.integers(0, 6)


@given(units, units, units, units)
def test_back_ordered_units_are_cancelled_first(allocated: int, back_ordered: int, dispatched: int, named: int) -> None:
    before = line(allocated, back_ordered, dispatched)
    cancelled = min(named, before.to_come)
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
    sent = [line(0, 0, 2), line(0, 0)]
    for invoiced, due, status in (({1: 1}, 1, "Dispatched"), ({1: 2}, 1, "Invoiced"), ({1: 2}, 0, "Completed")):
        assert status_of(sent, invoiced, Decimal(due)) == status
