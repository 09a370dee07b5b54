"""Paging of `GET /product`: the slice, the counting headers and the links."""

import csv
import io
import re

import httpx2
import pytest

from support.service import Customer, Service, running_service
from support.shop import price, product

TOTAL = 250
SKUS = [f"P{n:03}" for n in range(TOTAL)]
LINK = re.compile(r'<([^>]*)>; rel="([a-z]+)"')


@pytest.fixture(scope="module")
def customer(service: Service) -> Customer:
    service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    service.must_load("products", [product(sku) for sku in SKUS])
    service.must_load("price-list", [price(sku, 1) for sku in SKUS])
    return service.customer()


def numbers(response: httpx2.Response) -> tuple[int, ...]:
    """Return total count, page, limit and total pages."""
    return tuple(int(response.headers[name]) for name in ("X-Total-Count", "X-Page", "X-Limit", "X-Total-Pages"))


def links(response: httpx2.Response) -> dict[str, str]:
    """Return the links' query strings by relation; all links must start with the request's address."""
    found = LINK.findall(response.headers["Link"])
    assert response.headers["Link"] == ", ".join(f'<{url}>; rel="{rel}"' for url, rel in found)
    base = str(response.url).split("?")[0] + "?"
    assert all(url.startswith(base) for url, _ in found)
    return {rel: url.removeprefix(base) for url, rel in found}


def listed(response: httpx2.Response) -> list[str]:
    assert response.status_code == 200, response.text
    if response.headers["Content-Type"] == "application/json":
        return [found["sku"] for found in response.json()]
    return [line["sku"] for line in csv.DictReader(io.StringIO(response.text, newline=""))]


JSON_PAGES = [
    ("", SKUS[:100], (TOTAL, 1, 100, 3), {"first": 1, "next": 2, "last": 3}, 100),
    ("page=1", SKUS[:100], (TOTAL, 1, 100, 3), {"first": 1, "next": 2, "last": 3}, 100),
    ("page=2", SKUS[100:200], (TOTAL, 2, 100, 3), {"first": 1, "prev": 1, "next": 3, "last": 3}, 100),
    ("page=3", SKUS[200:], (TOTAL, 3, 100, 3), {"first": 1, "prev": 2, "last": 3}, 100),
    ("page=4", [], (TOTAL, 4, 100, 3), {"first": 1, "prev": 3, "last": 3}, 100),
    ("page=999999999999", [], (TOTAL, 999999999999, 100, 3), {"first": 1, "prev": 3, "last": 3}, 100),
    ("limit=500", SKUS, (TOTAL, 1, 500, 1), {"first": 1, "last": 1}, 500),
    ("limit=250", SKUS, (TOTAL, 1, 250, 1), {"first": 1, "last": 1}, 250),
    ("limit=125&page=2", SKUS[125:], (TOTAL, 2, 125, 2), {"first": 1, "prev": 1, "last": 2}, 125),
    ("limit=1&page=250", SKUS[-1:], (TOTAL, 250, 1, 250), {"first": 1, "prev": 249, "last": 250}, 1),
    ("limit=0", SKUS, (TOTAL, 1, 0, 1), {"first": 1, "last": 1}, 0),
    ("limit=0&page=1", SKUS, (TOTAL, 1, 0, 1), {"first": 1, "last": 1}, 0),
    ("limit=0&page=2", [], (TOTAL, 2, 0, 1), {"first": 1, "prev": 1, "last": 1}, 0),
]


@pytest.mark.sweep(every=8)
@pytest.mark.spec("1 Pagination", "the body is a plain array or table; the headers say total, page, limit and pages")
@pytest.mark.spec("4 GET /product", "as JSON or CSV, in pages")
@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
@pytest.mark.parametrize(("query", "found", "counts", "pages", "limit"), JSON_PAGES)
def test_a_page_has_its_products_counts_and_links(
    customer: Customer,
    query: str,
    found: list[str],
    counts: tuple[int, ...],
    pages: dict[str, int],
    limit: int,
    accept: str,
) -> None:
    query = query or "limit=100"  # JSON's default; CSV has none
    response = customer.get(f"/product?{query}", headers={"Accept": accept})
    assert listed(response) == found
    assert numbers(response) == counts
    assert links(response) == {rel: f"page={page}&limit={limit}" for rel, page in pages.items()}


@pytest.mark.spec("1 Pagination", "a page has 100 results unless limit says otherwise; 0 is everything")
@pytest.mark.spec("8 Page size", "500 at most, 100 by default, 0 is all")
def test_json_without_page_and_limit_is_the_first_hundred(customer: Customer) -> None:
    response = customer.get("/product")
    assert (listed(response), numbers(response)) == (SKUS[:100], (TOTAL, 1, 100, 3))
    assert links(response)["next"] == "page=2&limit=100"


