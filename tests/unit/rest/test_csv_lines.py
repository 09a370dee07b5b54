"""CSV as RFC 4180 has it."""

import csv
import io
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.fuzzed import fuzzed
from tradecounter.kit.csv_text import cell, cell_of, harmless, line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("plain text", "plain text"),
        (" spaces ", " spaces "),
        ("a,b", '"a,b"'),
        ('9"', '"9"""'),
        ('"', '""""'),
        ("a\r\nb", '"a\r\nb"'),
        ("a\nb", '"a\nb"'),
        ("a\rb", '"a\rb"'),
        ("=1+2", "=1+2"),
        ("a;b\tc|d'e", "a;b\tc|d'e"),
        ("é \u2028 日本", "é \u2028 日本"),
    ],
)
def test_a_cell_has_quotes_only_where_it_needs_them(text: str, expected: str) -> None:
    assert cell(text) == expected


def test_a_line_ends_with_carriage_return_and_line_feed() -> None:
    assert line(["a", "", "b,c"]) == 'a,,"b,c"\r\n'


def test_a_moment_is_in_utc_without_the_fraction_of_its_second() -> None:
    moment = datetime(2026, 6, 16, 9, 12, 44, 987_654, tzinfo=UTC)
    assert cell_of(moment) == "2026-06-16T09:12:44Z"
    assert cell_of(moment.astimezone(timezone(timedelta(hours=1)))) == "2026-06-16T09:12:44Z"
    assert cell_of(date(2026, 6, 16)) == "2026-06-16"


@fuzzed(150)
@given(st.lists(st.lists(st.text(st.sampled_from('a,"\r\n |;é'), max_size=8), min_size=2, max_size=4), max_size=5))
def test_any_cells_are_read_back_as_they_were(rows: list[list[str]]) -> None:
    text = "".join(map(line, rows))
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True)) == rows


@pytest.mark.parametrize("text", ["=1+2", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_text_that_looks_like_a_formula_is_none(text: str) -> None:
    assert harmless(text) == f"'{text}"
    assert harmless(f" {text}") == f" {text}"
