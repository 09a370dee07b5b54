"""Invalid bodies of `POST /order` and their messages (specification, section 7; HTTP in general)."""

from typing import Any

import pytest

from support.orders import rows
from support.service import Customer, Service
from support.shop import ADDRESS, EUROPE, order


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def items(*found: dict[str, Any]) -> dict[str, Any]:
    return {"items": list(found)}


PHONE = {"sku": "PHONE", "quantity": 1}


OPTIONS = "the shipping options: 11 (Slowpost, Standard), 12 (Fastvan, Next day)"


@pytest.mark.sweep(every=8)
@pytest.mark.spec("4 POST /order", "validates, prices, returns options and code; 201")
@pytest.mark.spec("7 400", "invalid data on creation")
@pytest.mark.spec("8 Order items", "at least one item, of at least one unit")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"customer_reference": None}, "customer_reference: must be text, not null"),
        ({"customer_reference": 7}, "customer_reference: must be text, not a whole number"),
        ({"customer_reference": ""}, "customer_reference: must not be empty"),
        ({"customer_reference": " \t "}, "customer_reference: must not be blank"),
        ({"customer_reference": "x" * 101}, "customer_reference: must have at most 100 characters"),
        (items(), "items: must have at least 1 element"),
        ({"items": None}, "items: must be a list, not null"),
        ({"items": PHONE}, "items: must be a list, not an object"),
        (items(*[PHONE] * 501), "items: must have at most 500 elements"),
        (items(PHONE, {"sku": "PHONE", "quantity": 0}), "items[1].quantity: must be at least 1"),
        (items({"sku": "PHONE", "quantity": -1}), "items[0].quantity: must be at least 1"),
        (items({"sku": "PHONE", "quantity": 100_001}), "items[0].quantity: must be at most 100000"),
        (items({"sku": "PHONE", "quantity": "2"}), "items[0].quantity: must be a whole number, not text"),
        (items({"sku": "PHONE", "quantity": True}), "items[0].quantity: must be a whole number, not true or false"),
        (items({"sku": "PHONE"}), "items[0].quantity: is required"),
        (items(PHONE, {"quantity": 1}), "items[1].sku: is required"),
        (items({"sku": "", "quantity": 1}), "items[0].sku: must not be empty"),
        (items(PHONE, {"sku": "NO-SUCH", "quantity": 1}), "items[1].sku: product 'NO-SUCH' does not exist"),
        ({"shipping_method": 11}, "shipping_method: must be an object or null, not a whole number"),
        ({"shipping_method": {}}, "shipping_method.id: is required"),
        ({"shipping_method": {"id": "11"}}, "shipping_method.id: must be a whole number, not text"),
        ({"shipping_method": {"id": 99}}, f"shipping_method.id: 99 is not among {OPTIONS}"),
        ({"shipping_method": {"id": EUROPE}}, f"shipping_method.id: 71 is not among {OPTIONS}"),
        ({"shipping_region": "1"}, "shipping_region: must be a whole number or null, not text"),
        ({"shipping_region": 99}, "shipping_region: region 99 does not exist; the regions are 1, 7"),
        ({"auto_confirm": "yes"}, "auto_confirm: must be true or false or null, not text"),
        ({"external_customer_id": "x" * 201}, "external_customer_id: must have at most 200 characters"),
        ({"order_notifications": []}, "order_notifications: must be an object or null, not a list"),
        ({"billing_address": None}, "billing_address: must be an object, not null"),
        ({"shipping_address": [ADDRESS]}, "shipping_address: must be an object, not a list"),
        ({"shipping_address": {**ADDRESS, "city": 7}}, "shipping_address.city: must be text, not a whole number"),
    ],
)
def test_an_invalid_field_is_rejected_by_name(customer: Customer, change: dict[str, Any], message: str) -> None:
    response = customer.post("/order", {**order(), **change})
    assert response.status_code == 400
    assert response.json()["message"] == message


@pytest.mark.spec("2 Order request", "the required fields are required, the others are not")
@pytest.mark.parametrize("field", ["customer_reference", "items", "billing_address", "shipping_address"])
def test_a_missing_required_field_is_named(customer: Customer, field: str) -> None:
    body = order()
    del body[field]
    response = customer.post("/order", body)
    assert response.status_code == 400
    assert response.json()["message"] == f"{field}: is required"


@pytest.mark.parametrize(
    "notifications", [{"email_address": "nobody"}, {"email_address": "a@b@c"}, {"phone_number": "1" * 41}]
)
@pytest.mark.parametrize("field", ["order_notifications", "courier_notifications"])
def test_invalid_contact_details_are_rejected(customer: Customer, field: str, notifications: dict[str, str]) -> None:
    response = customer.post("/order", {**order(), field: notifications})
    assert response.status_code == 400
    [name] = notifications
    assert response.json()["message"].startswith(f"{field}.{name}: ")


def test_an_inactive_product_cannot_be_ordered(shop: Service, customer: Customer) -> None:
    shop.must_load("products", [{"sku": "CABLE", "active": False}])
    response = customer.post("/order", order([("PHONE", 1), ("CABLE", 1)]))
    shop.must_load("products", [{"sku": "CABLE", "active": True}])
    assert response.status_code == 400
    assert response.json()["message"] == "items[1].sku: product 'CABLE' does not exist"


def test_a_product_without_a_price_for_the_customer_cannot_be_ordered(shop: Service, customer: Customer) -> None:
    shop.must_load("products", [{"sku": "UNPRICED", "name": "Unpriced", "manufacturer": "acme"}])
    other = shop.customer()
    shop.must_load("contract-prices", [{"customer_id": other.id, "sku": "UNPRICED", "single_unit_cost": 5}])
    response = customer.post("/order", order([("UNPRICED", 1)]))
    assert response.status_code == 400
    assert response.json()["message"] == "items[0].sku: product 'UNPRICED' does not exist"
    assert other.post("/order", order([("UNPRICED", 1)])).status_code == 201


def test_an_order_too_heavy_for_every_method_is_rejected(customer: Customer) -> None:
    response = customer.post("/order", order([("SWITCH", 201)]))
    assert response.status_code == 400
    assert response.json()["message"].startswith("shipping_address: no shipping method takes 1005 kg to GB in region 1")


@pytest.mark.spec("8 Order items", "at least one item, of at least one unit")
def test_values_at_the_bounds_are_accepted(customer: Customer) -> None:
    response = customer.post(
        "/order",
        {
            **order(customer_reference="x" * 100, external_customer_id="y" * 200),
            "items": [{"sku": "CABLE", "quantity": 20}] * 499 + [{"sku": "PHONE", "quantity": 1}],
        },
    )
    assert response.status_code == 201, response.text
    assert len(response.json()["items"]) == 500


def test_a_huge_total_is_rejected_for_lack_of_credit(shop: Service) -> None:
    shop.must_load("products", [{"sku": "HUGE", "name": "Huge", "manufacturer": "acme", "weight_kg": 0}])
    shop.must_load("price-list", [{"price_list": "default", "sku": "HUGE", "single_unit_cost": 1_000_000}])
    response = shop.customer().post("/order", {**order(), "items": [{"sku": "HUGE", "quantity": 100_000}] * 500})
    assert response.status_code == 402
    assert "£60,000,000,000,000.00" in response.json()["message"]


def test_a_rejected_order_stores_nothing(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    for change in ({"shipping_method": {"id": 99}}, {"auto_confirm": True}, {"shipping_address": {"id": 1}}):
        assert customer.post("/order", order(**change)).status_code in {400, 412}
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(0,)]