@pytest.mark.spec("1 Pagination", "the CSV catalogue is whole unless page or limit is given; orders are always paged")
@pytest.mark.spec("8 Unpaginated CSV catalogue", "whole without limit and page")
def test_csv_without_page_and_limit_is_the_whole_catalogue(customer: Customer) -> None:
    response = customer.get("/product?page=&limit=", headers={"Accept": "text/csv"})
    assert (listed(response), numbers(response)) == (SKUS, (TOTAL, 1, 0, 1))
    assert links(response) == {"first": "page=1&limit=0", "last": "page=1&limit=0"}


@pytest.mark.spec("1 Pagination", "the CSV catalogue is whole unless page or limit is given; orders are always paged")
def test_csv_with_only_a_page_has_pages_of_a_hundred(customer: Customer) -> None:
    response = customer.get("/product?page=3", headers={"Accept": "text/csv"})
    assert (listed(response), numbers(response)) == (SKUS[200:], (TOTAL, 3, 100, 3))


@pytest.mark.parametrize(
    ("query", "counts"),
    [
        ("", (0, 1, 100, 0)),
        ("limit=7", (0, 1, 7, 0)),
        ("limit=0", (0, 1, 0, 0)),
        ("page=2", (0, 2, 100, 0)),
        ("accept=text/csv", (0, 1, 0, 0)),
    ],
)
def test_an_empty_result_has_no_page_and_no_link(customer: Customer, query: str, counts: tuple[int, ...]) -> None:
    response = customer.get(f"/product?manufacturer=anonymous&{query}")
    assert listed(response) == []
    assert numbers(response) == counts
    assert "Link" not in response.headers


@pytest.mark.spec("1 Pagination", "links lead to existing pages and keep the rest of the query")
@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("sort=sku&limit=9&query=p&page=2&inStock=false", "sort=sku&query=p&inStock=false&"),
        ("manufacturer=acme&manufacturer=x%2C&x=%C3%A9+y", "manufacturer=acme&manufacturer=x%2C&x=%C3%A9+y&"),
        ("extra=related,similar&p%61ge=2&query=&flag", "extra=related,similar&query=&flag=&"),
        ("a=<b>&c=%22&d=100%25", "a=%3Cb%3E&c=%22&d=100%25&"),
        ("p=1,2;3:4/5?6@7!8'9(0)*~", "p=1,2;3:4/5?6@7!8'9(0)*~&"),
    ],
)
def test_links_keep_the_other_parameters_in_order(customer: Customer, query: str, kept: str) -> None:
    response = customer.get(f"/product?{query}")
    assert response.status_code == 200, response.text
    for target in links(response).values():
        assert re.fullmatch(re.escape(kept) + r"page=\d+&limit=\d+", target)


@pytest.mark.spec("1 Pagination", "links lead to existing pages and keep the rest of the query")
def test_following_the_links_visits_every_page_once(customer: Customer) -> None:
    response, found = customer.get("/product?limit=60&sort=sku"), []
    while True:
        found += listed(response)
        following = {rel: url for url, rel in LINK.findall(response.headers["Link"])}
        if "next" not in following:
            break
        response = customer.get(following["next"])
    assert found == SKUS
    assert listed(customer.get(following["first"])) == SKUS[:60]
    assert listed(customer.get(following["prev"])) == SKUS[180:240]


def test_a_key_in_the_query_is_kept_in_the_links(service: Service, customer: Customer) -> None:
    anonymous = service.client()
    response = anonymous.get(f"/product?limit=100&api-key={customer.key}&sort=sku")
    following = {rel: url for url, rel in LINK.findall(response.headers["Link"])}
    assert following["next"] == f"{service.url}/product?api-key={customer.key}&sort=sku&page=2&limit=100"
    assert listed(anonymous.get(following["next"])) == SKUS[100:200]


def test_a_key_in_the_header_is_not_in_the_links(customer: Customer) -> None:
    assert customer.key not in customer.get("/product").headers["Link"]


def test_links_start_with_the_configured_public_address(database_url: str, customer: Customer) -> None:
    with running_service(database_url, base_url="https://api.example/trade") as other:
        response = other.client(**{"X-Api-Key": customer.key}).get("/product?limit=200&sort=sku")
    public = "https://api.example/trade/product?sort=sku&"
    assert {rel: url for url, rel in LINK.findall(response.headers["Link"])} == {
        rel: f"{public}page={page}&limit=200" for rel, page in (("first", 1), ("next", 2), ("last", 2))
    }
