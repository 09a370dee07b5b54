"""`GET /product?sku=A,B,…`: several products by their SKUs."""

from collections.abc import Iterator
from urllib.parse import quote, unquote

import httpx2
import pytest

from support.service import Customer, Service, running_service
from support.shop import price, product

COMMA, SLASH = "PLUG, UK", "PL/1+2"
SKUS = ["ALPHA", "BETA", "GAMMA", COMMA, SLASH]
MANY = [f"MANY-{number:03}" for number in range(210)]


@pytest.fixture(scope="module")
def stocked(service: Service) -> Service:
    service.must_load("manufacturers", [{"key": "acme", "name": "Acme"}])
    hidden = [product("INACTIVE", active=False), product("PRICELESS")]
    service.must_load("products", [*map(product, [*SKUS, *MANY]), *hidden])
    service.must_load("price-list", [price(sku, 10) for sku in (*SKUS, *MANY, "INACTIVE")])
    service.must_load("stock", [{"sku": "BETA", "available": 5}])
    return service


@pytest.fixture(scope="module")
def customer(stocked: Service) -> Customer:
    return stocked.customer()


def listed(response: httpx2.Response) -> list[str]:
    assert response.status_code == 200, response.text
    return [found["sku"] for found in response.json()]


@pytest.mark.spec("4 GET /product", "by up to 200 SKUs, with the unknown ones named (an addition)")
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("sku=beta", ["BETA"]),
        ("sku=GAMMA,alpha", ["ALPHA", "GAMMA"]),
        ("sku=GAMMA%2Calpha", ["ALPHA", "GAMMA"]),
        ("sku=GAMMA&sku=alpha", ["ALPHA", "GAMMA"]),
        ("sku=ALPHA,ALPHA,%20alpha%20,,", ["ALPHA"]),
        (f"sku={quote(COMMA)},{quote(SLASH, safe='')}", [SLASH, COMMA]),
        ("sku=%2C", []),
        ("sku=ALPHA,BETA&inStock=true", ["BETA"]),
        ("sku=ALPHA,BETA&query=beta", ["BETA"]),
        ("sku=ALPHA,BETA,GAMMA&limit=2&page=2", ["GAMMA"]),
    ],
)
def test_the_products_of_the_skus_are_listed_in_order_of_sku(customer: Customer, query: str, found: list[str]) -> None:
    response = customer.get(f"/product?{query}")
    assert listed(response) == found
    assert "X-Unknown-Sku" not in response.headers


def test_an_empty_list_is_no_filter_as_of_other_lists(customer: Customer) -> None:
    assert customer.get("/product?sku=&limit=1").headers["X-Total-Count"] == str(len(SKUS) + len(MANY))


def test_skus_that_the_customer_cannot_buy_are_named_once_as_sent(customer: Customer) -> None:
    response = customer.get("/product?sku=nothing,ALPHA,inactive,PRICELESS,Nothing,%C3%A9t%C3%A9")
    assert listed(response) == ["ALPHA"]
    assert response.headers["X-Unknown-Sku"] == "nothing, inactive, PRICELESS, %C3%A9t%C3%A9"


def test_an_unknown_sku_with_a_comma_is_read_as_two(customer: Customer) -> None:
    assert customer.get("/product?sku=PLUG%2C%20DE").headers["X-Unknown-Sku"] == "PLUG, DE"


def test_at_most_ten_unknown_skus_are_named_and_within_500_bytes(customer: Customer) -> None:
    ten = customer.get("/product", params={"sku": ",".join(f"X{number}" for number in range(12))})
    assert ten.headers["X-Unknown-Sku"].split(", ") == [f"X{number}" for number in range(10)]
    long = customer.get("/product", params={"sku": ",".join("ü" * 60 + str(number) for number in range(5))})
    assert len(long.headers["X-Unknown-Sku"]) <= 500
    assert unquote(long.headers["X-Unknown-Sku"]) == "ü" * 60 + "0"


