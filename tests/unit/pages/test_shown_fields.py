"""What the pages of imports show of a changed record: only what differs."""

from decimal import Decimal
from typing import Any

import pytest

from tradecounter.bulk.differences import Change
from tradecounter.imports.pages.staff.one_import import shown_fields, sku_of

ORDER = ["sku", "name", "description", "images", "attributes"]


def shown(before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[tuple[str, str | None, str | None]]:
    change = Change(1, "A", "changed", before, after)
    return [(each.field, each.before, each.after) for each in shown_fields(change, ORDER)]


def test_fields_have_the_order_of_their_kind_and_their_old_and_new_values() -> None:
    before = {"weight_kg": Decimal("1.5"), "name": "Phone", "single_unit_cost": Decimal("9.5")}
    after = {"weight_kg": Decimal("2.0"), "name": "Desk phone", "single_unit_cost": Decimal("10.0")}
    assert shown(before, after) == [
        ("name", "Phone", "Desk phone"),
        ("weight_kg", "1.5", "2.0"),
        ("single_unit_cost", "£9.50", "£10.00"),
    ]


def test_of_a_new_record_empty_fields_are_left_out() -> None:
    new: dict[str, Any] = {
        "sku": "A",
        "name": "x" * 100,
        "description": "",
        "images": [],
        "attributes": {},
        "ean": None,
        "active": False,
    }
    assert shown(None, new) == [("sku", None, "A"), ("name", None, "x" * 80 + "…"), ("active", None, "no")]
    assert shown({"sku": "A", "ean": None}, None) == [("sku", "A", None)]


def test_of_attributes_those_that_differ_are_shown() -> None:
    before, after = {"attributes": {"ports": 8, "colour": "Black"}}, {"attributes": {"ports": 16, "poe": True}}
    assert shown(before | {"name": "A"}, after | {"name": "B"})[1:] == [
        ("Attributes ports", "8", "16"),
        ("Attributes colour", "Black", None),
        ("Attributes poe", None, "yes"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["a", "b"], ["b", "c"], ("a", "c")),
        (["a"], ["a", "b"], (None, "b")),
        (["a", "b"], ["b"], ("a", None)),
        (["a", "b"], ["b", "a"], (None, "in another order")),
    ],
)
def test_of_lists_what_came_and_went_is_shown(old: list[str], new: list[str], expected: tuple[str, str]) -> None:
    assert shown({"related_products": old}, {"related_products": new}) == [("related_products", *expected)]


def test_of_long_texts_the_part_that_differs_is_shown() -> None:
    start, end = "A sturdy desk phone that " * 5, " and rings quietly all day long." * 3
    [(field, old, new)] = shown(
        {"description": f"{start}has 2 lines{end}"}, {"description": f"{start}has 12 lines{end}"}
    )
    assert (field, old, new) == (
        "description",
        "…desk phone that has 2 lines and rings qu…",
        "…desk phone that has 12 lines and rings qu…",
    )
    [(_, old, new)] = shown({"description": ""}, {"description": "y" * 300})
    assert (old, new) == (None, "y" * 120 + "…")


@pytest.mark.parametrize(
    ("kind", "key", "sku"),
    [
        ("stock", "CV 1", "CV 1"),
        ("price-list", "my gold CV 1", "CV 1"),
        ("price-list", "new CV", None),
        ("categories", "A", None),
    ],
)
def test_the_product_of_a_record_is_known_by_its_key(kind: str, key: str, sku: str | None) -> None:
    assert sku_of(kind, Change(1, key, "changed", {}, {}), ["default", "my gold"]) == sku
