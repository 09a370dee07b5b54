"""Wrong, repeated, empty and unknown query parameters of the product endpoints."""

import pytest

from support.service import Customer, Service

WHOLE = "must be a whole number"
EXTRAS = "description, description_html, short_description, related, similar"


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    shop.must_load(
        "attributes",
        [
            {"key": "ports", "name": "Ports", "type": "int"},
            {"key": "poe", "name": "PoE", "type": "boolean"},
            {"key": "colour", "name": "Colour", "type": "string"},
        ],
    )
    return shop.customer()


@pytest.mark.sweep(every=8)
@pytest.mark.spec("1 Pagination", "page and limit out of bounds are rejected")
@pytest.mark.spec("4 GET /product", "sort: one of four values; any other is 400")
@pytest.mark.spec("7 400", "an unknown sort")
@pytest.mark.spec("8 Page size", "500 at most, 100 by default, 0 is all")
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("page=0", "page: must be at least 1"),
        ("page=-1", "page: must be at least 1"),
        ("page=one", f"page: {WHOLE}, not 'one'"),
        ("page=1.0", f"page: {WHOLE}, not '1.0'"),
        ("page=1e2", f"page: {WHOLE}, not '1e2'"),
        ("page=%201", f"page: {WHOLE}, not ' 1'"),
        ("page=%2B1", f"page: {WHOLE}, not '+1'"),
        ("page=%D9%A1", f"page: {WHOLE}, not '\u0661'"),
        ("page=null", f"page: {WHOLE}, not 'null'"),
        ("limit=-1", "limit: must be at least 0"),
        ("limit=501", "limit: must be at most 500"),
        ("limit=99999999999", "limit: must be at most 500"),
        ("limit=all", f"limit: {WHOLE}, not 'all'"),
        ("limit=true", f"limit: {WHOLE}, not 'true'"),
        ("sort=Price", "sort: 'Price' is not one of price, availability, sku, name"),
        ("sort=price,name", "sort: 'price,name' is not one of price, availability, sku, name"),
        ("sort=null", "sort: 'null' is not one of price, availability, sku, name"),
        ("sort=%20sku", "sort: ' sku' is not one of price, availability, sku, name"),
        ("reduced=yes", "reduced: 'yes' is not one of true, false"),
        ("clearance=1", "clearance: '1' is not one of true, false"),
        ("inStock=null", "inStock: 'null' is not one of true, false"),
        ("reduced=true&clearance=false", "reduced: contradicts clearance, another name for it: send only one of them"),
        ("reduced=false&clearance=true", "reduced: contradicts clearance, another name for it: send only one of them"),
        ("extra=colour", f"extra: 'colour' is not one of {EXTRAS}"),
        ("extra=related,Similar", f"extra: 'Similar' is not one of {EXTRAS}"),
        ("extra=related_products", f"extra: 'related_products' is not one of {EXTRAS}"),
        ("query=" + "x" * 501, "query: must have at most 500 characters"),
        ("query=%FF", "the query string is not UTF-8"),
        ("query=%ED%A0%80", "the query string is not UTF-8"),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "text/csv"])
def test_an_invalid_value_is_rejected_with_the_parameters_name(
    customer: Customer, query: str, message: str, accept: str
) -> None:
    response = customer.get(f"/product?{query}", headers={"Accept": accept})
    assert (response.status_code, response.json()["message"]) == (400, message)


@pytest.mark.spec("4 GET /product", "attribute: names, operators by type, values")
@pytest.mark.parametrize(
    "filters",
    [
        "ports",
        "ports=",
        "ports=%20",
        "=24",
        "<24",
        "nosuch=1",
        "nosuch>1",
        "ports=many",
        "ports=1e3",
        "ports=0x10",
        "ports=NaN",
        "ports=Infinity",
        "ports=1%2C5",
        "ports=%D9%A1",
        "ports==24",
        "ports=>24",
        "ports!=24",
        "ports<",
        "ports<=",
        "poe<true",
        "poe>=true",
        "colour>red",
        "colour<=red",
        "ports=24,colour",
        "ports=24&attribute=nosuch=1",
    ],
)
def test_an_invalid_attribute_filter_is_rejected(customer: Customer, filters: str) -> None:
    response = customer.get(f"/product?attribute={filters}")
    assert response.status_code == 400, response.text
    assert response.json()["message"].startswith("attribute: ")


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("page=1&page=1", "page"),
        ("limit=10&sort=sku&limit=20", "limit"),
        ("sort=sku&sort=sku", "sort"),
        ("query=a&query=b", "query"),
        ("reduced=true&reduced=true", "reduced"),
        ("clearance=true&clearance=false", "clearance"),
        ("inStock=true&inStock=false", "inStock"),
        ("accept=text/csv&accept=text/csv", "accept"),
        ("page=1&p%61ge=2", "page"),
    ],
)
def test_a_parameter_given_twice_is_rejected_unless_it_is_a_list(customer: Customer, query: str, name: str) -> None:
    response = customer.get(f"/product?{query}")
    assert (response.status_code, response.json()["message"]) == (400, f"{name}: is given more than once")


def test_a_key_sent_twice_is_rejected(shop: Service, customer: Customer) -> None:
    response = shop.client().get(f"/product?api-key={customer.key}&api-key={customer.key}")
    assert (response.status_code, response.content) == (401, b"{}")


@pytest.mark.parametrize(
    "query",
    [
        "",
        "&&",
        "manufacturer=&category=&query=&attribute=&extra=",
        "reduced=&clearance=&inStock=&sort=&accept=&page=&limit=",
        "sort=&sort=sku&sort=",
        "manufacturer=,&extra=,%20,&attribute=,",
        "clearance=false&reduced=",
        "colour=red&colour=blue&Sort=nonsense&PAGE=0",
        "page=1&limit=100",
        "page=01&limit=0100",
    ],
)
def test_empty_and_unknown_parameters_are_ignored(customer: Customer, query: str) -> None:
    response = customer.get(f"/product?{query}")
    assert response.status_code == 200, response.text
    assert [found["sku"] for found in response.json()] == ["CABLE", "PHONE", "SWITCH"]
    assert response.content == customer.get("/product").content


@pytest.mark.spec("4 GET /product/{sku}", "extra, comma-separated")
@pytest.mark.parametrize("extra", ["nonsense", "related,,nonsense", "description&extra=nonsense"])
def test_an_unknown_extra_of_one_product_is_rejected(customer: Customer, extra: str) -> None:
    response = customer.get(f"/product/PHONE?extra={extra}")
    assert (response.status_code, response.json()["message"]) == (400, f"extra: 'nonsense' is not one of {EXTRAS}")


def test_one_product_ignores_the_parameters_of_the_list(customer: Customer) -> None:
    assert customer.get("/product/PHONE?page=0&sort=nonsense&accept=nonsense").status_code == 200
