"""Text search: the words of a string, and the index compared with a scan of all words."""

import unicodedata
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.catalogue_records import product_record
from tradecounter.kit.text import joined_word, words
from tradecounter.products.queries.records import ProductRecord
from tradecounter.products.snapshot.search_index import SearchIndex, SearchIndexBuilder, text_of_markup


def index_of(products: Sequence[ProductRecord], manufacturer_names: Mapping[str, str]) -> SearchIndex:
    builder = SearchIndexBuilder(manufacturer_names)
    for row in range(0, len(products), 2):
        builder.add(row, products[row : row + 2])
    return builder.done()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("--- / _ ...", []),
        ("WS-C2960-24TC-L", ["ws", "c2960", "24tc", "l"]),
        ("snake_case", ["snake", "case"]),
        ("Élan élan e\u0301lan ELAN", ["elan"] * 4),
        ("Straße STRASSE", ["strasse"] * 2),
        ("İzmir", ["izmir"]),
        ("ﬁbre ½ m² 10µm", ["fibre", "1", "2", "m2", "10μm"]),
        ("8‑Port 日本語 телефон", ["8", "port", "日本語", "телефон"]),  # noqa: RUF001 the same
        ("½-rack", ["1", "2", "rack"]),
        ("don't", ["don", "t"]),
    ],
)
def test_words_are_runs_of_letters_and_digits_without_case_and_accents(text: str, found: list[str]) -> None:
    assert words(text) == found
    assert joined_word(text) == "".join(found)


@pytest.mark.parametrize(
    ("markup", "found"),
    [
        ("", []),
        ("plain text", ["plain", "text"]),
        ("<p class='hidden'>one</p><p>two</p>", ["one", "two"]),
        ("one<br>two<br/>three", ["one", "two", "three"]),
        ("R&amp;D &eacute;t&#233; &#xe9;", ["r", "d", "ete", "e"]),
        ("<!-- not this -->this", ["this"]),
        ("<script>var x</script><style>p {}</style>seen", ["seen"]),
        ("a < b and b > a", ["a", "b", "and", "b", "a"]),
        ("<![if IE]>one<![endif]>", ["one"]),
        ("<![CDATA[x]]>two", ["two"]),
        ("<![nonsense[", ["nonsense"]),
        ("<!DOCTYPE html><?php x ?>three", ["three"]),
    ],
)
def test_the_text_of_markup_is_the_text_between_tags(markup: str, found: list[str]) -> None:
    assert words(text_of_markup(markup)) == found


@settings(max_examples=200, derandomize=True, deadline=None)
@given(
    st.lists(st.sampled_from(["<", "!", "[", "]", ">", "-", "/", "a", "?", "&", "#", ";", "\\", "'", " ", "script"]))
)
def test_malformed_markup_never_raises_an_error(pieces: list[str]) -> None:
    assert isinstance(text_of_markup("".join(pieces)), str)


def test_exactly_the_documented_fields_are_searched() -> None:
    product = product_record(
        "SKU-1",
        name="named",
        ean="5012345678900",
        manufacturer="makerkey",
        short_description="short",
        description="long",
        description_html="<i title='titled'>marked</i>",
        store_url="https://url.example",
        categories=["category"],
        attributes={"attribute": "value"},
        related_products=["related"],
    )
    index = index_of([product], {"makerkey": "Maker Name"})
    for word in ("sku", "1", "sku1", "named", "5012345678900", "makerkey", "maker", "name", "short", "long", "marked"):
        assert list(index.find(word) or ()) == [0], word
    for word in ("titled", "url", "category", "attribute", "value", "related", "i"):
        assert list(index.find(word) or ()) == [], word


def test_a_query_without_words_matches_all_products() -> None:
    index = index_of([product_record("A")], {})
    assert index.find("") is None
    assert index.find(" -_/ ") is None


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<a" * 40_000, "<a" * 40_000),
        ('<a b="' * 15_000, '<a b="' * 15_000),
        ("<!--" * 25_000, "<!--" * 25_000),
        ("<!-- -" * 16_000, "<!-- -" * 16_000),
        ("<script>" * 12_000, ""),
        ("&" * 100_000, "&" * 100_000),
        ("<p>&#" + "9" * 5_000 + ";</p>", "&#" + "9" * 5_000 + ";"),
    ],
    ids=lambda markup: markup[:6],
)
def test_random_markup_has_a_text(markup: str, text: str) -> None:
    assert text_of_markup(markup).strip() == text


ALPHABET = st.sampled_from("aAbBéÉ12ß-_ /")
TEXT = st.text(ALPHABET, max_size=12)


def plain_words(text: str) -> list[str]:
    """Return the words of a string, read one character at a time."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).casefold()
    return "".join(c if c.isalnum() else " " for c in bare).split()


@settings(max_examples=150, derandomize=True, deadline=None)
@given(products=st.lists(st.tuples(TEXT, TEXT), max_size=6), query=TEXT)
def test_the_index_and_a_full_scan_of_words_find_the_same_rows(products: list[tuple[str, str]], query: str) -> None:
    index = index_of([product_record(sku, name=name, manufacturer="") for sku, name in products], {})
    sought = plain_words(query)
    expected = []
    for row, (sku, name) in enumerate(products):
        has = [*plain_words(sku), *plain_words(name), "".join(plain_words(sku))]
        if all(any(word.startswith(start) for word in has) for start in sought):
            expected.append(row)
    found = index.find(query)
    assert (list(range(len(products))) if found is None else list(found)) == expected
    assert (found is None) == (not sought)
