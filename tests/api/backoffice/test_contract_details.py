"""Details of the back office's contract: times, the history of orders, and where errors are."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.orders import buy
from support.quotes import request_quote
from support.reseller_twin import SELLER
from support.service import Customer, Service
from support.shop import ADDRESS, STANDARD


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop, **SELLER) as running:
        yield running


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


def fields_of(response: httpx2.Response) -> list[str]:
    assert response.status_code == 400, response.text
    return [error["field"] for error in response.json()["errors"]]


def texts_in(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for member in value.values() for text in texts_in(member)]
    if isinstance(value, list):
        return [text for element in value for text in texts_in(element)]
    return [value] if isinstance(value, str) else []


def test_a_new_order_shows_the_ways_to_ship_it(staff: httpx2.Client, customer: Customer) -> None:
    items = [{"sku": "PHONE", "quantity": 1}]
    body = {"customer_id": customer.id, "customer_reference": "T", "items": items}
    made = staff.post("/api/order", json={**body, "billing_address": ADDRESS, "shipping_address": ADDRESS}).json()
    options = {option["id"]: option for option in made["shipping_options"]}
    assert options[STANDARD]["expected_dispatch_date"].endswith("Z")
    confirmed = staff.post(f"/api/order/{made['id']}/confirm", json={"shipping_method": {"id": STANDARD}}).json()
    assert "shipping_options" not in confirmed
    assert [entry["what"] for entry in confirmed["history"]] == ["order.create", "order.confirm"]


def test_the_history_has_the_quote_the_invoices_and_the_credit_notes(staff: httpx2.Client, customer: Customer) -> None:
    quote = request_quote(customer)
    code = quote["confirmation_code"]
    assert staff.post(f"/api/quote/{code}/price", json={"note": "Yes"}).status_code == 200
    order = staff.post(f"/api/quote/{code}/confirm", json={"shipping_method": {"id": STANDARD}}).json()
    address = f"/api/order/{order['order_reference']}"
    staff.post(f"{address}/dispatch")
    [number] = staff.post(f"{address}/invoice").json()["invoices"]
    credited = staff.post(f"/api/invoice/{number}/credit-note", json={"amount": 1, "reason": "Late"})
    assert credited.status_code == 201, credited.text
    history = staff.get(address).json()["history"]
    assert [entry["what"] for entry in history] == [
        "quote.request", "quote.price", "order.confirm", "order.dispatch", "invoice.issue", "credit_note.issue",
    ]  # fmt: skip


def test_a_new_invoice_is_created_with_its_address_and_an_issued_one_stays(
    staff: httpx2.Client, customer: Customer
) -> None:
    placed = buy(customer, [("PHONE", 3)])
    address = f"/api/order/{placed['order_reference']}"
    units = [{"id": placed["items"][0]["id"], "quantity": 1}]
    staff.post(f"{address}/dispatch", json={"items": units})
    key = {"Idempotency-Key": f"invoice {placed['order_reference']}"}
    first = staff.post(f"{address}/invoice", json={"part": True}, headers=key)
    repeated = staff.post(f"{address}/invoice", json={"part": True}, headers=key)
    staff.post(f"{address}/dispatch")
    second = staff.post(f"{address}/invoice")
    again = staff.post(f"{address}/invoice")
    assert [response.status_code for response in (first, repeated, second, again)] == [201, 201, 201, 200]
    numbers = again.json()["invoices"]
    for response, number in ((first, numbers[0]), (repeated, numbers[0]), (second, numbers[1])):
        assert response.headers["Location"] == f"/api/invoice/{number}"
        assert staff.get(response.headers["Location"]).json()["number"] == number
    assert "Location" not in again.headers
    assert again.json() == second.json()


def test_all_times_of_a_quote_are_in_utc(staff: httpx2.Client, customer: Customer) -> None:
    shown = staff.get(f"/api/quote/{request_quote(customer)['confirmation_code']}").json()
    times = [text for text in texts_in(shown) if text.startswith("2026-") and "T" in text]
    assert len(times) > 2
    assert all(text.endswith("Z") for text in times), times


_MAC = "serial_numbers[0].mac_address"


def test_errors_name_items_by_their_places_in_the_body(staff: httpx2.Client, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2), ("CABLE", 2)])
    address = f"/api/order/{placed['order_reference']}"
    phone, cable = (item["id"] for item in staff.get(address).json()["items"])
    numbers = [{"serial_number": "A"}, {"serial_number": "B"}]
    numbered = {"id": cable, "quantity": 1, "serial_numbers": numbers}
    for step, item, field in (
        ("dispatch", {"id": cable, "quantity": 3}, "quantity"),
        ("dispatch", numbered, "serial_numbers[1]"),
        ("dispatch", {**numbered, "serial_numbers": [{"serial_number": "A", "mac_address": "no"}]}, _MAC),
        ("cancel", {"id": 5, "quantity": 1}, "id"),
    ):
        body = {"items": [{"id": phone, "quantity": 1}, item], "reason": "a test"}
        assert fields_of(staff.post(f"{address}/{step}", json=body)) == [f"items[1].{field}"]
    assert fields_of(staff.post(f"{address}/dispatch", json={"tracking_number": " "})) == ["tracking_number"]
    staff.post(f"{address}/dispatch")
    opened = staff.post(f"{address}/return", json={"items": [{"id": cable, "quantity": 1}], "reason": "Faulty"})
    received = {"items": [{"id": cable, "restock": 2}]}
    assert fields_of(staff.post(f"{opened.headers['Location']}/receive", json=received)) == ["items[0].restock"]
    wrong = {"items": [{"id": 5, "quantity": 1}], "reason": "Faulty"}
    assert fields_of(staff.post(f"{address}/return", json=wrong)) == ["items[0].id"]


def test_errors_name_skus_and_shipping_of_a_price_by_their_places(staff: httpx2.Client, customer: Customer) -> None:
    address = f"/api/quote/{request_quote(customer)['confirmation_code']}/price"
    assert fields_of(staff.post(address, json={"items": [{"sku": "NOTHING", "cost_net": 1}]})) == ["items[0].sku"]
    assert fields_of(staff.post(address, json={"shipping": [{"id": 9, "cost_net": 1}]})) == ["shipping[0].id"]


def test_an_adjustment_names_the_place_of_a_wrong_item(staff: httpx2.Client) -> None:
    good = {"sku": "PHONE", "change": 1, "reason": "Found"}
    both = {"items": [good, {"sku": "CABLE", "change": 1, "set": 1, "reason": "Found"}]}
    assert fields_of(staff.post("/api/stock/adjustment", json=both)) == ["items[1]"]
    unknown = staff.post(
        "/api/stock/adjustment", json={"items": [good, {**good, "sku": "PHNE"}, {**good, "sku": "NO"}]}
    )
    assert (unknown.status_code, fields_of(unknown)) == (400, ["items[1].sku", "items[2].sku"])
    assert "did you mean PHONE" in unknown.json()["message"]
    twice = {"items": [good, {**good, "sku": "phone"}]}
    assert fields_of(staff.post("/api/stock/adjustment", json=twice)) == ["items[1].sku"]


@pytest.mark.parametrize("step", ["dispatch", "cancel", "return"])
def test_a_step_without_any_item_is_rejected(staff: httpx2.Client, customer: Customer, step: str) -> None:
    placed = buy(customer)
    address = f"/api/order/{placed['order_reference']}"
    if step == "return":
        staff.post(f"{address}/dispatch")
    rejected = staff.post(f"{address}/{step}", json={"items": [], "reason": "a test"})
    assert (rejected.status_code, rejected.json()["message"]) == (400, "items: must name at least one item")


def test_a_wrong_choice_and_a_wrong_time_say_what_is_valid(staff: httpx2.Client, customer: Customer) -> None:
    wrong = staff.post("/api/payment", json={"customer_id": customer.id, "amount": 1, "method": "gold"})
    assert "'gold' is not one of bank_transfer, direct_debit" in wrong.json()["message"]
    placed = buy(customer)
    for time in ("yesterday", "2026-06-16T09:30:00", "2026-06-16"):
        seen = {"type": "Delivered", "description": "At reception", "date": time}
        wrong = staff.post(f"/api/order/{placed['order_reference']}/tracking", json=seen)
        assert wrong.json()["message"] == "date: must be a time with an offset, such as 2026-06-01T09:30:00Z"
    for time in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"):
        seen = {"type": "Delivered", "description": "At reception", "date": time}
        assert fields_of(staff.post(f"/api/order/{placed['order_reference']}/tracking", json=seen)) == ["date"]


def test_a_date_as_the_end_of_a_range_includes_the_whole_day(staff: httpx2.Client, office: BackOfficeSite) -> None:
    buyer = office.service.customer()
    placed = buy(buyer)
    today = office.service.clock.now().date().isoformat()
    found = staff.get(f"/api/order?customer_id={buyer.id}&created_from={today}&created_to={today}").json()
    assert [order["order_reference"] for order in found] == [placed["order_reference"]]
    entries = staff.get(f"/api/audit?subject=order/{placed['order_reference']}&from={today}&to={today}").json()
    assert [entry["action"] for entry in entries] == ["order.confirm"]
