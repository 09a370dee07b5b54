"""`/api/order` and `/api/quote`: what happens to customers' orders."""

from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, pages
from support.billing import invoiced
from support.orders import buy, create, rows
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
    elsewhere = staff.post(f"{address}/tracking", json={**seen, "tracking_number": "t-1 "}).json()
    assert elsewhere["shipping"][0]["tracking_events"][0]["type"] == "Delivered", (
        "numbers are found as orders find them"
    )
    tracked = staff.post(f"{address}/tracking", json=seen).json()
    assert tracked["shipping"][1]["tracking_events"][0]["date"] == "2026-06-16T09:30:00Z"
    seen_by_customer = customer.get(f"/order/{placed['order_reference']}").json()["shipping"][1]["tracking_events"]
    assert seen_by_customer[0]["date"] == "2026-06-16T10:30:00", "the customer sees UK time"
    vague = staff.post(f"{address}/tracking", json={**seen, "date": "2026-06-16T09:30:00"})
    assert (vague.status_code, vague.json()["errors"][0]["field"]) == (400, "date")
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


def test_a_cancellation_can_be_tried_first(staff: httpx2.Client, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 4)])
    body = {"items": [{"id": placed["items"][0]["id"], "quantity": 3}], "reason": "Fewer"}
    headers = {"Idempotency-Key": f"try-{placed['order_id']}"}
    tried = staff.post(f"{address_of(placed)}/cancel?dry_run=true", json=body, headers=headers).json()
    assert (tried["cost_net"], tried["items"][0]["quantity"]) == (50, 1)
    before = staff.get(address_of(placed)).json()
    assert (before["cost_net"], before["items"][0]["quantity"]) == (200, 4)
    done = staff.post(f"{address_of(placed)}/cancel", json=body, headers=headers)
    assert (done.json()["cost_net"], "Idempotent-Replay" in done.headers) == (50, False)
    assert staff.post(f"{address_of(placed)}/cancel?dry_run=true", json={"reason": " "}).status_code == 400


def test_a_shipment_is_corrected_and_taken_back(staff: httpx2.Client, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    sent = {"items": [{"id": placed["items"][0]["id"], "quantity": 2, "serial_numbers": [{"serial_number": "API-1"}]}]}
    [shipment] = staff.post(f"{address_of(placed)}/dispatch", json={**sent, "tracking_number": "T-2"}).json()[
        "shipments"
    ]
    assert (shipment["carrier"], shipment["tracking_number"], shipment["invoice"]) == ("Slowpost", "T-2", None)
    address = f"{address_of(placed)}/shipment/{shipment['id']}"
    tried = staff.patch(f"{address}?dry_run=true", json={"tracking_number": "T-3"}).json()
    assert tried["shipments"][0]["tracking_number"] == "T-3"
    [corrected] = staff.patch(address, json={"carrier": "Parcels & Co"}).json()["shipments"]
    assert (corrected["carrier"], corrected["tracking_number"]) == ("Parcels & Co", "T-2")
    [corrected] = staff.patch(address, json={"carrier": None, "tracking_number": None}).json()["shipments"]
    assert (corrected["carrier"], corrected["tracking_number"]) == ("Slowpost", None)
    for wrong in ({}, {"tracking_number": " "}, {"tracking_number": 7}, {"carrier": "x" * 101}):
        assert staff.patch(address, json=wrong).status_code == 400, wrong

    slip = f"{address_of(placed)}/packing-slip?shipment={shipment['id']}"
    assert staff.get(slip).status_code == 200
    tried = staff.post(f"{address}/take-back?dry_run=true", json={"reason": "a test"}).json()
    assert (tried["shipments"], tried["status"]) == ([], "Awaiting dispatch")
    assert staff.post(f"{address}/take-back", json={"reason": " "}).status_code == 400
    headers = {"Idempotency-Key": f"back-{shipment['id']}"}
    taken = [staff.post(f"{address}/take-back", json={"reason": "a test"}, headers=headers) for _ in range(2)]
    assert [each.status_code for each in taken] == [200, 200]
    assert taken[0].json() == taken[1].json()
    [item] = taken[0].json()["items"]
    assert (item["quantity_allocated"], item["quantity_dispatched"], item["serial_numbers"]) == (2, 0, [])
    assert [each["what"] for each in taken[0].json()["history"]][-1] == "shipment.take_back"
    again = staff.post(f"{address}/take-back", json={"reason": "a test"})
    assert (again.status_code, "was taken back" in again.json()["message"]) == (409, True)
    assert staff.patch(address, json={"tracking_number": "X"}).status_code == 409
    assert staff.get(slip).status_code == 409, "nothing is dispatched"
    assert staff.post(f"{address_of(placed)}/shipment/999999/take-back", json={"reason": "a test"}).status_code == 404
    assert staff.patch(f"{address_of(placed)}/shipment/none", json={"tracking_number": "X"}).status_code == 404


def test_an_invoiced_shipment_is_not_taken_back(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    placed = invoiced(office.service, customer)
    shown = staff.get(address_of(placed)).json()
    [shipment] = shown["shipments"]
    assert shipment["invoice"] == shown["invoices"][0]
    rejected = staff.post(f"{address_of(placed)}/shipment/{shipment['id']}/take-back", json={"reason": "a test"})
    assert rejected.status_code == 409
    assert f"invoice {shipment['invoice']}" in rejected.json()["message"]
    moved = staff.patch(f"{address_of(placed)}/shipment/{shipment['id']}", json={"tracking_number": "LATE"})
    assert moved.json()["shipments"][0]["tracking_number"] == "LATE", "an invoiced shipment can be corrected"


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
    assert found("sku=NOTHING") == []


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


def test_an_id_is_not_the_beginning_of_another_orders_code(
    office: BackOfficeSite, staff: httpx2.Client, customer: Customer
) -> None:
    other = create(customer)["confirmation_code"]
    rows(office.service, "update orders set confirmation_code = %s where confirmation_code = %s returning id",
         f"98765{other[5:]}", other)  # fmt: skip
    assert staff.get("/api/order/98765").status_code == 404
    assert staff.post("/api/order/98765/cancel", json={"reason": "Gone"}).status_code == 404
    assert staff.get(f"/api/order/98765{other[5:]}").json()["state"] == "pending"


def test_a_dispatch_stores_its_texts_without_white_space_around(staff: httpx2.Client, customer: Customer) -> None:
    placed = buy(customer)
    address = address_of(placed)
    item = staff.get(address).json()["items"][0]["id"]
    unit = {"serial_number": " S-9 ", "mac_address": " 00005e005309 "}
    sent = {"items": [{"id": item, "quantity": 1, "serial_numbers": [unit]}], "tracking_number": " T-9 "}
    [shipment] = staff.post(f"{address}/dispatch", json=sent).json()["shipments"]
    assert (shipment["tracking_number"], shipment["items"][0]["serial_numbers"][0]["serial_number"]) == ("T-9", "S-9")
    [found] = customer.get("/order?tracking_number=T-9", headers={"Accept": "application/json"}).json()
    assert found["order_reference"] == placed["order_reference"]
