"""The validator's findings as sentences that name the field."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal

import msgspec
import pytest
from msgspec import Meta, Struct

from tradecounter.kit.validation_messages import field_error_of


class Line(Struct, forbid_unknown_fields=True):
    """A line of the body."""

    sku: Annotated[str, Meta(min_length=1, max_length=5)]
    quantity: Annotated[int, Meta(ge=1, le=9)] = 1


class Body(Struct):
    """Something of every type."""

    lines: Annotated[list[Line], Meta(min_length=1, max_length=2)] = msgspec.field(default_factory=list)
    kind: Literal["a", "b"] = "a"
    code: Annotated[str, Meta(pattern="^x+$")] | None = None
    flag: bool = False
    day: date | None = None
    cost: Decimal | None = None
    notes: dict[str, str] | None = None


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("[]", "the body must be an object, not a list"),
        ("null", "the body must be an object, not null"),
        ('{"lines": 1}', "lines: must be a list, not a whole number"),
        ('{"lines": []}', "lines: must have at least 1 element"),
        ('{"lines": [{"sku": "a"}, {"sku": "b"}, {"sku": "c"}]}', "lines: must have at most 2 elements"),
        ('{"lines": [{"sku": "a"}, {}]}', "lines[1].sku: is required"),
        ('{"lines": [{"sku": ""}]}', "lines[0].sku: must not be empty"),
        ('{"lines": [{"sku": "abcdef"}]}', "lines[0].sku: must have at most 5 characters"),
        ('{"lines": [{"sku": null}]}', "lines[0].sku: must be text, not null"),
        ('{"lines": [{"sku": "a", "quantity": 0}]}', "lines[0].quantity: must be at least 1"),
        ('{"lines": [{"sku": "a", "quantity": 10}]}', "lines[0].quantity: must be at most 9"),
        ('{"lines": [{"sku": "a", "quantity": 1.5}]}', "lines[0].quantity: must be a whole number"),
        ('{"lines": [{"sku": "a", "quantity": true}]}', "lines[0].quantity: must be a whole number, not true or false"),
        ('{"lines": [{"sku": "a", "colour": 1}]}', "lines[0].colour: is not a known field"),
        ('{"kind": "c"}', "kind: 'c' is not one of the allowed values"),
        (f'{{"kind": "{1_000 * "c"}"}}', f"kind: '{59 * 'c'}… is not one of the allowed values"),
        ('{"code": "y"}', "code: must match '^x+$'"),
        ('{"code": 1}', "code: must be text or null, not a whole number"),
        ('{"flag": "true"}', "flag: must be true or false, not text"),
    ],
)
def test_a_bad_body_is_described_by_field_and_cure(body: str, sentence: str) -> None:
    with pytest.raises(msgspec.ValidationError) as found:
        msgspec.json.decode(body, type=Body)
    assert str(field_error_of(found.value)) == sentence


@pytest.mark.parametrize(
    ("body", "field"),
    [('{"day": "soon"}', "day"), ('{"cost": "much"}', "cost"), ('{"notes": {"a": 1}}', "notes")],
)
def test_any_other_finding_is_led_by_its_field(body: str, field: str) -> None:
    with pytest.raises(msgspec.ValidationError) as found:
        msgspec.json.decode(body, type=Body)
    assert str(field_error_of(found.value)).startswith(field)
    assert "$" not in str(field_error_of(found.value))
