"""The slice of a page and the headers that say where it stands."""

import re
from contextlib import nullcontext, suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import Response

from tradecounter.edge.rest.call import Call
from tradecounter.edge.rest.paging import (
    MOST_HEAD_BYTES,
    MOST_LINK_BYTES,
    Page,
    PageLinks,
    linked,
    linked_query,
    links_noted,
    page_headers,
    requests_noted,
)
from tradecounter.kit.actor import SYSTEM
from tradecounter.kit.errors import DomainError, Kind

BASE = "https://api.example"
URL = f"{BASE}/product"
LINK = re.compile(r'<([^>]*)>; rel="([a-z]+)"')


def call(query: str = "") -> Call:
    scope = {"type": "http", "method": "GET", "path": "/product", "query_string": query.encode(), "headers": []}
    return Call(Request(scope), lambda _: BASE, 0, None, lambda _: SYSTEM)


def link_fields(made: Call) -> list[str]:
    """The `Link` fields of a response to a call."""
    return linked(made, Response()).headers.getlist("Link")


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


@pytest.mark.spec("1 Pagination", "links lead to existing pages and keep the rest of the query")
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
    made = call()
    headers = page_headers(made, page, total)
    found = {rel: url for url, rel in LINK.findall(", ".join(link_fields(made)))}
    assert found == {rel: f"{URL}?page={number}&limit={page.limit}" for rel, number in links.items()}
    assert list(headers) == ["X-Total-Count", "X-Page", "X-Limit", "X-Total-Pages"]
    assert [headers["X-Total-Count"], headers["X-Page"], headers["X-Limit"]] == [
        str(number) for number in (total, page.number, page.limit)
    ]


def test_nothing_that_a_client_sends_breaks_out_of_a_link() -> None:
    made = call('a">,<b=c>\r\nSet-Cookie: d&%C3%A9=%C3%A9&page=3&limit=x')
    page_headers(made, Page(1, 1), 1)
    [header] = link_fields(made)
    query = "a%22%3E%2C%3Cb=c%3E%0D%0ASet-Cookie:%20d&%C3%A9=%C3%A9&page=1&limit=1"
    assert header == f'<{URL}?{query}>; rel="first", <{URL}?{query}>; rel="last"'


names = st.sampled_from(["manufacturer", "category", "query", "x", "api-key"])
long_texts = st.builds(lambda sign, count: sign * count, st.sampled_from("yé,+ "), st.integers(0, 3_500))
values = st.text(st.characters(codec="latin-1"), max_size=100) | long_texts
queries = st.lists(st.tuples(names, values), max_size=8)
page_numbers = st.integers(1, 9) | st.integers(1, 10**18 - 1)


@pytest.mark.sweep
@pytest.mark.spec("1 Pagination", "links lead to existing pages and keep the rest of the query")
@settings(deadline=None, max_examples=200)
@given(queries, page_numbers, st.integers(0, 500), st.integers(0, 2_000) | st.integers(0, 10**9))
def test_every_link_that_exists_is_there_or_the_query_is_too_long(
    pairs: list[tuple[str, str]], number: int, limit: int, total: int
) -> None:
    page = Page(number, limit)
    links, query = PageLinks(URL, page, page.count(total)), linked_query(pairs)
    wanted = {rel: url.replace("?", f"?{query}", 1) for url, rel in LINK.findall(", ".join(links.fields("")))}
    fits = len(query) <= MOST_LINK_BYTES // 4 - 150
    with nullcontext() if fits else suppress(DomainError):
        fields = links.fields(query)
        fits = True
    if not fits:
        return
    assert {rel: url for url, rel in LINK.findall(", ".join(fields))} == wanted
    assert sum(len("Link: \r\n") + len(field) for field in fields) <= MOST_LINK_BYTES
    assert all(len(field) <= 8_000 for field in fields)
    assert len(fields) in {0, 1, len(wanted)}
    for other in range(1, min(links.pages, 5) + 1):  # what a client comes to when it follows the links
        assert PageLinks(URL, Page(other, limit), links.pages).fields(query)


def test_the_message_says_how_long_the_query_may_be() -> None:
    links = PageLinks(URL, Page(1, 1), 10)
    with pytest.raises(DomainError, match=f"at most {MOST_HEAD_BYTES} bytes of headers") as raised:
        links.fields(f"x={'y' * 5_000}&")
    assert raised.value.kind == Kind.QUERY_TOO_LONG
    [most] = re.findall("the query may have ([0-9]+) bytes", raised.value.message)
    assert len(links.fields("y" * int(most))) == 3
    with pytest.raises(DomainError):
        links.fields("y" * (int(most) + 1))


def test_what_else_depends_on_a_page_is_noted() -> None:
    made = call("limit=2&x=1")
    assert (links_noted(made.request.scope), requests_noted(made.request.scope)) == (None, 1)
    page_headers(made, Page(3, 2), 9)
    assert links_noted(made.request.scope) == PageLinks(URL, Page(3, 2), 5)
    assert requests_noted(made.request.scope) == 1


@pytest.mark.parametrize(
    ("page", "total", "requests"),
    [(Page(1, 0), 0, 1), (Page(1, 0), 500, 1), (Page(1, 0), 501, 2), (Page(1, 0), 20_000, 40), (Page(2, 0), 20_000, 1),
     (Page(1, 500), 20_000, 1), (Page(1, 1), 20_000, 1)],
)  # fmt: skip
def test_a_page_counts_as_a_request_for_every_500_results_on_it(page: Page, total: int, requests: int) -> None:
    assert page.requests(total) == requests


@pytest.mark.spec("1 Pagination", "pages count from 1; a page beyond the end is empty")
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
