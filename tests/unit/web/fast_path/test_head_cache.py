"""Requests known by their text: within their bound, counted with what they really take."""

import gc
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tradecounter.edge.rest.paging import Page, PageLinks
from tradecounter.edge.server.client_address import ClientAddresses
from tradecounter.sites.http.fast_path.middleware import HeadCache
from tradecounter.sites.http.request_head import RequestHead, read_head

ADDRESSES = ClientAddresses("192.0.2.7")
LINKS = PageLinks("https://api.example/product", Page(2, 10), 5)


def head(number: int, query: str = "", *headers: tuple[bytes, bytes]) -> dict[str, Any]:
    """A request's scope, which nothing else holds."""
    text = f"number={number}&{query}"
    own = [(b"host", f"shop{number}".encode()), (b"x-api-key", f"{number:064}".encode()), *headers]
    return {
        "method": "GET",
        "path": "/product",
        "http_version": "1.1",
        "query_string": text.encode(),
        "headers": own,
    }


def head_of(number: int, query: str = "", *headers: tuple[bytes, bytes]) -> RequestHead:
    read = read_head(head(number, query, *headers), ADDRESSES)
    assert read.key is not None
    read.links(LINKS)
    return read


def test_what_was_added_is_known_and_nothing_else() -> None:
    known, one = HeadCache(10_000_000), head_of(1)
    known.add(b"one", one)
    assert known.get(b"one") is one
    assert known.get(b"other") is None


def test_the_request_added_first_is_forgotten_first_and_no_other() -> None:
    size = head_of(10).size
    known = HeadCache(size * 10 + 5)
    for number in range(10, 25):
        known.add(b"%d" % number, head_of(number))
        there = [n for n in range(10, 25) if known.get(b"%d" % n)]
        assert there == list(range(max(10, number - 9), number + 1))
    assert known.size == 10 * size


def test_what_is_long_or_has_an_id_of_its_own_is_not_added() -> None:
    known = HeadCache(10_000_000)
    known.add(b"x" * 2_001, head_of(1))
    known.add(b"with an id", head_of(2, "", (b"x-request-id", b"3f1c")))
    assert known.get(b"x" * 2_001) is None
    assert known.get(b"with an id") is None
    assert known.size == 0


def test_a_size_of_zero_stores_nothing() -> None:
    known = HeadCache(0)
    known.add(b"one", head_of(1))
    assert known.get(b"one") is None


texts = st.text("abc,.", max_size=600)


@pytest.mark.sweep
@settings(max_examples=8, deadline=None, derandomize=True)
@given(texts, texts, st.lists(texts, max_size=12))
@pytest.mark.parametrize("count", [300])
def test_requests_take_no_more_than_they_count_for(count: int, query: str, accept: str, hops: list[str]) -> None:
    headers = [
        (b"accept", accept.encode()),
        (b"if-none-match", accept.encode()),
        (b"x-forwarded-for", ",".join(hops).encode()),
    ]
    known = HeadCache(10**10)
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(count):
            own = [(name, value + b"%d" % number) for name, value in headers]
            known.add(b"%d" % number, head_of(number, f"x={query}&query={query}&", *own))
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken <= known.size <= 4 * taken
