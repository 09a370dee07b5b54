"""A long response counts by its size against the rate limit, cached or not (guide for API customers, limits)."""

import re
from collections.abc import Iterator

import pytest

from support.orders import buy
from support.service import Customer, Service, running_service
from support.shop import price, product, stock_shop

LIMIT = 20
PRODUCTS = [f"P{number}" for number in range(1_200)]
CSV, JSON = {"Accept": "text/csv"}, {"Accept": "application/json"}


@pytest.fixture(scope="module")
def many(database_url: str) -> Iterator[Service]:
    with running_service(database_url, rate_limit=LIMIT) as service:
        stock_shop(service)
        service.must_load("products", [product(sku) for sku in PRODUCTS])
        service.must_load("price-list", [price(sku, 5) for sku in PRODUCTS])
        yield service


@pytest.fixture
def customer(many: Service) -> Customer:
    many.refresh()
    return many.customer()


def remaining(customer: Customer, path: str, **headers: str) -> int:
    """Return the remaining quota that a response states."""
    response = customer.get(path, headers=headers)
    assert response.status_code in {200, 304}
    found = re.match(r'"customer";r=(\d+);', response.headers["RateLimit"])
    assert found
    return int(found[1])


@pytest.mark.spec("8 Rate limit", "429 until the window of five minutes ends; new orders and quotes are exempt")
def test_a_whole_catalogue_counts_as_one_request_for_every_500_products(customer: Customer) -> None:
    assert remaining(customer, "/customer") == LIMIT - 1
    assert [remaining(customer, "/product", **CSV) for _ in range(3)] == [LIMIT - 4, LIMIT - 7, LIMIT - 10]
    assert [remaining(customer, "/product?limit=0", **JSON) for _ in range(2)] == [LIMIT - 13, LIMIT - 16]


def test_a_page_and_a_short_list_count_as_one_request(customer: Customer) -> None:
    paths = [
        "/product?limit=500",
        "/product?limit=1",
        "/product?limit=0&query=phone",
        "/product?limit=0&page=2",
        "/category",
    ]
    assert [remaining(customer, path, **JSON) for path in paths] == [LIMIT - number for number in range(1, 6)]


def test_polling_an_unchanged_catalogue_counts_as_one_request(customer: Customer) -> None:
    tag = customer.get("/product", headers=CSV).headers["ETag"]
    assert [remaining(customer, "/product", **CSV, **{"If-None-Match": tag}) for _ in range(4)] == [
        LIMIT - number for number in range(4, 8)
    ]
    assert remaining(customer, "/product", **CSV, **{"If-None-Match": "*"}) == LIMIT - 8


def test_a_head_request_for_a_whole_catalogue_counts_as_one_request(customer: Customer) -> None:
    head = customer.http.head("/product?limit=0")
    assert head.headers["RateLimit"].startswith(f'"customer";r={LIMIT - 1};')


def test_any_remaining_quota_allows_one_long_response(customer: Customer) -> None:
    for _ in range(LIMIT - 1):
        customer.get("/customer")
    response = customer.get("/product", headers=CSV)
    assert (response.status_code, response.content.count(b"\r\n")) == (200, len(PRODUCTS) + 4)
    assert response.headers["RateLimit"].startswith('"customer";r=0;')
    assert customer.get("/customer").status_code == 429
    assert customer.get("/product", headers=CSV).status_code == 429


def test_processes_share_the_count_of_long_responses(many: Service, customer: Customer) -> None:
    for _ in range(7):
        customer.get("/product", headers=CSV)
    many.refresh()
    with running_service(many.database_url, now=many.clock.now(), rate_limit=LIMIT) as other:
        there = Customer(customer.id, customer.key, other.client(**{"X-Api-Key": customer.key}))
        assert there.get("/customer").status_code == 200, "until it polls"
        other.refresh()
        assert there.get("/customer").status_code == 429


def test_a_short_order_list_counts_as_one_request(many: Service) -> None:
    buyer = many.customer()
    buy(buyer)
    before = remaining(buyer, "/customer")
    assert remaining(buyer, "/order?limit=0", **JSON) == before - 1
