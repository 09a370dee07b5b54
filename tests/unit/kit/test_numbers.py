"""Tests of the reader of numbers that people type or send in files."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.kit.numbers import (
    NumberField,
    UnreadableNumberError,
    number_of,
    read_count,
    read_decimal,
    read_percent,
    read_pounds,
)


@pytest.mark.parametrize(
    ("text", "pounds"),
    [
        ("0", "0"),
        ("12", "12"),
        (" 12.5 ", "12.5"),
        ("£12.50", "12.50"),
        ("12.5000", "12.5"),
        (".5", "0.5"),
        ("5.", "5"),
        ("007", "7"),
        ("1,234", "1234"),
        ("£1,234,567.89", "1234567.89"),
    ],
)
def test_amounts_are_pounds_and_pence(text: str, pounds: str) -> None:
    assert read_pounds(text) == Decimal(pounds)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "£", ".", ",", "12,50", "1,5", "0,75", "0,125", "1,23,456", "12,3456", "1234,567", "0,123", "01,234",
        ",123", "1.5,5", "1_0", "1 2", "1 234", "£ 5", "5£", "££5", "$5", "€5", "\uff11\uff12", "\u0663", "1e3", "1E5",
        "NaN", "Infinity", "inf", "--5", "1-", "(5)", "0x10", "1.2.3", "12.505", "12.500", "1.000", "5%", "1\u00a0234",
        "1'234", "five", "1" * 31, "9" * 5000,
    ],
)  # fmt: skip
def test_what_is_not_plainly_an_amount_is_an_error_that_shows_it(text: str) -> None:
    with pytest.raises(UnreadableNumberError) as error:
        read_pounds(text)
    assert repr(text.strip()[:40])[:-1] in str(error.value)


@pytest.mark.parametrize("text", ["-5", "+5", "-£5.00", "£-5", "- 5"])
def test_a_sign_is_an_error_where_amounts_have_none(text: str) -> None:
    with pytest.raises(UnreadableNumberError):
        read_pounds(text)


@pytest.mark.parametrize(
    ("text", "pounds"), [("-5", -5), ("+5", 5), ("-£5.25", "-5.25"), ("-1,234.50", "-1234.5"), ("5", 5)]
)
def test_signed_amounts_keep_their_sign(text: str, pounds: str) -> None:
    assert read_pounds(text, signed=True) == Decimal(pounds)


@pytest.mark.parametrize("text", ["1,234", "1,234.50", "12,50", "0,75"])
def test_files_with_semicolons_have_no_commas_in_numbers(text: str) -> None:
    for read in (read_pounds, read_percent, read_decimal, read_count):
        with pytest.raises(UnreadableNumberError):
            read(text, commas=False)


@pytest.mark.parametrize(("text", "percent"), [("12.5", "12.5"), ("12.5%", "12.5"), ("0%", "0"), ("100", "100")])
def test_percentages_may_end_with_a_sign(text: str, percent: str) -> None:
    assert read_percent(text) == Decimal(percent)


@pytest.mark.parametrize("text", ["12,5", "£5", "%", "%5", "5%%", "5 %", "-5", "1.005", "1e1"])
def test_other_percentages_are_errors(text: str) -> None:
    with pytest.raises(UnreadableNumberError):
        read_percent(text)


@pytest.mark.parametrize(("text", "count"), [("0", 0), ("12", 12), ("1,000", 1000), (" 7 ", 7)])
def test_counts_are_whole_numbers(text: str, count: int) -> None:
    assert read_count(text) == count


@pytest.mark.parametrize("text", ["1,5", "1.0", "1.000", "1.", "1,00", "1_0", "\uff11", "£1", "-1", "1e2", "9" * 4301])
def test_other_counts_are_errors(text: str) -> None:
    with pytest.raises(UnreadableNumberError):
        read_count(text)


@pytest.mark.parametrize(
    ("number", "fits"),
    [
        ("1", True), ("1.50", True), ("1.500", True), ("1E+999999", True), ("0E-9", True),
        ("1.005", False), ("1E-3", False), ("-0.001", False), (f"0.{'1' * 5000}", False),
    ],
)  # fmt: skip
def test_numbers_from_json_have_no_more_places_than_the_field(number: str, fits: bool) -> None:
    if fits:
        NumberField("pounds", 2).check(Decimal(number))
    else:
        with pytest.raises(UnreadableNumberError, match="has more than 2 decimal places"):
            NumberField("pounds", 2).check(Decimal(number))


def test_decimal_places_are_as_many_as_the_field_has() -> None:
    assert read_decimal("0.125", places=3) == Decimal("0.125")
    with pytest.raises(UnreadableNumberError, match="more than 3 decimal places"):
        read_decimal("0.1255", places=3)


@given(st.decimals(min_value=0, max_value=10**9, places=2))
def test_an_amount_is_read_as_it_is_shown(amount: Decimal) -> None:
    for shown in (f"{amount}", f"{amount:,}", f"£{amount:,.2f}"):
        assert read_pounds(shown) == amount


@given(st.text(max_size=12))
def test_any_other_text_is_a_plain_number_or_an_error(text: str) -> None:
    try:
        value = read_pounds(text)
    except UnreadableNumberError:
        return
    assert value == Decimal(text.strip().removeprefix("£").replace(",", ""))
    assert value >= 0


def test_no_field_is_a_plain_decimal() -> None:
    with pytest.raises(TypeError, match="is read as one of the types"):
        number_of(Decimal | None)
