"""`PUT /customer/address/{id}`."""

import pytest

from support.orders import create, rows
from support.service import Customer, Service
from support.shop import ADDRESS


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def test_an_address_is_replaced_and_keeps_its_id(shop: Service, customer: Customer) -> None:
    saved = customer.post("/customer/address", {**ADDRESS, "street_two": "Unit 7"}).json()
    replaced = customer.put(f"/customer/address/{saved['id']}", {**ADDRESS, "city": "York"})
    assert replaced.status_code == 200
    assert (replaced.json()["id"], replaced.json()["city"]) == (saved["id"], "York")
    assert "street_two" not in replaced.json()
    assert replaced.json() in customer.get("/customer/address").json()
    audited = "select actor_kind, before ->> 'city', after ->> 'city' from audit_entry where action = 'address.change'"
    assert rows(shop, f"{audited} order by id desc limit 1") == [("key", "Leeds", "York")]


def test_orders_keep_the_address_that_they_were_created_with(customer: Customer) -> None:
    number = customer.post("/customer/address", ADDRESS).json()["id"]
    pending = create(customer, shipping_address={"id": number})
    customer.put(f"/customer/address/{number}", {**ADDRESS, "city": "York"})
    assert customer.get(f"/order/{pending['confirmation_code']}").json()["shipping_address"]["city"] == "Leeds"


def test_a_wrong_address_is_named_and_changes_nothing(customer: Customer) -> None:
    saved = customer.post("/customer/address", ADDRESS).json()
    rejected = customer.put(f"/customer/address/{saved['id']}", {**ADDRESS, "country_code": "ZZ"})
    assert rejected.json()["errors"][0]["field"] == "country_code"
    assert customer.get("/customer/address").json()[-1] == saved


def test_an_address_of_another_customer_or_a_deleted_one_is_unknown(shop: Service, customer: Customer) -> None:
    saved = customer.post("/customer/address", ADDRESS).json()
    path = f"/customer/address/{saved['id']}"
    assert shop.customer().put(path, {**ADDRESS, "city": "York"}).status_code == 404
    assert customer.get("/customer/address").json()[-1] == saved
    customer.delete(path)
    assert customer.put(path, ADDRESS).status_code == 404
