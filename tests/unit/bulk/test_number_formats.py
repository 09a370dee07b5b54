"""What cells show of their numbers."""

from decimal import Decimal

import pytest

from tradecounter.bulk.number_formats import number_format


@pytest.mark.parametrize(
    ("code", "number", "shown"),
    [
        ("General", "36000291452", "36000291452"),
        ("@", "5", "5"),
        ("0000000000000", "36000291452", "0036000291452"),
        ('"SKU-"0000', "17", "SKU-0017"),
        (r"000\-000", "123456", "123-456"),
        ("000-00-0000", "123456789", "123-45-6789"),
        ("#,##0", "1234567", "1,234,567"),
        ("#,##0", "12", "12"),
        ("0.0##", "1.25", "1.25"),
        ("0.00", "-3", "-3.00"),
        ("0.00;(0.00)", "-5.25", "(5.25)"),
        ("[Red]-0.00;0.00", "-5", "5.00"),
        ('0.0"%"', "0.5", "0.5%"),
        ("0.0%", "0.125", "12.5%"),
    ],
)
def test_a_number_is_shown_as_its_format_says(code: str, number: str, shown: str) -> None:
    assert number_format(code).shown(Decimal(number)) == shown


@pytest.mark.parametrize(
    ("code", "number"),
    [("0", "1.5"), ("0.00E+00", "5901230000000"), ("0,", "12000"), ("# ?/?", "1.5"), (";;;", "3"), ("#", "0")],
)
def test_a_format_that_loses_digits_shows_nothing_that_can_be_read(code: str, number: str) -> None:
    assert number_format(code).shown(Decimal(number)) is None


@pytest.mark.parametrize(
    ("code", "percents"),
    [
        ("0%", 1), ("0.0%;-0.0%", 1), ("[>=1]0;0%", 1), ('0"%"', 0), (r"0\%", 0), ("0_%", 0), ("0*%", 0),
        ("0.0;-0.0%", 0), ("[Color 5]0", 0),
    ],
)  # fmt: skip
def test_only_a_plain_per_cent_sign_of_the_section_scales(code: str, percents: int) -> None:
    assert number_format(code).section_of(Decimal("0.5")).percents == percents


@pytest.mark.parametrize(
    ("code", "currency"),
    [
        ("[$€-407] #,##0.00", "€"), ('"$"#,##0.00', "$"), ("€0.00", "€"), (r"0.00\ \€", "€"), ("[$kr-414] 0", "kr"),
        ('#,##0 "EUR"', "EUR"), ("0 [$USD]", "USD"), ('0"p"', "p"), ("[$£-809]0.00", None), ('0.00" GBP"', None),
        ("£0", None), ("[$-809]0.00", None), ('0.00 "kg"', None), ('0 "units"', None),
    ],
)  # fmt: skip
def test_a_currency_other_than_the_pound_is_recognised(code: str, currency: str | None) -> None:
    assert number_format(code).section_of(Decimal(1)).currency == currency


@pytest.mark.parametrize(
    ("code", "moment"),
    [
        ("yyyy-mm-dd", "date"), ("d/m/yy", "date"), ("mmm", "date"), ("[$-F800]dddd, mmmm dd, yyyy", "date"),
        ("yyyy-mm-dd h:mm", "date"), ("h:mm AM/PM", "time"), ("mm:ss", "time"), ("[h]:mm", "time"), ("0.00", None),
        ('0 "days"', None), ("General", None),
    ],
)  # fmt: skip
def test_dates_and_times_are_told_from_numbers(code: str, moment: str | None) -> None:
    assert number_format(code).moment == moment
