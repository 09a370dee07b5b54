"""Texts that are required show something: white space and invisible characters alone are rejected everywhere."""

from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy
from support.service import Customer
from support.shop import ADDRESS, STANDARD, order

BLANKS = ["  ", "\u200b", "\ufeff", "\u2060\u00ad ", "\u3164"]
pytestmark = pytest.mark.parametrize("blank", BLANKS)


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


@pytest.fixture(scope="module")
def placed(customer: Customer) -> dict[str, Any]:
    return buy(customer, [("PHONE", 1)])


def rejected(response: httpx2.Response, field: str) -> None:
    assert response.status_code == 400, response.text
    assert field in [each["field"] for each in response.json()["errors"]], response.text


def test_reasons_and_notes(blank: str, staff: httpx2.Client, customer: Customer, placed: dict[str, Any]) -> None:
    address = f"/api/order/{placed['order_reference']}"
    rejected(staff.post(f"{address}/note", json={"text": blank}), "text")
    rejected(staff.post(f"{address}/cancel", json={"reason": blank}), "reason")
    rejected(staff.post(f"/api/customer/{customer.id}/block", json={"reason": blank}), "reason")
    adjusted = {"items": [{"sku": "PHONE", "change": 1, "reason": blank}]}
    assert staff.post("/api/stock/adjustment", json=adjusted).status_code == 400


def test_reasons_to_exceed_the_credit(
    blank: str, staff: httpx2.Client, customer: Customer, placed: dict[str, Any]
) -> None:
    override = {"override_credit": {"reason": blank}}
    body = {"customer_id": customer.id, **order([("PHONE", 1)]), "shipping_method": {"id": STANDARD}}
    rejected(staff.post("/api/order", json={**body, **override}), "override_credit.reason")
    more = {"items": [{"id": placed["items"][0]["id"], "quantity": 2}]}
    address = f"/api/order/{placed['order_reference']}"
    rejected(staff.patch(address, json={**more, **override}), "override_credit.reason")


def test_names(blank: str, staff: httpx2.Client, customer: Customer) -> None:
    address = f"/api/customer/{customer.id}"
    rejected(staff.patch(address, json={"first_name": blank}), "first_name")
    new = {"email_address": "blank@b.example", "first_name": "A", "last_name": blank}
    rejected(staff.post("/api/customer", json=new), "last_name")
    rejected(staff.post(f"{address}/key", json={"name": blank}), "name")


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("field", ["contact_name", "street_one", "city", "zip"])
def test_addresses(blank: str, field: str, staff: httpx2.Client, customer: Customer) -> None:
    address = {**ADDRESS, field: blank}
    rejected(staff.post(f"/api/customer/{customer.id}/address", json=address), field)
    rejected(customer.post("/customer/address", address), field)
    ordered = customer.post("/order", order([("PHONE", 1)], shipping_address=address))
    rejected(ordered, f"shipping_address.{field}")


def test_references(blank: str, customer: Customer) -> None:
    rejected(customer.post("/order", order([("PHONE", 1)], customer_reference=blank)), "customer_reference")
