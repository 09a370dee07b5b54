"""A client that knows only the specification can order: it finds every field of it, whatever has been added."""

from typing import Any

import pytest

from support.billing import issue
from support.orders import dispatch
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD

PHONE: dict[str, Any] = {
    "sku": "PHONE",
    "ean": None,
    "name": "Product PHONE",
    "manufacturer": "acme",
    "weight_kg": 1,
    "box_width_mm": 0,
    "box_height_mm": 0,
    "box_length_mm": 0,
    "clearance_product": False,
    "images": [],
    "availability": {"available": 100, "status": "In stock", "incoming": []},
    "single_unit_cost": 50,
    "five_plus_unit_cost": 45,
    "ten_plus_unit_cost": 40,
    "consumer_unit_cost": 0,
    "store_url": "",
    "categories": [],
    "attributes": {},
}
OPTION = {
    "id": STANDARD,
    "provider": "Slowpost",
    "description": "Standard",
    "cost_net": 7.5,
    "expected_dispatch_date": "2026-06-16T16:00:00",
    "expected_arrival_date": "2026-06-18T17:30:00",
}
COSTS = {"cost_net": 225, "cost_tax": 45, "cost_gross": 270}


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer(credit="1000.00")


def specified(found: Any, like: Any) -> Any:
    """Return what is found without the members of objects that `like` has not."""
    if isinstance(like, dict):
        return {name: specified(found[name], like[name]) for name in like if name in found}
    if isinstance(like, list) and len(like) == len(found):
        return [specified(each, one) for each, one in zip(found, like, strict=True)]
    return found


def assert_has(found: Any, wanted: Any) -> None:
    assert specified(found, wanted) == wanted


def test_additions_are_ignored_and_what_is_missing_is_not() -> None:
    assert_has({"a": [{"b": 1, "new": 2}], "new": 3}, {"a": [{"b": 1}]})
    lacking: list[Any] = [{"a": [{}]}, {"a": [{"b": 2}]}, {"a": []}, {}]
    for found in lacking:
        with pytest.raises(AssertionError):
            assert_has(found, {"a": [{"b": 1}]})


@pytest.mark.spec("9 Versioning", "what is added leaves the specified fields as they are")
def test_the_catalogue_and_the_account_are_as_the_specification_tells_them(customer: Customer) -> None:
    listed = customer.get("/product", params={"query": "phone", "inStock": "true", "limit": "1"})
    assert_has(listed.json(), [PHONE])
    assert_has(customer.get("/product/phone").json(), {**PHONE, "description": "", "short_description": ""})
    account = {"email_address": customer.get("/customer").json()["email_address"], "trade_account": True}
    assert_has(customer.get("/customer").json(), {**account, "credit_terms": {"credit_limit": 1000, "term_days": 30}})


def save_address(customer: Customer) -> int:
    address = customer.post("/customer/address", ADDRESS)
    assert_has(address.json(), ADDRESS)
    number: int = address.json()["id"]
    assert_has(customer.get("/customer/address").json(), [{**ADDRESS, "id": number}])
    return number


def create_and_confirm(customer: Customer, address: int) -> dict[str, Any]:
    """Return the confirmed order, as the API sent it."""
    body = {
        "customer_reference": "PO-77",
        "items": [{"sku": "phone", "quantity": 5}],
        "billing_address": {"id": address},
        "shipping_address": {"id": address},
    }
    created = customer.post("/order", body, headers={"Idempotency-Key": "PO-77"})
    pending = {
        "customer_reference": "PO-77",
        "items": [{"sku": "PHONE", "quantity": 5, "cost_net": 225}],
        "billing_address": ADDRESS,
        "shipping_address": ADDRESS,
        "shipping_region": 1,
        "shipping_weight": 5,
        **COSTS,
    }
    assert created.status_code == 201
    assert_has(created.json(), pending)
    [option] = [each for each in created.json()["shipping_options"] if each["id"] == STANDARD]
    assert_has(option, OPTION)
    again = customer.post("/order", body, headers={"Idempotency-Key": "PO-77"})
    assert (again.json(), again.headers["Idempotent-Replay"]) == (created.json(), "true")

    path = f"/order/{created.json()['confirmation_code']}"
    without_method = customer.put(path, {})
    assert (without_method.status_code, without_method.json()["message"].split(":")[0]) == (412, "shipping_method")
    confirmed = customer.put(path, {"shipping_method": {"id": STANDARD}})
    assert confirmed.status_code == 200
    assert_has(confirmed.json(), pending)
    found: dict[str, Any] = confirmed.json()
    return found


def order_of(confirmed: dict[str, Any]) -> dict[str, Any]:
    """Return what the specification says of the order."""
    phone = {key: value for key, value in PHONE.items() if key != "availability"}
    item = {"product": phone, "quantity": 5, "cost_net": 225, "cost_tax": 45, "related_items": [], "configurations": []}
    return {
        "id": confirmed["order_id"],
        "order_reference": confirmed["order_reference"],
        "customer_reference": "PO-77",
        **COSTS,
        "created_on": "2026-06-16T09:00:00",
        "status": "Awaiting dispatch",
        "items": [{**item, "serial_numbers": []}],
        "shipping": [{"method_id": STANDARD, "cost_net": 7.5, "cost_tax": 1.5, "tracking_events": []}],
    }


@pytest.mark.spec("9 Versioning", "what is added leaves the specified fields as they are")
def test_an_order_goes_as_the_specification_tells_it(shop: Service, customer: Customer) -> None:
    address = save_address(customer)
    confirmed = create_and_confirm(customer, address)
    order, path = order_of(confirmed), f"/order/{confirmed['order_reference']}"
    for name in (f"/order/{confirmed['order_id']}", path):
        assert_has(customer.get(name).json(), order)
    assert_has(customer.get("/order").json(), [order])
    assert [customer.get(f"{path}/{document}").status_code for document in ("invoice", "video")] == [412, 404]

    dispatch(shop, confirmed, tracking_number="T1")
    issue(shop, confirmed)
    [shipping] = order["shipping"]
    invoiced = {**order, "status": "Invoiced", "shipping": [{**shipping, "tracking_number": "T1"}]}
    assert_has(customer.get(path).json(), invoiced)
    assert customer.get(f"{path}/invoice").content.startswith(b"%PDF-")
    due = {
        "total_cost": 279,
        "total_paid": 0,
        "total_due": 279,
        "created_on": order["created_on"],
        "due_on": "2026-07-16T23:59:59",
        "is_overdue": False,
        "customer_reference": "PO-77",
        "order_reference": order["order_reference"],
    }
    credit = {"credit_limit": 1000, "total_outstanding": 279, "available_credit": 721, "outstanding_orders": [due]}
    assert_has(customer.get("/customer/credit").json(), credit)
    assert customer.delete(f"/customer/address/{address}").status_code == 204
    assert_has(customer.get(path).json(), invoiced)
