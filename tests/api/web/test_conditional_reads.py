"""Entity tags and `If-None-Match` (RFC 9110, section 13; caching)."""

import re
from datetime import timedelta

import httpx2
import pytest

from support.orders import at, sell, uk
from support.service import MORNING, Customer, Service, running_service
from support.shop import price

PATHS = ["/product", "/product?sort=price&limit=2", "/product/phone", "/category", "/manufacturer", "/attribute"]
SECURITY = {"x-content-type-options", "referrer-policy", "content-security-policy"}
KEPT = {
    "cache-control": "private, no-cache",
    "vary": "Accept, Accept-Encoding, Authorization, X-Api-Key",
}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def fetch(
    customer: Customer, path: str, if_none_match: str | None = None, coding: str = "identity", **h: str
) -> httpx2.Response:
    headers = {"Accept-Encoding": coding, **h}
    return customer.get(path, headers=headers if if_none_match is None else {**headers, "If-None-Match": if_none_match})


def tag_of(customer: Customer, path: str, coding: str = "identity", **headers: str) -> str:
    found = fetch(customer, path, coding=coding, **headers)
    assert found.status_code == 200
    return found.headers["ETag"]


@pytest.mark.parametrize("path", PATHS)
def test_an_unchanged_response_is_304(customer: Customer, path: str) -> None:
    found = fetch(customer, path)
    tag = found.headers["ETag"]
    assert re.fullmatch(r'"[0-9a-f]{32}"', tag)
    assert {name: found.headers[name] for name in KEPT} == KEPT
    for method in ("GET", "HEAD"):
        again = customer.http.request(method, path, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        names = set(again.headers) - {"date", "x-request-id"}
        cursor = {"x-cursor"} if path.startswith("/product") else set()
        assert names == {"etag", "cache-control", "vary", *SECURITY, *cursor}
        assert again.headers["ETag"] == tag
        assert {name: again.headers[name] for name in KEPT} == KEPT
        assert again.headers["X-Request-Id"]


@pytest.mark.parametrize(
    ("if_none_match", "status"),
    [
        ("{tag}", 304),
        ("W/{tag}", 304),
        ('"other", {tag}', 304),
        ('W/"other" ,\t{tag} , "more"', 304),
        (",, {tag},", 304),
        ('"a,b", {tag}', 304),
        ("*", 304),
        ('"other"', 200),
        ('""', 200),
        ("", 200),
        ("other", 200),
        ("{bare}", 200),
        ('"{bare}', 200),
        ('{bare}"', 200),
        ("'{bare}'", 200),
        ("w/{tag}", 200),
        ("W/ {tag}", 200),
        ("x{tag}", 200),
        ("{tag}x", 200),
        ('"a {bare}"', 200),
        ('*, "other"', 200),
        ('"*"', 200),
        ('"{bare}-deflate"', 200),
        ('"{bare}-"', 200),
        ('"' + "f" * 30_000 + '"', 200),
    ],
)
def test_the_condition_is_parsed_as_http_defines_it(customer: Customer, if_none_match: str, status: int) -> None:
    tag = tag_of(customer, "/product")
    named = if_none_match.replace("{tag}", tag).replace("{bare}", tag.strip('"'))
    assert fetch(customer, "/product", named).status_code == status


def test_the_condition_may_span_several_headers(customer: Customer) -> None:
    lines = [("If-None-Match", '"other"'), ("If-None-Match", tag_of(customer, "/category", "gzip"))]
    assert customer.get("/category", headers=lines).status_code == 304


@pytest.mark.parametrize("coding", ["zstd", "br", "gzip"])
def test_each_coding_has_its_own_tag_and_all_of_them_match(customer: Customer, coding: str) -> None:
    plain, coded = tag_of(customer, "/product"), tag_of(customer, "/product", coding)
    assert coded == f'{plain[:-1]}-{coding}"'
    for named, again in ((coded, coded), (plain, plain), (f"{plain}, {coded}", coded), ("*", coded)):
        found = fetch(customer, "/product", named, coding)
        assert (found.status_code, found.headers["ETag"]) == (304, again)
        assert "Content-Encoding" not in found.headers


def test_a_tag_of_a_coding_that_the_client_no_longer_accepts_does_not_match(customer: Customer) -> None:
    coded = tag_of(customer, "/product", "gzip")
    assert fetch(customer, "/product", coded, "identity").status_code == 200
    assert fetch(customer, "/product", coded, "gzip;q=0, br").status_code == 200
    assert fetch(customer, "/product", coded, "gzip;q=0.1, br").status_code == 304
    plain = tag_of(customer, "/product")
    assert fetch(customer, "/product", plain, "gzip, identity;q=0").status_code == 200


@pytest.mark.parametrize("path", ["/product", "/product?limit=2&sort=price", "/product/PHONE", "/category"])
def test_the_tag_does_not_depend_on_ignored_parameters(customer: Customer, path: str) -> None:
    between = "&" if "?" in path else "?"
    queries = ["", "_=1", "_=2&utm_source=x", "limit=&page=", f"api-key={customer.key}", "%C3%A9=%C3%A9", "&&x"]
    tag = tag_of(customer, path)
    assert {tag_of(customer, f"{path}{between}{query}") for query in queries} == {tag}
    assert fetch(customer, f"{path}{between}_=3", tag).status_code == 304


def test_the_tag_differs_by_format_path_and_query(shop: Service, customer: Customer) -> None:
    tags = [
        tag_of(customer, "/product", Accept="application/json"),
        tag_of(customer, "/product", Accept="text/csv"),
        tag_of(customer, "/product?limit=100"),
        tag_of(customer, "/product?limit=2"),
        tag_of(customer, "/product?limit=2", Host="other.example"),
        tag_of(customer, "/product/PHONE"),
        tag_of(customer, "/product/PHONE?extra=related"),
        tag_of(customer, "/product/CABLE"),
        tag_of(customer, "/category"),
        tag_of(customer, "/attribute"),
        tag_of(shop.customer(trade_account=False), "/product"),
    ]
    assert len(set(tags)) == len(tags)


def test_customers_with_the_same_prices_share_the_tag_and_others_do_not(shop: Service, customer: Customer) -> None:
    shop.must_load("price-list", [price("PHONE", 49, price_list="gold")])
    cheaper, discounted = shop.customer(price_list="gold"), shop.customer(discount="1.5")
    tags = {tag_of(c, "/product") for c in (customer, shop.customer(), cheaper, discounted)}
    assert len(tags) == 3


def test_processes_with_the_same_data_give_the_same_tags(shop: Service, customer: Customer) -> None:
    here, there = "http://a.example", {"X-Api-Key": customer.key, "Host": "a.example", "Accept-Encoding": "zstd"}
    with running_service(shop.database_url) as other:
        for path in PATHS:
            tag = other.client(**there).get(path).headers["ETag"]
            assert tag == shop.client(**there).get(path).headers["ETag"], (here, path)


def test_errors_have_no_tag_and_are_never_304(shop: Service, customer: Customer) -> None:
    for path, status in (("/product?sort=x", 400), ("/product?attribute=x", 400), ("/product/none", 404)):
        found = fetch(customer, path, "*")
        assert (found.status_code, found.headers["Cache-Control"]) == (status, "no-store")
        assert "ETag" not in found.headers
    assert shop.client().get("/product", headers={"If-None-Match": "*"}).status_code == 401


def test_the_condition_is_ignored_for_responses_without_tags(customer: Customer) -> None:
    for path in ("/", "/customer", "/order", "/openapi.json"):
        assert fetch(customer, path, "*").status_code == 200


def test_the_tag_changes_at_midnight_in_the_uk_with_the_prices(shop: Service) -> None:
    sku, customer = sell(shop, "AGREED", 10), shop.customer()
    agreed = {"customer_id": customer.id, "sku": sku, "single_unit_cost": 8, "valid_from": "2026-07-01"}
    shop.must_load("contract-prices", [agreed])
    second = timedelta(seconds=1)
    midnight = uk(2026, 7, 1)
    with at(shop, midnight - second):
        before = fetch(customer, f"/product/{sku}")
        assert before.json()["single_unit_cost"] == 10
    with at(shop, midnight):
        after = fetch(customer, f"/product/{sku}", before.headers["ETag"])
        assert (after.status_code, after.json()["single_unit_cost"]) == (200, 8)
    with at(shop, MORNING + second):
        assert fetch(customer, f"/product/{sku}", before.headers["ETag"]).status_code == 304
