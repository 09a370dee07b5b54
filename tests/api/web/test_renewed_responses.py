"""Responses that the cache has sent are rendered from new data before the data is shown."""

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.service import Customer, Service, running_service
from support.shop import price
from support.twins import Twins, running_twins
from support.waiting import wait_for

REMAINING = re.compile(r";r=(\d+)")
PATHS = [
    "/product?limit=3",
    "/product?query=phone&sort=price&extra=related",
    "/product/PHONE",
    "/product?limit=2&page=2&_=unknown",
]
HEADERS = [
    {"Accept": "application/json"},
    {"Accept": "text/csv", "Accept-Encoding": "gzip"},
    {"Accept": "application/json", "Accept-Encoding": "zstd"},
]


@pytest.fixture(scope="module")
def twins(database_url: str) -> Iterator[Twins]:
    with running_twins(database_url, {}, {"price_list": "gold"}) as running:
        running.refresh()
        yield running


def fetch(service: Service, customer: Customer, path: str, **headers: str) -> httpx2.Response:
    client = service.clients[0] if service.clients else service.client()
    own = {"Host": "shop.example", "X-Api-Key": customer.key}
    return client.send(httpx2.Request("GET", service.url + path, headers={**own, **headers}))


def content_of(response: httpx2.Response) -> tuple[Any, ...]:
    """Return everything in a response that does not depend on the single request."""
    own = {"date", "x-request-id", "ratelimit", "ratelimit-policy", "x-cursor"}
    return response.status_code, sorted(i for i in response.headers.multi_items() if i[0] not in own), response.content


def change_prices(twins: Twins, pounds: int) -> None:
    lists = ("default", "gold")
    twins.caching.must_load("price-list", [price("PHONE", pounds, price_list=name) for name in lists])
    twins.refresh()


def cached_digests(service: Service, customer: Customer) -> list[Any]:
    """Return the keys, without the digest, of the cached responses for the customer's current view."""
    view = service.application.storefront.last_view(customer.id)
    return [key[1:] for key in service.application.fast_path.cache if view and key[0] == view.digest]


def test_renewed_responses_equal_the_endpoints_responses(twins: Twins) -> None:
    wanted = [(customer, path, headers) for customer in twins.customers for path in PATHS for headers in HEADERS]
    for customer, path, headers in wanted * 3:  # the first response is cached, the others come from the cache
        assert fetch(twins.caching, customer, path, **headers).status_code == 200
    before = [len(cached_digests(twins.caching, customer)) for customer in twins.customers]
    change_prices(twins, 71)
    assert [len(cached_digests(twins.caching, customer)) for customer in twins.customers] == before
    for customer, path, headers in wanted:
        renewed, rendered = (fetch(each, customer, path, **headers) for each in (twins.caching, twins.plain))
        assert content_of(renewed) == content_of(rendered)
    assert [len(cached_digests(twins.caching, customer)) for customer in twins.customers] == before


def test_a_client_that_polls_with_its_entity_tag_gets_the_renewed_response(twins: Twins) -> None:
    customer, path = twins.customers[0], "/product?limit=4"
    tag = fetch(twins.caching, customer, path).headers["ETag"]
    for _ in range(3):
        assert fetch(twins.caching, customer, path, **{"If-None-Match": tag}).status_code == 304
    change_prices(twins, 72)
    assert any("limit=4" in key for key in cached_digests(twins.caching, customer))
    assert fetch(twins.caching, customer, path, **{"If-None-Match": tag}).status_code == 200


def test_only_responses_that_the_cache_has_sent_are_renewed(twins: Twins) -> None:
    customer, path = twins.customers[0], "/product?limit=5"
    assert fetch(twins.caching, customer, path).status_code == 200
    change_prices(twins, 73)
    assert not any("limit=5" in key for key in cached_digests(twins.caching, customer))


def test_a_response_that_nobody_asks_for_again_is_renewed_once(twins: Twins) -> None:
    customer, path = twins.customers[0], "/product?limit=6"
    for _ in range(2):
        fetch(twins.caching, customer, path)
    for pounds, is_cached in ((74, True), (75, False)):
        change_prices(twins, pounds)
        assert any("limit=6" in key for key in cached_digests(twins.caching, customer)) == is_cached


def test_a_renewal_does_not_count_against_the_rate_limit(twins: Twins) -> None:
    customer, path = twins.customers[1], "/product?limit=7"

    def left(response: httpx2.Response) -> int:
        return int(REMAINING.findall(response.headers["RateLimit"])[0])

    with running_service(twins.caching.database_url, rate_limit=100) as service:
        service.refresh()
        before = [left(fetch(service, customer, path)) for _ in range(3)]
        service.must_load("price-list", [price("PHONE", 76)])
        service.must_load("price-list", [price("PHONE", 77, price_list="gold")])
        service.refresh()
        assert any("limit=7" in key for key in cached_digests(service, customer))
        assert [*before, left(fetch(service, customer, path))] == [before[0] - number for number in range(4)]


def test_a_renewal_is_not_counted_as_a_request(twins: Twins) -> None:
    customer, path, service = twins.customers[0], "/product?limit=8", twins.caching

    def counted() -> int:
        return int(sum(number for (number,) in service.application.requests.figures()["requests"].values()))

    before = counted()
    for _ in range(2):
        fetch(service, customer, path)
    wait_for(lambda: counted() == before + 2)
    change_prices(twins, 78)
    assert any("limit=8" in key for key in cached_digests(service, customer))
    fetch(service, customer, path)
    wait_for(lambda: counted() >= before + 3)
    assert counted() == before + 3


def test_a_product_that_is_gone_is_not_renewed(twins: Twins) -> None:
    customer, path = twins.customers[0], "/product/CABLE-GONE"
    twins.caching.must_load("products", [{"sku": "CABLE-GONE", "name": "Cable", "manufacturer": "acme"}])
    twins.caching.must_load("price-list", [price("CABLE-GONE", 3)])
    twins.refresh()
    for _ in range(2):
        assert fetch(twins.caching, customer, path).status_code == 200
    twins.caching.must_load("products", [{"sku": "CABLE-GONE", "active": False}])
    twins.refresh()
    assert not any("/product/CABLE-GONE" in key for key in cached_digests(twins.caching, customer))
    assert fetch(twins.caching, customer, path).status_code == 404
