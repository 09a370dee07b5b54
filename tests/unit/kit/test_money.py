"""Rounding of amounts: half up, exact, at one place."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradecounter.kit.money import (
    from_pence,
    percentage,
    rounded,
    to_ending,
    to_pence,
    to_step,
    up_to_ending,
    whole_pounds,
)

amounts = st.decimals(-1_000_000_000, 1_000_000_000, places=2)


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        ("0.005", "0.01"),
        ("0.004999", "0.00"),
        ("1.005", "1.01"),
        ("2.675", "2.68"),
        ("2.665", "2.67"),
        ("-0.005", "-0.01"),
        ("-1.004", "-1.00"),
        ("10", "10.00"),
        ("999999999999.995", "1000000000000.00"),
    ],
)
def test_half_a_penny_rounds_up_away_from_zero(amount: str, expected: str) -> None:
    assert str(rounded(Decimal(amount))) == expected


@pytest.mark.parametrize(
    ("amount", "percent", "expected"),
    [
        ("19.99", "20", "4.00"),
        ("0.02", "20", "0.00"),
        ("0.03", "20", "0.01"),
        ("1.25", "10", "0.13"),
        ("9", "0", "0.00"),
    ],
)
def test_a_percentage_is_rounded_to_pence(amount: str, percent: str, expected: str) -> None:
    assert str(percentage(Decimal(amount), Decimal(percent))) == expected


@settings(max_examples=100, deadline=None, derandomize=True)
@given(amounts)
def test_pounds_and_pence_convert_into_each_other_without_loss(amount: Decimal) -> None:
    assert from_pence(to_pence(amount)) == amount
    assert str(from_pence(to_pence(amount))).split(".")[1] == f"{abs(to_pence(amount)) % 100:02d}"


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.decimals(-(10**9), 10**9, places=6))
def test_rounding_moves_by_half_a_penny_at_most(amount: Decimal) -> None:
    assert abs(rounded(amount) - amount) <= Decimal("0.005")
    assert rounded(rounded(amount)) == rounded(amount)


@pytest.mark.parametrize(
    ("amount", "step", "expected"),
    [("12.324", "0.05", "12.30"), ("12.325", "0.05", "12.35"), ("12.49", "1.00", "12.00"), ("12.50", "1.00", "13.00"),
     ("0.01", "1.00", "1.00"), ("0", "1.00", "0.00")],
)  # fmt: skip
def test_amounts_are_rounded_to_steps_but_never_to_nothing(amount: str, step: str, expected: str) -> None:
    assert str(to_step(Decimal(amount), Decimal(step))) == expected


@pytest.mark.parametrize(
    ("amount", "expected"),
    [("12.00", "12.99"), ("12.99", "12.99"), ("12.991", "13.99"), ("0.01", "0.99"), ("0", "0.00"), ("-3", "-3.00")],
)
def test_amounts_are_rounded_up_to_an_ending(amount: str, expected: str) -> None:
    assert str(up_to_ending(Decimal(amount), Decimal("0.99"))) == expected


@pytest.mark.parametrize(
    ("amount", "pence", "expected"),
    [
        ("12.48", "0.99", "11.99"),
        ("12.49", "0.99", "12.99"),
        ("12.99", "0.99", "12.99"),
        ("10.449", "0.95", "9.95"),
        ("10.45", "0.95", "10.95"),
        ("0.01", "0.99", "0.99"),
        ("0", "0.99", "0.00"),
        ("-3.004", "0.99", "-3.00"),
    ],
)
def test_amounts_are_rounded_to_the_nearest_ending(amount: str, pence: str, expected: str) -> None:
    assert str(to_ending(Decimal(amount), Decimal(pence))) == expected


@pytest.mark.parametrize(
    ("amount", "expected"), [("379.99", "379"), ("0.99", "0"), ("-0.99", "0"), ("-1.50", "-1"), ("12.00", "12")]
)
def test_whole_pounds_have_no_pence(amount: str, expected: str) -> None:
    assert str(whole_pounds(Decimal(amount))) == expected
