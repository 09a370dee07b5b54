"""What people read of the audit log's changes."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tradecounter.audit.queries import AuditRecord
from tradecounter.edge.page_kit.values import short_code
from tradecounter.parts.sentences import ShownChange, changes_of


def record(before: dict[str, Any], after: dict[str, Any]) -> AuditRecord:
    texts = (json.dumps(before), json.dumps(after))
    return AuditRecord(
        1, datetime(2026, 6, 16, tzinfo=UTC), "staff", "2", "Sam", None, None, "order.edit", "order/1", *texts
    )


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


def test_only_confirmation_codes_are_shortened() -> None:
    assert short_code("2e4d7ee7c3abce79a8f353b1c2a88abb") == "2e4d7ee7…"
    assert short_code("PLN-100001") == "PLN-100001"
