"""`PUT /order/{reference}`: a pending order is confirmed (specification, sections 3 and 4)."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from support.orders import at, buy, confirm, create, level, outstanding, read, rows, sell, uk
from support.service import MORNING, Customer, Service
from support.shop import ADDRESS, EUROPE, NEXT_DAY, STANDARD, order, price, product
from tradecounter.orders.confirm_order import confirm_order
from tradecounter.orders.lines import OrderLine
from tradecounter.orders.order_context import OrderingPolicy

ONE_SECOND = timedelta(seconds=1)
A_DAY = timedelta(hours=24)


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.mark.spec("2 Order request", "order id and reference are set once confirmed")
@pytest.mark.spec("3 PUT /order/{reference}, in time", "confirmed, with order id and reference")
@pytest.mark.spec("4 PUT /order/{reference}", "the response has order id and reference")
def test_a_confirmed_order_equals_the_created_order_with_ids_and_method(shop: Service) -> None:
    customer = shop.customer()
    pending = create(
        customer,
        [("PHONE", 2), ("CABLE", 1)],
        external_customer_id="EC-1",
        courier_notifications={"phone_number": "0113 496 0000"},
    )
    response = confirm(customer, pending, NEXT_DAY)
    assert response.status_code == 200
    placed = response.json()
    assert isinstance(placed.pop("order_id"), int)
    assert re.fullmatch("ORD-[0-9]+", placed.pop("order_reference"))
    method = placed.pop("shipping_method")
    assert placed == pending
    [offered] = [option for option in pending["shipping_options"] if option["id"] == NEXT_DAY]
    assert method == offered


def test_a_confirmation_returns_the_lines_as_a_repeated_one_reads_them(shop: Service) -> None:
    customer, policy, now = shop.customer(), OrderingPolicy.from_settings(shop.settings), shop.clock.now()
    shop.must_load("products", [product("SET-PART")])
    kit = sell(shop, "SET", available=3, components=[{"sku": "SET-PART", "quantity": 4}])
    code = create(customer, [(kit, 2), (sell(shop, "LOOSE", available=0), 4), (kit, 2)])["confirmation_code"]

    def run() -> list[OrderLine]:
        _, lines = shop.in_transaction(lambda tx: confirm_order(tx, customer.id, code, STANDARD, policy, now))
        return lines

    first, repeated = run(), run()
    assert first == repeated
    assert [(line.allocated, line.back_ordered) for line in first] == [(2, 0), (0, 4), (1, 1)]
    assert [(part.allocated, part.back_ordered) for part in first[2].components] == [(4, 4)]


@pytest.mark.spec("2 Order", "every field, with the type in the table")
@pytest.mark.spec("2 Order", "shipping names its method, its costs and the courier's contacts")
@pytest.mark.spec("4 GET /order/{reference}", "by id or reference, with items and shipping")
def test_a_confirmed_order_reads_back_with_every_field(shop: Service) -> None:
    customer = shop.customer()
    contact = {"email_address": "door@test.example", "phone_number": "0113 496 0000"}
    pending = create(customer, [("PHONE", 5)], customer_reference="PO-9", courier_notifications=contact)
    placed = confirm(customer, pending).json()
    found = read(customer, placed)
    [item] = found.pop("items")
    assert found.pop("changed_on") >= found["created_on"]
    assert found == {
        "id": placed["order_id"],
        "order_reference": placed["order_reference"],
        "customer_reference": "PO-9",
        "cost_net": 225.00,
        "cost_tax": 45.00,
        "cost_gross": 270.00,
        "created_on": "2026-06-16T09:00:00",
        "status": "Awaiting dispatch",
        "shipping": [
            {
                "method_id": STANDARD,
                "contact_email": "door@test.example",
                "contact_phone": "0113 496 0000",
                "cost_net": 7.50,
                "cost_tax": 1.50,
                "tracking_events": [],
            }
        ],
        "shipping_address": ADDRESS,
        "expected_dispatch_date": "2026-06-16T16:00:00",
    }
    assert item.pop("product") == {
        name: value
        for name, value in customer.get("/product/PHONE").json().items()
        if name not in {"description", "short_description"}
    }
    assert item == {
        "id": pending["items"][0]["id"],
        "quantity": 5,
        "cost_net": 225.00,
        "cost_tax": 45.00,
        "related_items": [],
        "configurations": [],
        "serial_numbers": [],
        "quantity_dispatched": 0,
        "quantity_cancelled": 0,
    }


def test_confirming_allocates_stock_and_charges_the_account(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "ALLOCATED", 10, available=5)
    assert confirm(customer, create(customer, [(sku, 3)])).status_code == 200
    assert level(shop, sku) == (2, 3, 0)
    assert outstanding(shop, customer) == Decimal("43.80")


@pytest.mark.spec("4 PUT /order/{reference}", "by the confirmation code alone")
@pytest.mark.spec("7 404", "unknown reference, SKU, address id or code")
@pytest.mark.parametrize("code", ["unknown", "0", "x" * 500, "%00", "%ff", "..%2f"])
def test_an_unknown_code_is_not_found(customer: Customer, code: str) -> None:
    response = customer.put(f"/order/{code}", {"shipping_method": {"id": STANDARD}})
    assert response.status_code == 404


def test_another_customers_code_is_not_found(shop: Service, customer: Customer) -> None:
    code = create(shop.customer())["confirmation_code"]
    foreign, unknown = customer.put(f"/order/{code}"), customer.put("/order/unknown")
    assert foreign.status_code == unknown.status_code == 404
    assert foreign.content.replace(code.encode(), b"unknown") == unknown.content
    assert rows(shop, "select state from orders where confirmation_code = %s", code) == [("pending",)]


@pytest.mark.spec("4 PUT /order/{reference}", "by the confirmation code alone")
def test_an_order_is_not_confirmed_by_its_id_or_reference(customer: Customer) -> None:
    placed = buy(customer)
    for reference in (placed["order_id"], placed["order_reference"]):
        assert customer.put(f"/order/{reference}").status_code == 404


@pytest.mark.spec("3 PUT /order/{reference}, in time", "confirmed, with order id and reference")
@pytest.mark.spec("3 pending, by time", "it cannot be confirmed after 24 hours")
@pytest.mark.spec("8 Pending order lifetime", "24 hours")
def test_a_pending_order_can_be_confirmed_for_exactly_24_hours(shop: Service, customer: Customer) -> None:
    in_time, too_late = create(customer), create(customer)
    with at(shop, MORNING + A_DAY):
        assert confirm(customer, in_time).status_code == 200
    with at(shop, MORNING + A_DAY + ONE_SECOND):
        expired = confirm(customer, too_late)
    assert expired.status_code == 410
    assert "expired" in expired.json()["message"]


@pytest.mark.spec("3 pending, by time", "it cannot be confirmed after 24 hours")
def test_the_lifetime_is_24_elapsed_hours_when_the_clocks_change(shop: Service, customer: Customer) -> None:
    with at(shop, uk(2026, 10, 24, 9)):
        in_time, too_late = create(customer), create(customer)
    with at(shop, uk(2026, 10, 25, 8)):
        assert confirm(customer, in_time).status_code == 200
    with at(shop, uk(2026, 10, 25, 8, 0, 1)):
        assert confirm(customer, too_late).status_code == 410


def test_an_order_confirmed_in_time_can_be_confirmed_again_at_any_time(shop: Service, customer: Customer) -> None:
    pending = create(customer)
    first = confirm(customer, pending).json()
    with at(shop, MORNING + timedelta(days=30)):
        again = confirm(customer, pending)
    assert again.status_code == 200
    assert again.json() == first


@pytest.mark.spec("3 PUT /order/{reference}, expired", "410")
@pytest.mark.spec("7 410", "the pending order has expired")
def test_the_expiry_is_checked_before_the_body(shop: Service, customer: Customer) -> None:
    pending = create(customer)
    with at(shop, MORNING + A_DAY + ONE_SECOND):
        for body in (None, {}, {"shipping_method": {"id": 99}}):
            assert customer.put(f"/order/{pending['confirmation_code']}", body).status_code == 410


@pytest.mark.spec("3 PUT /order/{reference}, without a method", "412, and the order stays pending")
@pytest.mark.spec("7 412", "no shipping method and no default")
@pytest.mark.parametrize("body", [None, {}, {"shipping_method": None}, {"shipping_region": 1, "items": "ignored"}])
def test_without_a_method_or_a_default_nothing_can_be_confirmed(customer: Customer, body: Any) -> None:
    pending = create(customer)
    response = customer.put(f"/order/{pending['confirmation_code']}", body)
    assert response.status_code == 412
    assert response.json()["message"].startswith("shipping_method: ")
    assert confirm(customer, pending).status_code == 200


@pytest.mark.spec("7 400", "an invalid shipping method")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"shipping_method": {"id": 99}}, "shipping_method.id"),
        ({"shipping_method": {"id": EUROPE}}, "shipping_method.id"),
        ({"shipping_method": {"id": 2**70}}, "shipping_method.id"),
        ({"shipping_method": {"id": "11"}}, "shipping_method.id"),
        ({"shipping_method": {"provider": "Slowpost"}}, "shipping_method.id"),
        ({"shipping_method": 11}, "shipping_method"),
        ([], "the body must be an object"),
    ],
)
def test_an_invalid_method_is_rejected_and_the_order_stays_pending(customer: Customer, body: Any, field: str) -> None:
    pending = create(customer, shipping_method={"id": STANDARD})
    response = customer.put(f"/order/{pending['confirmation_code']}", body)
    assert response.status_code == 400
    assert response.json()["message"].startswith(field)
    assert confirm(customer, pending, None).status_code == 200


@pytest.mark.spec("4 PUT /order/{reference}", "every field but the shipping method is ignored")
def test_every_other_field_of_the_body_is_ignored(customer: Customer) -> None:
    pending = create(customer)
    body = {
        "shipping_method": {"id": STANDARD, "cost_net": 0, "provider": 7},
        "customer_reference": "another",
        "items": [],
        "shipping_address": {"country_code": "UK"},
        "auto_confirm": "never",
    }
    placed = customer.put(f"/order/{pending['confirmation_code']}", body)
    assert placed.status_code == 200
    assert placed.json()["customer_reference"] == "PO-1"
    assert placed.json()["shipping_method"]["cost_net"] == 5.50


def test_the_creations_method_is_used_by_default(customer: Customer) -> None:
    placed = confirm(customer, create(customer, shipping_method={"id": NEXT_DAY}), None).json()
    assert placed["shipping_method"]["id"] == NEXT_DAY


def test_the_confirmations_method_replaces_the_creations(customer: Customer) -> None:
    placed = confirm(customer, create(customer, shipping_method={"id": NEXT_DAY}), STANDARD).json()
    assert placed["shipping_method"]["id"] == STANDARD
    assert read(customer, placed)["shipping"][0]["method_id"] == STANDARD


def test_confirming_again_returns_the_same_order_and_changes_nothing(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "ONCE", available=5)
    pending = create(customer, [(sku, 3)])
    first = confirm(customer, pending, STANDARD)
    owed = outstanding(shop, customer)
    with at(shop, uk(2026, 6, 16, 17)):
        for method in (STANDARD, None):
            again = confirm(customer, pending, method)
            assert (again.status_code, again.content) == (200, first.content)
    assert level(shop, sku) == (2, 3, 0)
    assert outstanding(shop, customer) == owed
    assert len(customer.get("/order").json()) == 1


@pytest.mark.parametrize("method", [NEXT_DAY, 99])
def test_confirming_again_with_another_method_is_rejected(customer: Customer, method: int) -> None:
    pending = create(customer)
    first = confirm(customer, pending, STANDARD).json()
    again = confirm(customer, pending, method)
    assert again.status_code == 400
    assert again.json()["message"].startswith("shipping_method.id: ")
    assert read(customer, first)["shipping"][0]["method_id"] == STANDARD


def test_a_pending_order_keeps_the_price_of_its_creation(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "DEARER", 10, available=50)
    pending = create(customer, [(sku, 2)])
    shop.must_load("price-list", [price(sku, 25)])

    placed = confirm(customer, pending).json()
    assert (placed["items"][0]["cost_net"], placed["cost_gross"]) == (20.00, 24.00)
    found = read(customer, placed)
    assert (found["items"][0]["cost_net"], found["cost_gross"]) == (20.00, 24.00)
    assert found["items"][0]["product"]["single_unit_cost"] == 25.00
    assert buy(customer, [(sku, 2)])["cost_net"] == 50.00


def test_a_pending_order_can_be_confirmed_after_its_product_is_withdrawn(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "ENDING", available=5)
    pending = create(customer, [(sku, 1)])
    shop.must_load("products", [{"sku": sku, "active": False}])
    assert customer.post("/order", order([(sku, 1)])).status_code == 400
    assert confirm(customer, pending).status_code == 200


def test_an_orders_creation_time_is_its_confirmation(shop: Service, customer: Customer) -> None:
    pending = create(customer)
    with at(shop, uk(2026, 6, 16, 23, 30)):
        placed = confirm(customer, pending).json()
    assert read(customer, placed)["created_on"] == "2026-06-16T23:30:00"


@pytest.mark.spec("2 Order", "the reference's prefix depends on the packing")
def test_the_reference_prefix_depends_on_the_packing(shop: Service) -> None:
    own, plain = buy(shop.customer(packing="own")), buy(shop.customer(packing="plain"))
    assert [placed["order_reference"][:4] for placed in (own, plain)] == ["ORD-", "PLN-"]
