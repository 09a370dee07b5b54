"""Keys, EANs and blank texts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.kit.csv_text import harmless, unguarded
from tradecounter.kit.keys import Spellings, UnusableKeyError, clean_key, ean_problem, key_form
from tradecounter.kit.text import is_blank


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (" BUG-A ", "BUG-A"), ("\ufeffBUG-A\u200b", "BUG-A"), ("Cafe\u0301", "Caf\u00e9"), ("a\u00a0", "a"),
        ("HP 24-port 10/100 PoE+ v2", "HP 24-port 10/100 PoE+ v2"),
    ],
)  # fmt: skip
def test_a_key_is_composed_and_trimmed(text: str, key: str) -> None:
    assert clean_key(text) == key


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "must not be empty"), (" \u200b\u00ad", "must not be empty"), ("a\nb", "has a line break"),
        ("a\u2028b", "has a line break"), ("a\tb", "U\\+0009"), ("a\u200bb", "U\\+200B"), ("a\u00adb", "U\\+00AD"),
        ("a\u202eb", "U\\+202E"), ("a\u3164b", "U\\+3164"), ("a\x00", "U\\+0000"), ("a\u00a0b", "the space U\\+00A0"),
    ],
)  # fmt: skip
def test_a_key_with_what_nobody_sees_is_rejected(text: str, problem: str) -> None:
    with pytest.raises(UnusableKeyError, match=problem):
        clean_key(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Default", "default "), ("Cafe\u0301", "CAF\u00c9"), ("stra\u00dfe", "STRASSE"), ("\ufeffa", "A")],
)
def test_keys_are_compared_without_case_and_composed(one: str, other: str) -> None:
    assert key_form(one) == key_form(other)


@given(st.text())
def test_the_form_of_a_key_is_that_of_its_stored_spelling(text: str) -> None:
    try:
        key = clean_key(text)
    except UnusableKeyError:
        return
    assert clean_key(key) == key
    assert key_form(key) == key_form(text)


def test_the_first_spelling_of_a_key_stays() -> None:
    spellings = Spellings(["default"])
    assert spellings.of("DEFAULT") == "default"
    assert [spellings.settled("Gold"), spellings.settled("gold")] == ["Gold", "Gold"]


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\ufeff", "\u2060 \u00ad", "\u3164", "\u2800", "\u00a0", "\ufe0f"])
def test_a_text_that_shows_nothing_is_blank(text: str) -> None:
    assert is_blank(text)
    assert not is_blank(f"{text}x")


@pytest.mark.parametrize("text", ["4006381333931", "0036000291452", "036000291452", "96385074", "10012345678902"])
def test_an_ean_has_a_right_check_digit(text: str) -> None:
    assert not ean_problem(text)
    assert "check digit" in ean_problem(text[:-1] + str((int(text[-1]) + 1) % 10))


@pytest.mark.parametrize(
    "text", ["0", "-", "N/A", "00000000", "\N{FULLWIDTH DIGIT FOUR}006381333931", "400638133393", "4006381333931.0"]
)
def test_what_only_looks_like_an_ean_is_none(text: str) -> None:
    assert ean_problem(text)


@given(st.text(alphabet="'=+-@\"\tab1 ") | st.text())
def test_what_exports_guard_imports_read_back(text: str) -> None:
    guarded = harmless(text)
    assert not guarded.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unguarded(guarded) == text


def test_a_text_as_a_formula_is_read_as_its_text() -> None:
    assert unguarded('="0417723"') == "0417723"
    assert unguarded('="5"" rack"') == '5" rack'
    assert unguarded("'=1+1") == "=1+1"
    assert unguarded("'plain") == "'plain"
