"""Orders and amendments of support name an address of the customer's address book by its id."""

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy
from support.service import Customer
from support.shop import ADDRESS, order

YORK = {**ADDRESS, "city": "York", "zip": "YO1 7HH"}


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


@pytest.fixture(scope="module")
def saved(customer: Customer) -> int:
    made: int = customer.post("/customer/address", YORK).json()["id"]
    return made


def test_an_amendment_takes_a_saved_address(staff: httpx2.Client, customer: Customer, saved: int) -> None:
    address = f"/api/order/{buy(customer)['order_reference']}"
    amended = staff.patch(address, json={"shipping_address": {"id": saved}})
    assert amended.status_code == 200, amended.text
    assert amended.json()["shipping_address"] == {**YORK, "id": saved}
    whole = staff.patch(address, json={"shipping_address": ADDRESS})
    assert whole.json()["shipping_address"] == ADDRESS
    previewed = staff.patch(f"{address}?dry_run=true", json={"shipping_address": {"id": saved}})
    assert previewed.json()["shipping_address"]["city"] == "York"
    assert staff.get(address).json()["shipping_address"] == ADDRESS


def test_an_amendment_takes_only_an_existing_address_of_the_customer(
    staff: httpx2.Client, customer: Customer, office: BackOfficeSite
) -> None:
    address = f"/api/order/{buy(customer)['order_reference']}"
    others = office.service.customer().post("/customer/address", YORK).json()["id"]
    deleted = customer.post("/customer/address", YORK).json()["id"]
    customer.delete(f"/customer/address/{deleted}")
    for number in (others, deleted, 999_999):
        rejected = staff.patch(address, json={"shipping_address": {"id": number}})
        assert rejected.status_code == 400
        assert (
            rejected.json()["message"] == f"shipping_address.id: {number} is not an address of customer {customer.id}"
        )
    assert staff.patch(address, json={"shipping_address": {"id": "one"}}).status_code == 400
    assert staff.patch(address, json={"shipping_address": {"id": 2**70}}).status_code == 400


def test_an_order_for_a_customer_takes_saved_addresses(staff: httpx2.Client, customer: Customer, saved: int) -> None:
    body = {"customer_id": customer.id, **order(shipping_address={"id": saved}, billing_address={"id": saved})}
    created = staff.post("/api/order", json=body)
    assert created.status_code == 201, created.text
    assert created.json()["shipping_address"] == created.json()["billing_address"] == {**YORK, "id": saved}
    wrong = staff.post("/api/order", json={**body, "shipping_address": {"id": 999_999}})
    assert wrong.status_code == 400
