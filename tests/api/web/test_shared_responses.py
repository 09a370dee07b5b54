"""Equal requests share a cached response; data of one request never reaches another."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.service import Customer, Service
from support.twins import Twins, running_twins
from tradecounter.sites.http.fast_path.middleware import FastResponse

HOST = "shop.example"
JSON = [("Accept", "application/json")]
LINKED = re.compile(r"<([^>]*)>")

Header = tuple[str, str]


@pytest.fixture(scope="module")
def twins(database_url: str) -> Iterator[Twins]:
    """The first two customers have the same prices."""
    with running_twins(database_url, {}, {}, {"price_list": "gold"}) as running:
        yield running


@pytest.fixture(autouse=True)
def fresh(twins: Twins) -> None:
    twins.refresh()


def fetch(service: Service, path: str, headers: list[Header]) -> httpx2.Response:
    own = [("Host", HOST), ("X-Forwarded-For", "198.51.100.7")]
    client = service.clients[0] if service.clients else service.client()
    return client.send(httpx2.Request("GET", service.url + path, headers=[*own, *headers]))


def content_of(response: httpx2.Response) -> tuple[Any, ...]:
    """Return everything in a response that does not depend on the single request."""
    own = {"date", "x-cursor", "x-request-id"}
    headers = sorted(item for item in response.headers.multi_items() if item[0] not in own)
    return response.status_code, headers, response.content


def fast_response(service: Service, customer: Customer, path: str, *headers: Header) -> FastResponse | None:
    """Return the response to a request from the cache."""
    target = urlsplit(path)
    sent = [("host", HOST), ("x-api-key", customer.key), ("accept", "application/json"), *headers]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": target.path,
        "query_string": target.query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in sent],
        "client": ("127.0.0.1", 1),
    }
    fast_path = service.application.fast_path
    head = fast_path.read_head(scope)
    found = None if head is None else fast_path.respond(fast_path.context(head, ("127.0.0.1", 1)))
    return None if found is None or found.is_made else found


@pytest.mark.parametrize("path", ["/product?limit=3&sort=price", "/product/PHONE?extra=related", "/product"])
def test_requests_that_differ_in_unknown_parameters_share_the_response(twins: Twins, path: str) -> None:
    service, (customer, other, _) = twins.caching, twins.customers
    for each in (customer, other):
        each.get("/customer")  # the key is cached from here on
    first = fetch(service, path, [("X-Api-Key", customer.key), *JSON])
    between = "&" if "?" in path else "?"
    queries = ["", "_=1", "_=2", "utm_source=mail&utm_medium=x", f"api-key={other.key}", "limit=", "%C3%A9=1"]
    found = [fast_response(service, each, f"{path}{between}{query}") for query in queries for each in (customer, other)]
    bodies = {id(repeated.cached.blocks[0]) for repeated in found if repeated is not None}
    assert all(found)
    assert len(bodies) == 1, "all of them share one body in memory"
    assert first.content == found[0].cached.blocks[0] if found[0] else False


def test_requests_that_differ_in_known_parameters_do_not_share_the_response(twins: Twins) -> None:
    customer = twins.customers[0]
    fetch(twins.caching, "/product?limit=4", [("X-Api-Key", customer.key), *JSON])
    assert fast_response(twins.caching, customer, "/product?limit=4")
    for query in ("limit=4&page=2", "limit=4&inStock=true", "limit=4&extra=related", "limit=4&accept=text/csv"):
        assert fast_response(twins.caching, customer, f"/product?{query}") is None


@pytest.mark.spec("1 Pagination", "links lead to existing pages and keep the rest of the query")
def test_the_links_of_a_shared_response_keep_the_requests_query(twins: Twins) -> None:
    key = ("X-Api-Key", twins.customers[0].key)
    for query in ("limit=1", "limit=1&_=1", "x=%2C,&limit=1&sort=price", "limit=1&_=2", "y&limit=1"):
        kept = "&".join(part if "=" in part else f"{part}=" for part in query.split("&") if part != "limit=1")
        for _ in range(3):
            response = fetch(twins.caching, f"/product?{query}", [key, *JSON])
            assert {url.partition("page=")[0] for url in LINKED.findall(response.headers["Link"])} == {
                f"http://{HOST}/product?{kept}&" if kept else f"http://{HOST}/product?"
            }


def test_cache_keys_do_not_contain_credentials(twins: Twins) -> None:
    service, customer = twins.caching, twins.customers[0]
    fetch(service, f"/product?api-key={customer.key}&limit=2", JSON)
    cache = service.application.fast_path.cache
    kept = repr([(key, found.headers) for key in cache if (found := cache.get(key))])
    assert "limit=2" in kept
    assert customer.key not in kept


known_parts = st.lists(
    st.sampled_from(["limit=2", "page=2", "sort=price", "inStock=true", "extra=related", "query=phone"]), unique=True,
    max_size=3,
)  # fmt: skip
unknown_parts = st.lists(st.sampled_from(["_=", "utm=", "x%20y=", "Limit=", "api_key="]), unique=True, max_size=2)


@dataclass(frozen=True)
class Request:
    """A customer's request with its key in the query or in the header, and with a unique mark."""

    who: int
    sku: str
    parts: list[str]
    in_query: bool
    repeated: int

    def path(self, key: str, mark: str) -> str:
        """Return the path with its query; each unknown parameter has the mark as its value."""
        parts = [f"{part}{mark}" if part.endswith("=") else part for part in self.parts if part != "api-key"]
        if self.in_query:
            parts.insert(self.parts.index("api-key"), f"api-key={key}")
        return f"/product{self.sku}?{'&'.join(parts)}"


