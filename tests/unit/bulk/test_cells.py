"""Cells as people and spreadsheets write them."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType, convert

from tradecounter.bulk.cells import MOMENT, PERCENT, TIME, UnreadableCellError, cell_reader

Money = Decimal | UnsetType | None


class Value(Struct):
    value: str


class Pair(Struct):
    left: str
    right: str


def read(annotation: Any, text: str) -> Any:
    """What a cell becomes, once the validator has taken it."""
    return convert(cell_reader(annotation)(text), annotation, strict=False)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1200", "1200"),
        ("1,200.00", "1200.00"),
        ("£5.00", "5.00"),
        ("£1,234,567.89", "1234567.89"),
        (" £ 5 ", "5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("-£5.00", "-5.00"),
        ("1e3", "1000"),
    ],
)
def test_numbers_may_have_pounds_and_thousands(text: str, value: str) -> None:
    assert read(Money, text) == Decimal(value)


@pytest.mark.parametrize("text", ["5,00", "1,20.00", "1.200,00", "12,0000", "$5", "five", "5 00", "£", "1,200,00"])
def test_what_is_no_number_in_british_writing_is_left_to_the_validator(text: str) -> None:
    assert cell_reader(Money)(text) == text


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_every_amount_survives_being_written_with_thousands_and_pounds(amount: Decimal) -> None:
    assert read(Decimal, f"£{amount:,}") == amount
    assert read(Decimal, f"{amount}") == amount


@given(st.integers(min_value=0, max_value=10**12))
def test_whole_numbers_may_have_thousands_and_empty_decimals(number: int) -> None:
    assert read(int, f"{number:,}") == read(int, f"{number}.00") == number


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


@pytest.mark.parametrize(("text", "value"), [("2.5%", "2.5"), ("2.5 %", "2.5"), ("2.5", "2.5"), ("0", "0")])
def test_per_cents_may_have_their_sign(text: str, value: str) -> None:
    assert read(Annotated[Decimal, PERCENT] | UnsetType, text) == Decimal(value)


def test_a_sign_of_per_cent_means_nothing_elsewhere() -> None:
    assert cell_reader(Decimal)("2.5%") == "2.5%"


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
    with pytest.raises(UnreadableCellError, match="not JSON"):
        cell_reader(annotation)("[{]")


def test_json_that_is_nested_beyond_reason_is_said_to_be_broken() -> None:
    with pytest.raises(UnreadableCellError, match="not JSON"):
        cell_reader(list[Pair])("[" * 100_000)


def test_choices_are_read_without_case() -> None:
    assert read(Literal["own", "plain"] | UnsetType, "Plain") == "plain"


@pytest.mark.parametrize(
    ("annotation", "value"),
    [(str | None, None), (str, ""), (str | UnsetType | None, None), (int, UNSET), (bool, UNSET)],
)
def test_an_empty_cell_is_null_or_empty_text_or_absent(annotation: Any, value: Any) -> None:
    assert cell_reader(annotation)("  ") is value or cell_reader(annotation)("  ") == value


@pytest.mark.parametrize("annotation", [str, Decimal, list[str], int])
def test_the_error_of_a_formula_is_no_value(annotation: Any) -> None:
    with pytest.raises(UnreadableCellError, match="contains the spreadsheet error #N/A"):
        cell_reader(annotation)("#N/A")


def test_text_that_starts_with_a_hash_is_text() -> None:
    assert cell_reader(str)("#1 choice") == "#1 choice"
