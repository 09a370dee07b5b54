"""Links to tracking pages: which patterns are taken, and that no tracking number leaves its place."""

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.shipping.tracking import is_tracking_pattern, tracking_link


@pytest.mark.parametrize(
    "pattern",
    [
        "https://track.example/{tracking_number}",
        "http://track.example:8080/parcel?n={tracking_number}&lang=en",
        "https://track.example/#/{tracking_number}",
    ],
)
def test_a_page_of_a_carrier_is_taken(pattern: str) -> None:
    assert is_tracking_pattern(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "", "https://track.example/", "javascript:alert({tracking_number})", "ftp://x.example/{tracking_number}",
        "//x.example/{tracking_number}", "https://{tracking_number}.example/", "https://x.example{tracking_number}",
        "https://user@x.example/{tracking_number}", 'https://x.example/"{tracking_number}',
        "https://x.example/{tracking_number}\n", "https://x.example/ {tracking_number}", "{tracking_number}",
        "https://x.example/{number}",
    ],
)  # fmt: skip
def test_anything_else_is_not(pattern: str) -> None:
    assert not is_tracking_pattern(pattern)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_number_stays_in_its_place(number: str) -> None:
    parts = urlsplit(tracking_link("https://track.example/p/{tracking_number}?lang=en", number))
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("https", "track.example", "lang=en", "")
    assert unquote(parts.path) == f"/p/{number.strip()}"
