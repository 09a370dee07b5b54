"""Links to tracking pages: valid patterns, and safe links for any tracking number."""

from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.shipping.rules import is_tracking_pattern, tracking_link


@pytest.mark.parametrize(
    "pattern",
    [
        "https://track.example/{tracking_number}",
        "http://track.example:8080/parcel?n={tracking_number}&lang=en",
        "https://track.example/#/{tracking_number}",
    ],
)
def test_a_valid_tracking_url_is_accepted(pattern: str) -> None:
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
def test_an_invalid_tracking_url_is_rejected(pattern: str) -> None:
    assert not is_tracking_pattern(pattern)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_tracking_number_stays_in_its_place_in_the_url(number: str) -> None:
    parts = urlsplit(tracking_link("https://track.example/p/{tracking_number}?lang=en", number))
    assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("https", "track.example", "lang=en", "")
    assert unquote(parts.path) == f"/p/{number.strip()}"
