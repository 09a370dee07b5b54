"""Nearly correct requests succeed or get a suggestion (specification, forgiven)."""

from typing import Any

import pytest

from support.error_bodies import error_body
from support.orders import buy, create
from support.service import Customer, Service


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/products", "/product"),
        ("/product/", "/product"),
        ("/Product", "/product"),
        ("/products/PHONE", "/product/PHONE"),
        ("/categories", "/category"),
        ("/orders/ORD-1/", "/order/ORD-1"),
        ("/orders/7/invoices", "/order/7/invoice"),
        ("/customers/addresses", "/customer/address"),
        ("/oauth/tokens", "/oauth/token"),
        ("/check-health/", "/check-health"),
        ("//quote", "/quote"),
    ],
)
def test_a_nearly_correct_path_gets_a_suggestion(customer: Customer, path: str, meant: str) -> None:
    response = customer.http.request("GET", customer.http.base_url.join("/").copy_with(raw_path=path.encode()))
    assert response.status_code == 404
    assert response.json()["message"] == f"unknown path {path}; did you mean {meant}?"


@pytest.mark.parametrize("path", ["/nothing", "/product-list", "/order/1/2/3/4", "/produc", "/" + "s" * 300])
def test_a_path_unlike_any_other_gets_no_suggestion(customer: Customer, path: str) -> None:
    response = customer.get(path)
    assert (response.status_code, response.json()) == (404, error_body("not_found", "unknown path"))


@pytest.fixture(scope="module")
def placed(customer: Customer) -> dict[str, Any]:
    return buy(customer)


def test_references_ignore_case_and_surrounding_white_space(customer: Customer, placed: dict[str, Any]) -> None:
    plain = customer.get(f"/order/{placed['order_reference']}")
    for spelled in (placed["order_reference"].lower(), f"%20{placed['order_reference']}%20"):
        assert customer.get(f"/order/{spelled}").content == plain.content
    digits = placed["order_reference"].rpartition("-")[2]
    for other in (f"XYZ-{digits}", f"-{digits}", f"{placed['order_reference']}0"):
        assert customer.get(f"/order/{other}").status_code == 404


def test_confirmation_codes_ignore_case(customer: Customer) -> None:
    code = create(customer)["confirmation_code"]
    assert customer.put(f"/order/%20{code.upper()}", {"shipping_method": {"id": 11}}).status_code == 200


def test_confirming_by_an_order_reference_says_that_the_order_is_confirmed(
    shop: Service, customer: Customer, placed: dict[str, Any]
) -> None:
    for reference in (placed["order_reference"], placed["order_reference"].lower(), placed["order_id"]):
        response = customer.put(f"/order/{reference}")
        assert response.status_code == 404
        assert response.json()["message"].startswith(f"{placed['order_reference']} is already confirmed")
        foreign = shop.customer().put(f"/order/{reference}")
        wanted = f"no pending order or quote has the confirmation_code {reference}"
        assert foreign.json()["message"] == wanted


@pytest.mark.spec("1 Pagination", "pages count from 1; a page beyond the end is empty")
@pytest.mark.parametrize(
    "page", ["9007199254740991", "9007199254740992", "9007199254740993", str(2**63), "9" * 100, "0" * 150 + "7"]
)
@pytest.mark.parametrize("path", ["/product", "/order"])
def test_a_page_of_any_number_of_digits_is_beyond_the_end(customer: Customer, path: str, page: str) -> None:
    response = customer.get(f"{path}?page={page}", headers={"Accept": "application/json"})
    assert (response.status_code, response.json()) == (200, [])
    assert response.headers["X-Page"] == page.lstrip("0")


@pytest.mark.parametrize("path", ["/product", "/order"])
@pytest.mark.parametrize(
    ("query", "problem"),
    [(f"page={'9' * 101}", "page: must have at most 100 digits"), (f"limit={'9' * 101}", "limit: must be at most 500"),
     ("limit=9007199254740993", "limit: must be at most 500"), (f"page=-{'9' * 40}", "page: must be at least 1")],
)  # fmt: skip
def test_a_number_that_no_list_has_is_rejected(customer: Customer, path: str, query: str, problem: str) -> None:
    response = customer.get(f"{path}?{query}", headers={"Accept": "application/json"})
    assert (response.status_code, response.json()["message"]) == (400, problem)


@pytest.mark.parametrize("flag", ["True", "TRUE", "true"])
def test_flags_ignore_case(customer: Customer, flag: str) -> None:
    found = customer.get(f"/product?inStock={flag}", headers={"Accept": "application/json"})
    assert found.json() == customer.get("/product?inStock=true", headers={"Accept": "application/json"}).json()


def test_white_space_around_a_key_is_ignored(shop: Service, customer: Customer) -> None:
    client = shop.client()
    assert client.get(f"/customer?api-key=%20{customer.key}%0A").status_code == 200
