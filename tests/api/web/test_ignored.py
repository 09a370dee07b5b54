"""`X-Ignored` names ignored parameters and fields (specification, unknown fields)."""

from typing import Any

import pytest

from support.service import Customer, Service
from support.shop import ADDRESS, order


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.mark.parametrize(
    ("path", "ignored"),
    [
        ("/product?in_stock=true&limit=1", "in_stock"),
        ("/product?inStock=true&limit=1", None),
        ("/product?Limit=1&x=1&x=2", "Limit, x"),
        ("/product/PHONE?extra=related&fields=sku", "fields"),
        ("/customer?verbose=1", "verbose"),
        ("/check-health?now", "now"),
        ("/product?limit=1&%0D%0ASet-Cookie%3A+a=1", "%0D%0ASet-Cookie: a"),
        ("/product?limit=1&" + "&".join(f"p{n}=1" for n in range(12)), ", ".join(f"p{n}" for n in range(10))),
    ],
)
def test_unknown_parameters_are_named(customer: Customer, path: str, ignored: str | None) -> None:
    for _ in range(2):  # the second response may be cached
        assert customer.get(path).headers.get("X-Ignored") == ignored


def test_a_key_in_the_query_is_not_ignored(shop: Service, customer: Customer) -> None:
    response = shop.client().get(f"/customer?api-key={customer.key}")
    assert (response.status_code, response.headers.get("X-Ignored")) == (200, None)


def test_unknown_fields_are_named_by_their_path(customer: Customer) -> None:
    body: dict[str, Any] = order(customer_ref="x")
    body["items"] = [{"sku": "PHONE", "quantity": 1, "qty": 2}]
    body["shipping_address"] = {**ADDRESS, "postcode": "LS1 4AP"}
    response = customer.post("/order", body)
    assert response.status_code == 201
    assert set(response.headers["X-Ignored"].split(", ")) == {
        "customer_ref", "items[0].qty", "shipping_address.postcode",
    }  # fmt: skip


def test_a_misspelt_field_is_named_when_the_right_one_is_missing(customer: Customer) -> None:
    response = customer.post("/order", {**order(), "items": [{"sku": "PHONE", "qty": 1}]})
    assert (response.status_code, response.headers["X-Ignored"]) == (400, "items[0].qty")


def test_read_only_fields_are_not_named(customer: Customer) -> None:
    created = customer.post("/order", order()).json()
    again = customer.post("/order", created)
    assert (again.status_code, again.headers.get("X-Ignored")) == (201, None)
    confirmed = customer.put(f"/order/{created['confirmation_code']}", {**created, "shipping_method": {"id": 11}})
    assert (confirmed.status_code, confirmed.headers.get("X-Ignored")) == (200, None)
    assert customer.post("/customer/address", {**ADDRESS, "id": 7}).headers.get("X-Ignored") is None


def test_a_body_that_is_not_an_object_names_nothing(customer: Customer) -> None:
    for body in ([{"x": 1}], 7, None):
        response = customer.post("/order", body)
        assert (response.status_code, response.headers.get("X-Ignored")) == (400, None)
