"""The slice of a page and the headers that say where it stands."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradecounter.rest.paging import Page, page_headers

URL = "https://api.example/product"
LINK = re.compile(r'<([^>]*)>; rel="([a-z]+)"')


@pytest.mark.parametrize(
    ("page", "total", "bounds", "pages"),
    [
        (Page(1, 100), 0, (0, 0), 0),
        (Page(2, 100), 0, (0, 0), 0),
        (Page(1, 100), 1, (0, 1), 1),
        (Page(1, 100), 100, (0, 100), 1),
        (Page(1, 100), 101, (0, 100), 2),
        (Page(2, 100), 101, (100, 101), 2),
        (Page(3, 100), 101, (101, 101), 2),
        (Page(10**17, 500), 101, (101, 101), 1),
        (Page(1, 0), 101, (0, 101), 1),
        (Page(2, 0), 101, (101, 101), 1),
        (Page(1, 0), 0, (0, 0), 0),
    ],
)
def test_a_page_has_its_bounds(page: Page, total: int, bounds: tuple[int, int], pages: int) -> None:
    start, end = page.bounds(total)
    assert (start, end) == bounds
    assert page.count(total) == pages


@pytest.mark.parametrize(
    ("page", "total", "links"),
    [
        (Page(1, 10), 0, {}),
        (Page(5, 10), 0, {}),
        (Page(1, 0), 0, {}),
        (Page(1, 10), 10, {"first": 1, "last": 1}),
        (Page(1, 10), 11, {"first": 1, "next": 2, "last": 2}),
        (Page(2, 10), 25, {"first": 1, "prev": 1, "next": 3, "last": 3}),
        (Page(3, 10), 25, {"first": 1, "prev": 2, "last": 3}),
        (Page(4, 10), 25, {"first": 1, "prev": 3, "last": 3}),
        (Page(9, 10), 25, {"first": 1, "prev": 3, "last": 3}),
        (Page(1, 0), 25, {"first": 1, "last": 1}),
        (Page(2, 0), 25, {"first": 1, "prev": 1, "last": 1}),
    ],
)
def test_links_lead_to_the_pages_that_exist(page: Page, total: int, links: dict[str, int]) -> None:
    headers = page_headers(page, total, URL, [])
    found = {rel: url for url, rel in LINK.findall(headers.pop("Link", ""))}
    assert found == {rel: f"{URL}?page={number}&limit={page.limit}" for rel, number in links.items()}
    assert list(headers) == ["X-Total-Count", "X-Page", "X-Limit", "X-Total-Pages"]
    assert [headers["X-Total-Count"], headers["X-Page"], headers["X-Limit"]] == [
        str(number) for number in (total, page.number, page.limit)
    ]


def test_nothing_that_a_client_sends_breaks_out_of_a_link() -> None:
    pairs = [('a">,<b', "c>\r\nSet-Cookie: d"), ("é", "%C3%A9"), ("page", "3"), ("limit", "x")]
    header = page_headers(Page(1, 1), 1, URL, pairs)["Link"]
    query = "a%22%3E%2C%3Cb=c%3E%0D%0ASet-Cookie:%20d&%C3%A9=%C3%A9&page=1&limit=1"
    assert header == f'<{URL}?{query}>; rel="first", <{URL}?{query}>; rel="last"'


@settings(max_examples=100, derandomize=True, deadline=None)
@given(total=st.integers(0, 300), limit=st.integers(0, 40))
def test_the_pages_together_are_everything_once(total: int, limit: int) -> None:
    count = Page(1, limit).count(total)
    ends = [0]
    for number in range(1, count + 1):
        start, end = Page(number, limit).bounds(total)
        assert start == ends[-1] < end
        ends.append(end)
    assert ends[-1] == total
    assert Page(count + 1, limit).bounds(total) == (total, total)
