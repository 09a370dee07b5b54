"""The decisions' table of content negotiation, line by line, and RFC 9110's matching against a plain reading of it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradecounter.edge.rest.negotiation import CSV, JSON, Format, choose_format


@pytest.mark.spec("1 Content negotiation", "CSV without the header and for text/html")
@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        (None, CSV),
        ("", CSV),
        (" ", CSV),
        (",", CSV),
        ("*/*", CSV),
        ("*/*;q=0.1", CSV),
        ("text/html", CSV),
        ("text/*", CSV),
        ("text/csv", CSV),
        ("TEXT/CSV", CSV),
        ("text/csv; charset=utf-8", CSV),
        ("application/json", JSON),
        ("Application/Json;charset=utf-8", JSON),
        ("application/*", JSON),
        # nothing acceptable
        ("image/png", CSV),
        ("application/xml", CSV),
        ("application/json;q=0", CSV),
        ("application/json;q=0, text/csv;q=0", CSV),
        ("*/*;q=0", CSV),
        ("application/json-seq", CSV),
        # the higher quality
        ("text/csv;q=0.5, application/json;q=0.6", JSON),
        ("text/csv;q=0.6, application/json;q=0.5", CSV),
        ("application/json;q=0.001", JSON),
        ("text/html, application/json;q=0.9", CSV),
        ("text/html;q=0.8, application/json;q=0.9", JSON),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", CSV),
        ("application/json, */*;q=0.5", JSON),
        ("*/*, application/json;q=0.5", CSV),
        # of equal ones the one named first
        ("application/json, text/csv", JSON),
        ("text/csv, application/json", CSV),
        ("application/json, text/plain, */*", JSON),
        ("text/html, application/json", CSV),
        ("application/json, text/html", JSON),
        ("application/*, text/*", JSON),
        ("text/*, application/*", CSV),
        ("application/json;q=0.5, text/csv;q=0.5", JSON),
        # the more specific range speaks for its type
        ("*/*, application/json;q=0", CSV),
        ("*/*, text/csv;q=0", JSON),
        ("text/*;q=0.1, text/csv, application/json;q=0.5", CSV),
        ("text/*, text/csv;q=0.1, application/json;q=0.5", JSON),
        ("application/*, application/json;q=0.1, text/csv;q=0.5", CSV),
        ("*/*;q=1, application/*;q=0.2", CSV),
        ("*/*;q=0.2, application/*", JSON),
        # a page is CSV only where it is named; it never speaks against CSV
        ("text/*, text/html;q=0.1, application/json;q=0.5", CSV),
        ("text/html;q=0, */*", CSV),
        ("text/csv;q=0, text/html", CSV),
        ("text/csv;q=0, text/*, application/json;q=0.5", JSON),
        # weights that are none
        ("application/json;q=high", CSV),
        ("application/json;q=nan", CSV),
        ("application/json;q=", CSV),
        ("application/json;q=7, text/csv", JSON),
        ("application/json;q=-1", CSV),
        ("application/json ; Q=0.4 , text/csv ; q=0.5", CSV),
        ("application/json;version=1;q=0.4, text/csv;q=0.3", JSON),
    ],
)
def test_an_accept_header_gives_the_format_that_the_decisions_say(accept: str | None, expected: Format) -> None:
    assert choose_format(accept) == expected


@pytest.mark.parametrize("accept", [None, "text/csv", "application/json", "image/png", "application/json;q=0"])
@pytest.mark.parametrize("override", [CSV, JSON])
def test_the_parameter_overrides_any_header(accept: str | None, override: Format) -> None:
    assert choose_format(accept, override) == override


RANGES = ("text/csv", "application/json", "text/*", "application/*", "*/*", "image/png")
PARTS = st.tuples(st.sampled_from(RANGES), st.integers(0, 10))


def welcome(media: str, parts: list[tuple[str, int]]) -> tuple[int, int] | None:
    """A type's weight in tenths and its place, by its most specific range; each range stands there once."""
    for name in (media, media.partition("/")[0] + "/*", "*/*"):
        for place, (found, tenths) in enumerate(parts):
            if found == name:
                return tenths, -place
    return None


@pytest.mark.spec("1 Content negotiation", "the Accept header chooses the format, the accept parameter overrides it")
@settings(max_examples=200, derandomize=True, deadline=None)
@given(st.lists(PARTS, max_size=6, unique_by=lambda part: part[0]))
def test_any_mixture_of_ranges_gives_what_a_plain_reading_gives(parts: list[tuple[str, int]]) -> None:
    json, csv = welcome(JSON, parts), welcome(CSV, parts)
    wins = json is not None and json[0] > 0 and (csv is None or json > csv)
    header = ", ".join(f"{name};q={tenths / 10}" for name, tenths in parts)
    assert choose_format(header) == (JSON if wins else CSV)
