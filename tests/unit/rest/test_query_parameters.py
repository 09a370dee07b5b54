"""Reading query parameters into a struct."""

from contextlib import suppress
from typing import Annotated, Literal
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from support.fuzzed import fuzzed
from tradecounter.edge.rest.parameters import raw_pairs, read_parameters
from tradecounter.kit.errors import DomainError, Kind


class Parameters(Struct, rename={"in_stock": "inStock"}):
    """Every kind of parameter."""

    tags: Annotated[tuple[str, ...], Meta(description="A list.")] = ()
    text: Annotated[Annotated[str, Meta(max_length=9)] | None, Meta(description="A text.")] = None
    count: Annotated[int, Meta(ge=-1, le=9)] | None = None
    in_stock: Literal["true", "false"] | None = None
    force: Annotated[bool, Meta(description="A decision.")] = False


def read(query: str) -> Parameters:
    return read_parameters(query, Parameters)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", Parameters()),
        ("&=&=x&", Parameters()),
        ("tags=a", Parameters(tags=("a",))),
        ("tags=a,b&tags=c", Parameters(tags=("a", "b", "c"))),
        ("tags=a%2Cb,c", Parameters(tags=("a,b", "c"))),
        ("tags=%20a+,,%20,+b%20c", Parameters(tags=("a", "b c"))),
        ("tags=&tags=", Parameters()),
        ("t%61gs=null", Parameters(tags=("null",))),
        ("text=a,b", Parameters(text="a,b")),
        ("text=a%2Cb+c%26", Parameters(text="a,b c&")),
        ("text=a=b", Parameters(text="a=b")),
        ("text=null", Parameters(text="null")),
        ("text=7", Parameters(text="7")),
        ("text=&text=x&text=", Parameters(text="x")),
        ("count=9", Parameters(count=9)),
        ("count=-1", Parameters(count=-1)),
        ("count=007", Parameters(count=7)),
        ("count=%37", Parameters(count=7)),
        ("inStock=true", Parameters(in_stock="true")),
        ("force=True", Parameters(force=True)),
        ("force=false", Parameters(force=False)),
        ("in_stock=nonsense&Text=much+too+long&other", Parameters()),
    ],
)
def test_parameters_are_read_as_what_they_are(query: str, expected: Parameters) -> None:
    assert read(query) == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("text=a&text=a", "text: is given more than once"),
        ("text=0123456789", "text: must have at most 9 characters"),
        ("count=1&count=", None),
        ("count=1&count=1", "count: is given more than once"),
        ("count=10", "count: must be at most 9"),
        ("count=-2", "count: must be at least -1"),
        ("count=x", "count: must be a whole number, not 'x'"),
        ("count=1.0", "count: must be a whole number, not '1.0'"),
        ("count=null", "count: must be a whole number, not 'null'"),
        ("count=true", "count: must be a whole number, not 'true'"),
        ("count=" + "9" * 5000, "count: must be at most 9"),
        ("force=1", "force: '1' is not one of true, false"),
        ("inStock=null", "inStock: 'null' is not one of true, false"),
        ("inStock=" + "x" * 5000, f"inStock: '{'x' * 100}' is not one of true, false"),
        ("count=x&inStock=1", "count: must be a whole number, not 'x'; inStock: '1' is not one of true, false"),
        ("text=0123456789&count=x", "text: must have at most 9 characters; count: must be a whole number, not 'x'"),
        ("count=10&text=0123456789", "text: must have at most 9 characters; count: must be at most 9"),
        ("count=x&count=y", "count: is given more than once"),
        ("text=%80", "the query string is not UTF-8"),
        ("%80", "the query string is not UTF-8"),
    ],
)
def test_all_parameters_that_cannot_be_read_are_named(query: str, message: str | None) -> None:
    if message is None:
        assert read(query).count == 1
        return
    with pytest.raises(DomainError) as raised:
        read(query)
    assert (raised.value.kind, raised.value.message) == (Kind.INVALID, message)


def test_pairs_keep_values_as_they_were_sent_and_names_decoded() -> None:
    assert raw_pairs("a=%2C+b&%62=c%20d&&e&f==") == [("a", "%2C+b"), ("b", "c%20d"), ("e", ""), ("f", "=")]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9)


@fuzzed(100)
@given(st.lists(TEXT.filter(str.strip), max_size=5), st.none() | TEXT, st.sampled_from([quote, quote_plus]))
def test_whatever_is_percent_encoded_arrives_as_it_was(tags: list[str], text: str | None, encode: object) -> None:
    assert callable(encode)
    query = "tags=" + ",".join(encode(tag, safe="") for tag in tags)
    query += "" if text is None else f"&text={encode(text, safe='')}"
    assert read(query) == Parameters(tags=tuple(tag.strip() for tag in tags), text=text)


@fuzzed(200)
@given(st.text(st.sampled_from("tags=text&count%2C,0189%C3%inStock+-."), max_size=40))
def test_any_query_string_is_read_or_rejected(query: str) -> None:
    with suppress(DomainError):  # which becomes a 400; anything else would be a fault
        assert isinstance(read(query), Parameters)


def test_a_query_of_too_many_parameters_is_rejected_before_it_is_read() -> None:
    assert read("x&" * 999 + "text=a") == Parameters(text="a")
    with pytest.raises(DomainError, match="the query string has more than 1000 parameters") as raised:
        read("x&" * 1_000 + "%ff")  # which would be rejected as well, once it was read
    assert raised.value.kind is Kind.INVALID
