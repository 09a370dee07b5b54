"""All faults of a body are named in one response, in both APIs (specification, error body)."""

import itertools
from typing import Any

import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy
from support.quotes import request_quote
from support.service import Service
from support.shop import ADDRESS, order

_FAULTS: dict[str, dict[str, Any]] = {
    "customer_reference": {"customer_reference": "  "},
    "items[0].sku": {"items": [{"sku": "NO-SUCH", "quantity": 1}]},
    "items[0].quantity": {"items": [{"sku": "PHONE", "quantity": 0}]},
    "billing_address.city": {"billing_address": {**ADDRESS, "city": " "}},
    "billing_address.id": {"billing_address": {"id": 999_999_999}},
    "shipping_address.country_code": {"shipping_address": {**ADDRESS, "country_code": "UK"}},
    "shipping_method.id": {"shipping_method": {"id": 999_999}},
    "shipping_region": {"shipping_region": 999_999},
    "order_notifications.email_address": {"order_notifications": {"email_address": "a@b>.example"}},
    "external_customer_id": {"external_customer_id": 7},
    "auto_confirm": {"auto_confirm": "yes"},
}
_PAIRS = [
    (first, second)
    for first, second in itertools.combinations(_FAULTS, 2)
    if not _FAULTS[first].keys() & _FAULTS[second].keys()
]


@pytest.mark.sweep
@pytest.mark.parametrize("door", ["/order", "/quote", "/api/order"])
def test_any_two_faults_of_a_body_are_named_together(shop: Service, office: BackOfficeSite, door: str) -> None:
    customer, staff = shop.customer(), office.client(office.token("orders:write"))
    for first, second in _PAIRS:
        body = {**order(), **_FAULTS[first], **_FAULTS[second]}
        if door == "/api/order":
            response = staff.post(door, json={**body, "customer_id": customer.id})
        else:
            response = customer.post(door, body)
        assert response.status_code == 400, (first, second, response.text)
        named = [error["field"] for error in response.json()["errors"]]
        assert sorted(named) == sorted([first, second]), response.json()["message"]


CUSTOMER = {"email_address": "new@b.example", "first_name": "Ada", "last_name": "Buyer"}
_CUSTOMER_FAULTS: dict[str, dict[str, Any]] = {
    "first_name": {"first_name": 7},
    "accounts_email": {"accounts_email": "a@b>.example"},
    "discount": {"discount": 101},
    "credit_limit": {"credit_limit": -1, "term_days": 30},
    "price_list": {"price_list": "no such list"},
    "shipping_method": {"shipping_method": 999_999},
    "trade_account": {"trade_account": "yes"},
}


@pytest.mark.parametrize("size", [2, 3, 4, len(_CUSTOMER_FAULTS)])
def test_any_faults_of_a_customer_are_named_together(office: BackOfficeSite, size: int) -> None:
    staff = office.client(office.token("customers:write", "billing:write"))
    for names in itertools.combinations(_CUSTOMER_FAULTS, size):
        body = CUSTOMER | {key: value for name in names for key, value in _CUSTOMER_FAULTS[name].items()}
        response = staff.post("/api/customer", json=body)
        assert response.status_code == 400, (names, response.text)
        assert sorted(error["field"] for error in response.json()["errors"]) == sorted(names)


def test_credit_terms_that_do_not_go_together_are_named_with_the_other_faults(office: BackOfficeSite) -> None:
    staff = office.client(office.token("customers:write", "billing:write"))
    body = {**CUSTOMER, "credit_limit": 5, "discount": 101, "shipping_method": 999_999}
    response = staff.post("/api/customer", json=body)
    assert sorted(error["field"] for error in response.json()["errors"]) == [
        "credit_limit",
        "discount",
        "shipping_method",
    ]


def test_the_faults_of_other_bodies_are_named_together(shop: Service, office: BackOfficeSite) -> None:
    customer, staff = shop.customer(), office.caller()
    order_path = f"/api/order/{buy(customer)['order_reference']}"
    price = f"/api/quote/{request_quote(customer)['confirmation_code']}/price"
    hook = staff.post("/api/webhook", json={"url": "https://a.example/hook"}).json()["id"]
    address = {**ADDRESS, "contact_name": 7, "city": " ", "country_code": "UK"}
    of_address = ["contact_name", "city", "country_code"]
    unknown = {"items": [{"id": 1, "quantity": 1}, {"id": 2, "quantity": 1}]}
    requests: list[tuple[str, str, Any, list[str]]] = [
        ("POST", f"/api/customer/{customer.id}/address", address, of_address),
        ("POST", f"{order_path}/dispatch", unknown, ["items[0].id", "items[1].id"]),
        ("POST", f"{order_path}/cancel", {**unknown, "reason": "r"}, ["items[0].id", "items[1].id"]),
        ("POST", f"{order_path}/tracking", {"type": " ", "description": " "}, ["type", "description"]),
        (
            "POST",
            f"{order_path}/video",
            {"video_file": "x", "streaming_playlist": "y"},
            ["video_file", "streaming_playlist"],
        ),
        (
            "POST",
            price,
            {"discount": 101, "items": [{"sku": "PHONE", "cost_net": -1}], "note": "x" * 9_000},
            ["items[0].cost_net", "discount", "note"],
        ),
        ("POST", "/api/webhook", {"url": "ftp://x", "types": ["no.such"]}, ["url", "types"]),
        ("PATCH", f"/api/webhook/{hook}", {"url": "ftp://x", "types": ["no.such"]}, ["url", "types"]),
    ]
    for method, path, body, fields in requests:
        response = staff.request(method, path, json=body)
        assert response.status_code == 400, (path, response.text)
        assert [error["field"] for error in response.json()["errors"]] == fields, (path, response.text)
    mine = customer.post("/customer/address", address)
    assert [error["field"] for error in mine.json()["errors"]] == of_address


def test_a_price_that_is_too_low_is_named_once_for_all_lines_of_a_product(
    shop: Service, office: BackOfficeSite
) -> None:
    quote = request_quote(shop.customer(), [("PHONE", 2), ("CABLE", 1), ("PHONE", 1)])
    price = {"items": [{"sku": "PHONE", "cost_net": 1}]}
    rejected = office.caller().post(f"/api/quote/{quote['confirmation_code']}/price", json=price)
    assert [error["field"] for error in rejected.json()["errors"]] == ["items[0].cost_net"]


def test_the_faults_of_a_change_are_named_together(shop: Service, office: BackOfficeSite) -> None:
    staff = office.client(office.token("customers:write", "billing:write"))
    body = {"discount": 101, "price_list": "no such list", "trade_account": "yes", "shipping_method": 999_999}
    response = staff.patch(f"/api/customer/{shop.customer().id}", json=body)
    assert sorted(error["field"] for error in response.json()["errors"]) == sorted(body)
