"""`/api/order` and `/api/quote`: what happens to customers' orders."""

from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, pages
from support.orders import buy, create
from support.service import Customer
from support.shop import NEXT_DAY, order


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


def address_of(placed: dict[str, Any]) -> str:
    return f"/api/order/{placed['order_reference']}"


def test_a_pending_order_and_a_confirmed_one_are_shown(staff: httpx2.Client, customer: Customer) -> None:
    pending = create(customer)
    shown = staff.get(f"/api/order/{pending['confirmation_code']}").json()
    assert (shown["state"], shown["customer_id"], shown["shipments"]) == ("pending", customer.id, [])
    assert "order_reference" not in shown
    placed = buy(customer)
    shown = staff.get(address_of(placed)).json()
    [item] = shown["items"]
    assert (item["quantity"], item["quantity_allocated"], item["quantity_dispatched"]) == (1, 1, 0)
    assert (item["product"]["sku"], item["unit_cost"]) == ("PHONE", 50)
    assert shown["created_on"].endswith("Z")
    assert staff.get("/api/order/NOTHING").status_code == 404


def test_an_order_is_dispatched_tracked_filmed_and_invoiced_once_each(staff: httpx2.Client, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    address = address_of(placed)
    assert staff.post(f"{address}/invoice").status_code == 409
    item = staff.get(address).json()["items"][0]["id"]
    numbers = [{"serial_number": "A1", "mac_address": "00005e005301"}]
    part = {"items": [{"id": item, "quantity": 1, "serial_numbers": numbers}], "tracking_number": "T-1"}
    headers = {"Idempotency-Key": f"dispatch-{item}"}
    shown = staff.post(f"{address}/dispatch", json=part, headers=headers)
    assert staff.post(f"{address}/dispatch", json=part, headers=headers).json() == shown.json()
    [shipment] = shown.json()["shipments"]
    assert shipment["tracking_number"] == "T-1"
    number = {"serial_number": "A1", "mac_address": "00:00:5E:00:53:01", "provisioning_sku": ""}
    assert shipment["items"] == [{"id": item, "quantity": 1, "serial_numbers": [number]}]
    rest = staff.post(f"{address}/dispatch").json()
    assert rest["status"] == "Dispatched"
    assert rest["items"][0]["quantity_dispatched"] == 2
    assert staff.post(f"{address}/dispatch").status_code == 409
    seen = {"type": "Delivered", "description": "At reception", "date": "2026-06-16T09:30:00Z"}
    tracked = staff.post(f"{address}/tracking", json=seen).json()
    assert tracked["shipping"][1]["tracking_events"][0]["date"] == "2026-06-16T09:30:00Z"
    seen_by_customer = customer.get(f"/order/{placed['order_reference']}").json()["shipping"][1]["tracking_events"]
    assert seen_by_customer[0]["date"] == "2026-06-16T10:30:00", "the customer sees UK time"
    video = {"video_file": "https://v.example/1.mp4", "streaming_playlist": "https://v.example/1.m3u8"}
    assert staff.post(f"{address}/video", json=video).status_code == 200
    assert customer.get(f"/order/{placed['order_reference']}/video").json() == video
    assert staff.post(f"{address}/video", json={**video, "video_file": "x"}).status_code == 400


def test_without_items_all_that_is_allocated_leaves(staff: httpx2.Client, customer: Customer) -> None:
    placed = buy(customer, [("SWITCH", 5)], NEXT_DAY)
    shown = staff.post(f"{address_of(placed)}/dispatch", json={}).json()
    [item] = shown["items"]
    assert (item["quantity_dispatched"], item["quantity_back_ordered"]) == (3, 2)
    assert staff.post(f"{address_of(placed)}/dispatch", json={}).status_code == 409


def test_a_cancelled_order_releases_its_units_and_cannot_be_cancelled_again(
    staff: httpx2.Client, customer: Customer
) -> None:
    before = staff.get("/api/product/CABLE").json()["stock"]
    placed = buy(customer, [("CABLE", 7)])
    assert staff.get("/api/product/CABLE").json()["stock"]["allocated"] == before["allocated"] + 7
    cancelled = staff.post(f"{address_of(placed)}/cancel", json={"reason": "Twice"}).json()
    [item] = cancelled["items"]
    assert (cancelled["state"], item["quantity"], item["quantity_cancelled"]) == ("cancelled", 0, 7)
    assert staff.get("/api/product/CABLE").json()["stock"] == before
    assert staff.post(f"{address_of(placed)}/cancel", json={"reason": "Twice"}).status_code == 409
    assert staff.post(f"{address_of(placed)}/cancel", json={"reason": " "}).status_code == 400


def test_orders_are_listed_by_cursor_and_filtered(staff: httpx2.Client, office: BackOfficeSite) -> None:
    customer = office.service.customer()
    placed = [buy(customer, [("CABLE", 1)], customer_reference=f"L-{n}") for n in range(3)]
    pending = create(customer)
    mine = f"/api/order?customer_id={customer.id}"
    listed = [found for page in pages(staff, f"{mine}&limit=2") for found in page]
    references = [found["order_reference"] for found in placed]
    assert [found.get("order_reference") for found in listed] == [*references, None]
    assert listed[3]["confirmation_code"] == pending["confirmation_code"]

    def found(query: str) -> list[str]:
        return [each["order_reference"] for each in staff.get(f"{mine}&{query}").json()]

    assert found("state=confirmed") == references
    assert found("status=awaiting dispatch&customer_reference=l-1") == [references[1]]
    assert found(f"reference={references[2]}&sku=cable") == [references[2]]
    assert found("created_from=2030-01-01") == found("state=cancelled") == []
    assert found("state=confirmed&created_to=2030-01-01T00:00:00Z") == references
    for wrong in ("state=lost", "status=lost", "created_from=soon", "customer_id=0"):
        assert staff.get(f"{mine}&{wrong}").status_code == 400
    assert staff.get(f"{mine}&sku=NOTHING").status_code == 404


def test_a_quote_is_listed_priced_and_priced_again(staff: httpx2.Client, office: BackOfficeSite) -> None:
    customer = office.service.customer()
    code = customer.post("/quote", order([("PHONE", 10)])).json()["confirmation_code"]
    [listed] = staff.get(f"/api/quote?customer_id={customer.id}").json()
    assert (listed["confirmation_code"], listed["status"]) == (code, "Waiting")
    price = {"items": [{"sku": "phone", "cost_net": 35.5}], "shipping": [{"id": NEXT_DAY, "cost_net": 0}], "note": "Hi"}
    priced = staff.post(f"/api/quote/{code.upper()}/price", json=price).json()
    assert (priced["cost_net"], priced["status"], priced["note"]) == (355, "Priced", "Hi")
    assert priced["expires_at"].endswith("Z")
    assert staff.get(f"/api/quote/{code}").json() == priced
    assert customer.get(f"/quote/{code}").json()["cost_net"] == 355
    wrong = staff.post(f"/api/quote/{code}/price", json={"items": [{"sku": "NONE", "cost_net": 1}]})
    assert wrong.status_code == 400
    assert staff.get("/api/quote/0000").status_code == 404
    confirmed = staff.post(f"/api/quote/{code}/confirm", json={"shipping_method": {"id": NEXT_DAY}}).json()
    happened = ["quote.request", "quote.price", "order.confirm"]
    assert [each["what"] for each in confirmed["history"]] == happened
