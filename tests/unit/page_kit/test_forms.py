"""Forms as structs, and errors at the fields as the form names them."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from tradecounter.edge.page_kit.filled_forms import Filled
from tradecounter.edge.page_kit.forms import parse_form, renumbered
from tradecounter.edge.page_kit.submitted_forms import Submitted
from tradecounter.kit.errors import DomainError, invalid
from tradecounter.kit.numbers import Pounds


class Line(Struct):
    sku: str
    quantity: Annotated[int, Meta(ge=1)] | None = None


class Inner(Struct):
    town: str = ""


class Example(Struct):
    name: Annotated[str, Meta(max_length=5)]
    amount: Pounds | None = None
    due: date | None = None
    at: datetime | None = None
    kind: Literal["a", "b"] = "a"
    agreed: bool = False
    tags: list[str] = []
    items: list[Line] = []
    address: Inner | None = None


def parsed(**fields: str | list[str]) -> Example:
    values = {name.replace("__", "-"): [value] if isinstance(value, str) else value for name, value in fields.items()}
    return parse_form(Submitted(values), Example)


def errors_of(**fields: str | list[str]) -> dict[str, str]:
    with pytest.raises(DomainError) as raised:
        parsed(**fields)
    names = {name.replace("__", "-"): ["x"] for name in fields}
    return dict(Filled.of(Submitted(names), raised.value, 400).errors)


def test_values_have_the_types_of_the_fields() -> None:
    found = parsed(name=" Ann ", amount="£1,234.50", due="2026-06-01", agreed="on", kind="b", tags=["x", "", "y"])
    assert (found.name, found.amount, found.due, found.agreed) == ("Ann", Decimal("1234.50"), date(2026, 6, 1), True)
    assert (found.kind, found.tags) == ("b", ["x", "y"])


def test_a_time_is_uk_local_time() -> None:
    assert parsed(name="A", at="2026-06-01T10:30").at == datetime(2026, 6, 1, 9, 30, tzinfo=UTC)


def test_empty_fields_are_absent_and_empty_rows_are_left_out() -> None:
    found = parsed(
        name="A", amount="", items__0__sku="", items__0__quantity="", items__7__sku="PHONE", address__town=""
    )
    assert (found.amount, found.items, found.address) == (None, [Line("PHONE")], None)


def test_rows_are_in_the_order_of_their_numbers() -> None:
    found = parsed(name="A", items__10__sku="B", items__2__sku="A")
    assert [line.sku for line in found.items] == ["A", "B"]


def test_errors_name_the_fields_as_the_form_does() -> None:
    found = errors_of(name="", amount="much", items__0__sku="", items__3__sku="X", items__3__quantity="0", kind="c")
    assert found == {
        "name": "is required",
        "amount": "'much' is not an amount in pounds and pence such as 1234.50",
        "kind": "'c' is not one of a, b",
        "items-3-quantity": "must be at least 1",
    }


def test_an_error_of_a_use_case_gets_the_number_that_its_row_has_in_the_form() -> None:
    submitted = Submitted({"name": ["Ann"], "items-0-sku": [""], "items-3-sku": ["A"], "items-4-sku": ["B"]})
    assert [line.sku for line in parse_form(submitted, Example).items] == ["A", "B"]
    error = renumbered(invalid("items[1].sku", "does not exist"), submitted, Example)
    assert dict(Filled.of(submitted, error, 400).errors) == {"items-4-sku": "does not exist"}


def test_an_error_of_a_field_that_the_form_lacks_is_in_its_message() -> None:
    with pytest.raises(DomainError) as raised:
        parse_form(Submitted({}), Example)
    filled = Filled.of(Submitted({"other": ["x"]}), raised.value, 400)
    assert (filled.message, filled.errors) == ("name: is required", {})


def test_a_form_that_was_not_sent_shows_its_defaults() -> None:
    assert Filled().value("name", 5) == "5"
    assert Filled({"name": [""]}).value("name", 5) == ""
    assert Filled().has("box", "true", default=True)
    assert not Filled({"name": ["x"]}).has("box", "true", default=True)


def test_errors_are_listed_in_the_order_of_the_fields_on_the_page() -> None:
    filled = Filled(errors={"hidden": "is odd", "reason": "is required", "name": "is required"})
    filled.named("name", "Name")
    filled.named("reason", "Reason")
    assert [name for name, _ in filled.errors_in_order()] == ["name", "reason", "hidden"]