def test_a_filter_that_leaves_a_product_out_does_not_make_its_sku_unknown(customer: Customer) -> None:
    response = customer.get("/product?sku=ALPHA,NOTHING&inStock=true")
    assert (listed(response), response.headers["X-Unknown-Sku"]) == ([], "NOTHING")


def test_two_hundred_skus_fit_with_their_links_and_one_more_is_rejected(customer: Customer) -> None:
    first = customer.get("/product", params={"sku": ",".join(MANY[:200])})
    assert listed(first) == MANY[:100]
    assert listed(customer.get(first.links["next"]["url"])) == MANY[100:200]
    rejected = customer.get("/product", params={"sku": ",".join(MANY[:201])})
    problem = "must have at most 200 SKUs, not 201: send several requests"
    assert (rejected.status_code, rejected.json()["errors"][0]["message"]) == (400, problem)
    repeated = customer.get("/product", params=[("sku", sku) for sku in MANY[:201]])
    assert repeated.status_code == 400


def test_skus_whose_links_do_not_fit_are_414_and_all_at_once_need_fewer(customer: Customer) -> None:
    skus = ",".join(f"{sku}{'-' * 30}" for sku in MANY[:200])
    assert customer.get(f"/product?sku={skus},{MANY[0]},{MANY[1]}&limit=1").status_code == 400
    skus = f"{MANY[0]},{MANY[1]},{','.join(['y' * 200] * 25)}"
    assert customer.get(f"/product?sku={skus}&limit=1").status_code == 414
    assert listed(customer.get(f"/product?sku={skus}&limit=0")) == MANY[:2]


def test_csv_has_all_of_them_at_once(customer: Customer) -> None:
    response = customer.get("/product", params={"sku": ",".join(MANY[:150])}, headers={"Accept": "text/csv"})
    assert [line.split(",")[0] for line in response.text.splitlines()[1:]] == MANY[:150]


def test_every_way_of_serving_it_names_the_unknown_and_knows_what_is_current(customer: Customer) -> None:
    headers = {"Accept": "application/json"}
    responses = [customer.get("/product?sku=ALPHA,NOTHING", headers=headers) for _ in range(4)]
    assert {response.content for response in responses} == {responses[0].content}
    assert {response.headers["X-Unknown-Sku"] for response in responses} == {"NOTHING"}
    tag = {response.headers["ETag"] for response in responses}.pop()
    assert customer.get("/product?sku=ALPHA,NOTHING", headers={**headers, "If-None-Match": tag}).status_code == 304
    assert customer.get("/product?sku=ALPHA", headers={**headers, "If-None-Match": tag}).status_code == 200
    head = customer.http.head("/product?sku=ALPHA,NOTHING", headers=headers)
    assert (head.content, head.headers["X-Unknown-Sku"], head.headers["ETag"]) == (b"", "NOTHING", tag)


def test_a_product_that_goes_on_sale_is_unknown_no_longer(stocked: Service, customer: Customer) -> None:
    for _ in range(3):
        before = customer.get("/product?sku=LATE")
    stocked.must_load("products", [product("LATE")])
    stocked.must_load("price-list", [price("LATE", 1)])
    after = customer.get("/product?sku=LATE", headers={"If-None-Match": before.headers["ETag"]})
    assert (listed(before), before.headers["X-Unknown-Sku"]) == ([], "LATE")
    assert (listed(after), "X-Unknown-Sku" in after.headers) == (["LATE"], False)


@pytest.fixture(scope="module")
def without_cache(stocked: Service) -> Iterator[Service]:
    with running_service(stocked.database_url, answer_memory=0) as running:
        yield running


def test_the_response_cache_changes_nothing(without_cache: Service, customer: Customer) -> None:
    plain = without_cache.client(**{"X-Api-Key": customer.key})
    for query in ("sku=NOTHING,ALPHA", "sku=NOTHING%2CALPHA", f"sku={quote(COMMA)}"):
        mine, cached = plain.get(f"/product?{query}"), [customer.get(f"/product?{query}") for _ in range(2)][1]
        assert (mine.json(), mine.headers.get("X-Unknown-Sku")) == (cached.json(), cached.headers.get("X-Unknown-Sku"))
