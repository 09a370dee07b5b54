"""Cells as people and spreadsheets write them."""

import re
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType, convert

from tradecounter.bulk.cells import MOMENT, TIME, UnreadableCellError, cell_reader
from tradecounter.kit.numbers import Kilograms, Percent, Pounds

Money = Pounds | UnsetType | None


class Value(Struct):
    value: str


class Pair(Struct):
    left: str
    right: str


def read(annotation: Any, text: str) -> Any:
    """What a cell becomes, once the validator has taken it."""
    return convert(cell_reader(annotation)(text), annotation)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1200", "1200"), ("1,200.00", "1200.00"), ("£5.00", "5.00"), ("£1,234,567.89", "1234567.89"), (" £5 ", "5")],
)
def test_amounts_may_have_pounds_and_thousands(text: str, value: str) -> None:
    assert read(Money, text) == Decimal(value)


@pytest.mark.parametrize("text", ["5,00", "1.200,00", "$5", "five", "5 00", "£", "1e3", "-5", "1.005", "2.5%"])
def test_what_is_not_plainly_an_amount_is_an_error(text: str) -> None:
    with pytest.raises(UnreadableCellError, match=re.escape(repr(text))):
        cell_reader(Money)(text)


@pytest.mark.parametrize("annotation", [Money, Percent, Kilograms | None, int])
def test_numbers_between_semicolons_and_tabs_have_no_commas(annotation: Any) -> None:
    assert cell_reader(annotation)("1,234") == 1234
    with pytest.raises(UnreadableCellError, match="may be a decimal comma"):
        cell_reader(annotation, commas=False)("1,234")


def test_weights_have_three_decimal_places() -> None:
    assert read(Kilograms | UnsetType, "0.125") == Decimal("0.125")
    with pytest.raises(UnreadableCellError, match="more than 3 decimal places"):
        cell_reader(Kilograms)("0.1255")


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_every_amount_survives_being_written_with_thousands_and_pounds(amount: Decimal) -> None:
    assert read(Pounds, f"£{amount:,}") == amount
    assert read(Pounds, f"{amount}") == amount


@given(st.integers(min_value=0, max_value=10**12))
def test_whole_numbers_may_have_thousands_and_no_decimals(number: int) -> None:
    assert read(int, f"{number:,}") == read(int, f"{number}") == number
    with pytest.raises(UnreadableCellError):
        cell_reader(int)(f"{number}.00")


@pytest.mark.parametrize(("text", "value"), [("yes", True), ("Yes", True), ("Y", True), ("NO", False), ("n", False)])
def test_yes_and_no_are_booleans_in_any_case(text: str, value: bool) -> None:
    assert read(bool | UnsetType, text) is value


@pytest.mark.parametrize(("text", "value"), [("true", True), ("FALSE", False), ("1", True), ("0", False)])
def test_booleans_may_be_written_as_programs_write_them(text: str, value: bool) -> None:
    assert read(bool, text) is value


@given(st.dates(min_value=date(1000, 1, 1)))
def test_every_date_is_read_day_first_or_as_iso(day: date) -> None:
    for text in (f"{day.day}/{day.month}/{day.year}", f"{day:%d/%m/%Y}", str(day), f"{day} 00:00:00"):
        assert read(date | None, text) == day


@pytest.mark.parametrize("text", ["12/31/2026", "1/2/26", "2026/01/02", "01-02-2026", "2026-01-02 09:00:00"])
def test_other_dates_are_left_to_the_validator(text: str) -> None:
    with pytest.raises(ValueError, match="date"):
        read(date, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("01/12/2026", "2026-12-01"),
        ("1/2/2026 9:30", "2026-02-01T09:30:00"),
        ("2026-12-01 09:30:15", "2026-12-01T09:30:15"),
        ("2026-12-01", "2026-12-01"),
        ("2026-12-01T09:30:15", "2026-12-01T09:30:15"),
        ("soon", "soon"),
    ],
)
def test_moments_are_dates_with_or_without_a_time(text: str, value: str) -> None:
    assert cell_reader(Annotated[str, MOMENT])(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("9:30", "09:30"), ("17:00:00", "17:00"), ("17:00:30", "17:00:30"), ("noon", "noon")]
)
def test_times_may_lack_a_nought_and_have_empty_seconds(text: str, value: str) -> None:
    pattern = Annotated[str, Meta(min_length=1), TIME] | UnsetType
    assert cell_reader(pattern)(text) == value


@pytest.mark.parametrize(("text", "value"), [("2.5%", "2.5"), ("2.5", "2.5"), ("0", "0")])
def test_per_cents_may_have_their_sign(text: str, value: str) -> None:
    assert read(Percent | UnsetType, text) == Decimal(value)


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (list[str], "a|b", ["a", "b"]),
        (list[str] | UnsetType, " a | b |", ["a", "b"]),
        (list[str], "a", ["a"]),
        (list[str], '["a|b", "c"]', ["a|b", "c"]),
        (list[str], "[]", []),
        (list[Value], "24|48", [Value("24"), Value("48")]),
        (list[Value], '[{"value": "24"}]', [Value("24")]),
        (list[Pair], '[{"left": "a", "right": "b"}]', [Pair("a", "b")]),
        (dict[str, str], '{"a": "b"}', {"a": "b"}),
    ],
)
def test_lists_are_separated_by_bars_or_are_json_like_all_that_is_nested(
    annotation: Any, text: str, value: Any
) -> None:
    assert read(annotation, text) == value


@pytest.mark.parametrize("annotation", [list[Pair], dict[str, str], list[str]])
def test_broken_json_is_said_to_be_that(annotation: Any) -> None:
    with pytest.raises(UnreadableCellError, match="not valid JSON"):
        cell_reader(annotation)("[{]")


def test_json_that_is_nested_beyond_reason_is_said_to_be_broken() -> None:
    with pytest.raises(UnreadableCellError, match="nested too deeply"):
        cell_reader(list[Pair])("[" * 100_000)


def test_choices_are_read_without_case() -> None:
    assert read(Literal["own", "plain"] | UnsetType, "Plain") == "plain"


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (str | None, None),
        (str, ""),
        (str | UnsetType | None, None),
        (str | UnsetType, ""),
        (Annotated[str, Meta(min_length=1)], ""),
        (Annotated[str, Meta(min_length=1)] | UnsetType, UNSET),
        (int, UNSET),
        (bool, UNSET),
    ],
)
def test_an_empty_cell_is_null_or_empty_text_or_absent(annotation: Any, value: Any) -> None:
    assert cell_reader(annotation)("  ") is value or cell_reader(annotation)("  ") == value


@pytest.mark.parametrize("annotation", [str, Pounds, list[str], int])
def test_the_error_of_a_formula_is_no_value(annotation: Any) -> None:
    with pytest.raises(UnreadableCellError, match="contains the spreadsheet error #N/A"):
        cell_reader(annotation)("#N/A")


def test_text_that_starts_with_a_hash_is_text() -> None:
    assert cell_reader(str)("#1 choice") == "#1 choice"
