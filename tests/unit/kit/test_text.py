"""Comparing text without case and accents, and showing what others typed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradecounter.kit.text import fold, joined_word, normalised, one_line, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WS-C2960-24TC-L", ["ws", "c2960", "24tc", "l"]),
        ("Café crème", ["cafe", "creme"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("snake_case", ["snake", "case"]),
        ("½ ﬁbre", ["1", "2", "fibre"]),
        ("Ångström Łódź", ["angstrom", "lodz"]),
        ("日本語 テスト", ["日本語", "テスト"]),
        ("", []),
        (" -_/.\x00", []),
    ],
)
def test_words_are_runs_of_letters_and_digits_without_case_and_accents(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_joined_word_has_no_punctuation() -> None:
    assert joined_word("WS-C2960-24TC-L") == "wsc296024tcl"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=30))
def test_words_do_not_depend_on_case(text: str) -> None:
    assert words(text) == words(text.casefold())
    assert words(text.upper()) == words(text.upper().lower())
    assert fold(fold(text)) == fold(text)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(alphabet=st.characters(max_codepoint=127), max_size=30))
def test_ascii_takes_no_other_way_than_the_rest(text: str) -> None:
    assert words(text) == words(normalised(text))
    assert normalised(text) == text.lower()


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\r\n\u2028\x85\x00\u202e,"), max_size=300))
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert one_line(one_line(text)) == one_line(text)


def test_one_line_keeps_what_people_write() -> None:
    assert one_line("  Zoë\r\n\t👩‍🚒 &  <Söhne> ") == "Zoë 👩‍🚒 & <Söhne>"
    assert one_line("100\u202e001") == "100001"