requests = st.builds(
    lambda who, sku, known, unknown, order, in_query, repeated: Request(
        who, sku, [part for _, part in sorted(zip(order, [*known, *unknown, "api-key"], strict=False))], in_query,
        repeated,
    ),
    st.integers(0, 2), st.sampled_from(["", "", "/PHONE"]), known_parts, unknown_parts,
    st.permutations(range(6)), st.booleans(), st.integers(1, 3),
)  # fmt: skip


@pytest.mark.spec("5 Authentication", "a customer sees its own prices and orders only")
@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(requests, min_size=2, max_size=6))
def test_no_response_contains_data_of_another_request(twins: Twins, given_requests: list[Request]) -> None:
    keys = [customer.key for customer in twins.customers]
    marks = [f"mark{number:03}" for number in range(len(given_requests))]
    for request, mark in zip(given_requests, marks, strict=True):
        key = keys[request.who]
        headers = JSON if request.in_query else [("X-Api-Key", key), *JSON]
        path = request.path(key, mark)
        expected = fetch(twins.plain, path, headers)
        assert expected.status_code == HTTPStatus.OK
        secrets = [other for other in keys if other != key or not request.in_query]
        strange = [other for other in marks if other != mark] + secrets
        for _ in range(request.repeated + 1):
            response = fetch(twins.caching, path, headers)
            assert content_of(response) == content_of(expected)
            text = repr(response.headers.raw) + response.text
            assert not [part for part in strange if part in text]


def test_only_known_constant_headers_are_cached(twins: Twins) -> None:
    """The cache omits all headers that an endpoint adds for a single request."""
    service, customer = twins.caching, twins.customers[0]
    constant = {
        "cache-control", "content-length", "content-type", "content-security-policy", "etag", "referrer-policy",
        "vary", "x-content-type-options", "x-limit", "x-page", "x-total-count", "x-total-pages",
    }  # fmt: skip
    fetch(service, "/product?limit=6", [("X-Api-Key", customer.key), *JSON])
    repeated = fast_response(service, customer, "/product?limit=6")
    assert repeated is not None
    assert {name.decode() for name, _ in repeated.cached.headers} == constant
    assert {name.decode() for name, _ in repeated.own_headers} == {"x-cursor", "x-request-id", "link"}
