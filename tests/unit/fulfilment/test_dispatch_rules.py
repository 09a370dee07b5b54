"""The units that a shipment may contain (specification, stock, status labels)."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.kit.errors import DomainError
from tradecounter.orders.lines import NamedUnits, OrderLine
from tradecounter.shipments.rules import check_serials, normalised_mac, plan_dispatch
from tradecounter.shipments.wire import Serial

NOTHING = Decimal(0)


def line(line_id: int, quantity: int, allocated: int, dispatched: int = 0, **values: Any) -> OrderLine:
    return OrderLine(
        id=line_id, order_id=1, product_id=line_id, sku=f"SKU-{line_id}", name="", quantity=quantity, unit_cost=NOTHING,
        cost_net=NOTHING, cost_tax=NOTHING, allocated=allocated, back_ordered=quantity - allocated - dispatched,
        dispatched=dispatched, **values,
    )  # fmt: skip


KIT = line(9, 2, 2, components=(line(91, 6, 0, bundle_line_id=9),))


@pytest.mark.parametrize(
    "text", ["AA:bb:CC:dd:EE:0f", "aa-bb-cc-dd-ee-0f", "aabb.ccdd.ee0f", "AABBCCDDEE0F", "aabbcc-ddee0f"]
)
def test_a_mac_address_in_any_notation_is_normalised(text: str) -> None:
    assert normalised_mac("mac", text) == "AA:BB:CC:DD:EE:0F"


@pytest.mark.parametrize(
    "text", ["", "AA", "AA:BB:CC:DD:EE:FG", "AA:BB:CC:DD:EE:FF:00", "AABBCCDDEE0", "\uff21ABBCCDDEE0F"]
)
def test_an_invalid_mac_address_is_rejected(text: str) -> None:
    with pytest.raises(DomainError, match="MAC address"):
        normalised_mac("mac", text)


def test_without_items_all_remaining_units_are_dispatched() -> None:
    assert plan_dispatch([line(1, 5, 3, 2), line(2, 4, 0, 4), line(3, 1, 1)], None) == {1: 3, 3: 1}


def test_only_named_items_are_dispatched() -> None:
    assert plan_dispatch([line(1, 5, 3, 2), line(3, 1, 1)], [NamedUnits(1, 2)]) == {1: 2}


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ([(1, 0)], "has 3 units left: its quantity must be from 1 to 3"),
        ([(1, -1)], "has 3 units left: its quantity must be from 1 to 3"),
        ([(1, 4)], "has 3 units left: its quantity must be from 1 to 3"),
        ([(1, 10**17)], "has 3 units left: its quantity must be from 1 to 3"),
        ([(2, 1)], "has nothing left"),
        ([(7, 1)], r"items\[0\].id: is not in this order; its items are 1, 2, 9"),
        ([(1, 1), (1, 1)], r"items\[1\].id: is named twice"),
        ([(91, 1)], r"items\[0\].id: is a component of .+: dispatch item 9"),
    ],
)
def test_items_that_cannot_be_dispatched_are_rejected(wanted: list[tuple[int, int]], problem: str) -> None:
    with pytest.raises(DomainError, match=problem):
        plan_dispatch([line(1, 5, 3, 2), line(2, 4, 0, 4), KIT], [NamedUnits(*units) for units in wanted])


@pytest.mark.parametrize("wanted", [None, [NamedUnits(1, 3)]])
def test_back_ordered_units_cannot_be_dispatched_and_the_error_names_those_that_can(
    wanted: list[NamedUnits] | None,
) -> None:
    with pytest.raises(DomainError) as raised:
        plan_dispatch([line(1, 5, 2, 1), line(2, 4, 4)], wanted)
    assert raised.value.message == (
        "SKU-1: 2 of 4 units left are back-ordered; what can be dispatched now: 2 of SKU-1, 4 of SKU-2"
    )
    with pytest.raises(DomainError, match="nothing can be dispatched now"):
        plan_dispatch([line(1, 5, 0)], None)


def test_an_order_with_nothing_to_dispatch_is_rejected() -> None:
    with pytest.raises(DomainError, match="nothing is left"):
        plan_dispatch([line(1, 5, 0, 5)], None)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=4), st.data())
def test_a_dispatch_never_takes_unallocated_units(counts: list[tuple[int, int, int]], data: st.DataObject) -> None:
    lines = [line(n, max(1, sum(c)), c[0] if sum(c) else 1, c[2]) for n, c in enumerate(counts)]
    pairs = st.builds(NamedUnits, st.integers(0, 5), st.integers(-1, 7))
    wanted = data.draw(st.none() | st.lists(pairs, min_size=1, max_size=3))
    try:
        units = plan_dispatch(lines, wanted)
    except DomainError:
        return
    assert units
    assert all(1 <= quantity <= lines[line_id].allocated for line_id, quantity in units.items())


def test_serial_numbers_are_at_most_the_dispatched_units() -> None:
    lines = [line(1, 5, 5), KIT]
    check_serials(lines, {1: 2, 9: 1}, [Serial(1, "A"), Serial(1, "B"), *[Serial(91, str(n)) for n in range(3)]], {})
    for serials, problem in (
        ([Serial(1, "A"), Serial(1, "B"), Serial(1, "C")], "there are 3 serial numbers for 2 units"),
        ([Serial(91, str(n)) for n in range(4)], "there are 4 serial numbers for 3 units"),
        ([Serial(2, "A")], "item 2 is not in this shipment"),
        ([Serial(1, "A"), Serial(1, "A")], "'A' is there twice for SKU-1"),
    ):
        with pytest.raises(DomainError, match=problem):
            check_serials(lines, {1: 2, 9: 1}, serials, {})
    with pytest.raises(DomainError, match=f"{KIT.components[0].sku} is not in this shipment"):
        check_serials(lines, {1: 2}, [Serial(91, "A")], {})


def test_what_is_printed_on_every_box_of_a_product_is_no_serial_number() -> None:
    lines = [line(1, 5, 5), KIT]
    part = KIT.components[0]
    for item, code, kind, eans in (
        (1, lines[0].sku.lower(), "SKU", {}),
        (1, "5000000000111", "EAN", {lines[0].product_id: "5000000000111"}),
        (part.id, "5000000000128", "EAN", {part.product_id: "5000000000128"}),
    ):
        with pytest.raises(DomainError, match=f"is the {kind} of the product, not the serial number of a unit"):
            check_serials(lines, {1: 2, 9: 1}, [Serial(item, code)], eans)
