"""What people read of the audit log's changes."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tradecounter.audit.queries import AuditRecord
from tradecounter.edge.page_kit.values import short_code
from tradecounter.parts.sentences import ShownChange, changes_of, sentence_of


def record(before: dict[str, Any], after: dict[str, Any], action: str = "order.edit") -> AuditRecord:
    texts = (json.dumps(before), json.dumps(after))
    return AuditRecord(1, datetime(2026, 6, 16, tzinfo=UTC), "staff", "2", "Sam", None, None, action, "order/1", *texts)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, None),
        (False, "no"),
        (0, "0"),
        ("Paid", "Paid"),
        ([], "none"),
        (["a", "b"], "a, b"),
        ([{"sku": "A", "quantity": 2, "serial_numbers": []}, {"sku": "B", "quantity": 0}],
         "sku A, quantity 2; sku B, quantity 0"),
        ({"city": "Leeds", "street_two": None}, "city Leeds"),
    ],
)  # fmt: skip
def test_values_are_words(value: Any, text: str | None) -> None:
    assert changes_of(record({"x": value}, {})) == [ShownChange("x", text, None)]


def test_fields_are_those_before_and_after() -> None:
    found = changes_of(record({"a": "1"}, {"a": "2", "b": True}))
    assert found == [ShownChange("a", "1", "2"), ShownChange("b", None, "yes")]


def test_amounts_have_pounds_and_pence() -> None:
    found = changes_of(
        record({"total": 99.9, "units": 3}, {"total": 1089.5, "items": [{"unit_cost": 2, "quantity": 2}]})
    )
    assert found == [
        ShownChange("total", "£99.90", "£1,089.50"),
        ShownChange("units", "3", None),
        ShownChange("items", None, "unit cost £2.00, quantity 2"),
    ]


@pytest.mark.parametrize(
    ("action", "name", "shown"),
    [
        ("order.amend", "customer_reference", "Customer reference"),
        ("order.amend", "AB-1-X (5)", "AB-1-X (5)"),
        ("quote.price", "ab-1 (5)", "ab-1 (5)"),
        ("quote.price", "shipping 11", "Shipping 11"),
        ("price.change", "trade_2", "trade_2"),
        ("stock.adjust", "usb_c", "usb_c"),
        ("stock.adjust", "USB-C-1 location", "USB-C-1 location"),
        ("stock.adjust", "location", "Location"),
    ],
)
def test_names_of_fields_are_words_and_names_that_are_data_are_as_they_are(action: str, name: str, shown: str) -> None:
    [change] = changes_of(record({name: "1"}, {name: "2"}, action))
    assert change.name == shown


def test_a_sentence_has_names_that_are_data_as_they_are() -> None:
    told = sentence_of(record({"AB-1-X (5)": 1, "shipping_method": 2}, {"AB-1-X (5)": 2, "shipping_method": 3}))
    assert told == "edited the order, AB-1-X (5) from 1 to 2, shipping method from 2 to 3"


def test_names_of_attributes_are_as_they_are() -> None:
    [change] = changes_of(record({}, {"attributes": {"USB-C ports": "2", "screen_size": "15"}}, "product.change"))
    assert change.after == "USB-C ports 2, screen_size 15"


def test_only_confirmation_codes_are_shortened() -> None:
    assert short_code("2e4d7ee7c3abce79a8f353b1c2a88abb") == "2e4d7ee7…"
    assert short_code("PLN-100001") == "PLN-100001"
