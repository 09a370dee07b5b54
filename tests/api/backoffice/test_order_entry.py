"""Orders that support creates, confirms and amends for customers, and what it decides about quotes."""

from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.error_bodies import error_body
from support.orders import buy, create, level, outstanding, rows, sell
from support.quotes import request_quote
from support.service import Customer
from support.shop import ADDRESS, NEXT_DAY, STANDARD, order

OVERRIDE = {"override_credit": {"reason": "Paid by card today"}}


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


@pytest.fixture(scope="module")
def support(office: BackOfficeSite) -> httpx2.Client:
    """A client that may not override credit."""
    return office.caller("orders:write", "quotes:write")


def test_an_order_for_a_customer_is_created_once_and_confirmed(staff: httpx2.Client, customer: Customer) -> None:
    body = {"customer_id": customer.id, **order([("PHONE", 2)])}
    headers = {"Idempotency-Key": "for-a-customer"}
    created = staff.post("/api/order", json=body, headers=headers)
    assert created.status_code == 201, created.text
    assert staff.post("/api/order", json=body, headers=headers).json() == created.json()
    address = created.headers["Location"]
    assert staff.get(address).json() == created.json()
    shown = created.json()
    assert (shown["state"], shown["customer_id"], shown["cost_net"]) == ("pending", customer.id, 100)
    confirmed = staff.post(f"{address}/confirm", json={"shipping_method": {"id": NEXT_DAY}})
    assert (confirmed.status_code, confirmed.json()["status"]) == (200, "Awaiting dispatch")
    assert confirmed.json()["shipping"][0]["cost_net"] == 10
    assert staff.post(f"{address}/confirm").json()["order_reference"] == confirmed.json()["order_reference"]
    assert staff.post("/api/order", json={**body, "customer_id": 999_999}).status_code == 404
    wrong = staff.post("/api/order", json={**body, "items": [{"sku": "NONE", "quantity": 1}]})
    assert wrong.status_code == 400
    assert staff.post("/api/order/NONE/confirm").status_code == 404


def test_only_finance_overrides_credit(staff: httpx2.Client, support: httpx2.Client, office: BackOfficeSite) -> None:
    customer = office.service.customer(credit="100")
    body = {"customer_id": customer.id, **order([("PHONE", 2)]), "auto_confirm": True}
    body["shipping_method"] = {"id": STANDARD}
    assert support.post("/api/order", json=body).status_code == 402
    rejected = support.post("/api/order", json={**body, **OVERRIDE})
    assert (rejected.status_code, rejected.json()) == (
        403,
        error_body("scope_needed", "this needs the scope billing:write"),
    )
    placed = staff.post("/api/order", json={**body, **OVERRIDE}).json()
    assert placed["state"] == "confirmed"
    address = f"/api/order/{placed['order_reference']}"
    more = {"items": [{"id": placed["items"][0]["id"], "quantity": 3}]}
    assert support.patch(address, json=more).status_code == 402
    assert support.patch(address, json={**more, **OVERRIDE}).status_code == 403
    assert staff.patch(address, json={**more, **OVERRIDE}).json()["items"][0]["quantity"] == 3
    pending = staff.post("/api/order", json={**body, **OVERRIDE, "auto_confirm": False}).json()
    confirm = f"/api/order/{pending['confirmation_code']}/confirm"
    method = {"shipping_method": {"id": STANDARD}}
    assert support.post(confirm, json=method).status_code == 402
    assert support.post(confirm, json={**method, **OVERRIDE}).status_code == 403
    assert staff.post(confirm, json={**method, **OVERRIDE}).json()["state"] == "confirmed"


def test_an_unknown_sku_in_an_amendment_is_named_by_its_place(staff: httpx2.Client, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    items = [{"id": placed["items"][0]["id"], "quantity": 3}, {"sku": "NOTHING", "quantity": 1}]
    rejected = staff.patch(f"/api/order/{placed['order_reference']}", json={"items": items})
    assert rejected.status_code == 400
    assert [error["field"] for error in rejected.json()["errors"]] == ["items[1].sku"]


def test_an_amendment_is_previewed_then_made(staff: httpx2.Client, customer: Customer, office: BackOfficeSite) -> None:
    sku = sell(office.service, "AMENDED", 10, available=9)
    placed = buy(customer, [(sku, 2), ("CABLE", 1)])
    address, owed = f"/api/order/{placed['order_reference']}", outstanding(office.service, customer)
    before = staff.get(address).json()
    change: dict[str, Any] = {
        "items": [
            {"id": before["items"][0]["id"], "quantity": 5, "unit_cost": 9.5},
            {"id": before["items"][1]["id"], "quantity": 0},
            {"sku": "switch", "quantity": 1, "unit_cost": 250},
        ],
        "shipping_address": ADDRESS,
        "shipping_method": {"id": NEXT_DAY},
        "customer_reference": "PO-77",
        "reason": "As agreed",
    }
    entries = rows(office.service, "select count(*) from audit_entry")
    preview = staff.patch(f"{address}?dry_run=true", json=change).json()
    assert staff.get(address).json() == before
    assert outstanding(office.service, customer) == owed
    assert rows(office.service, "select count(*) from audit_entry") == entries
    amended = staff.patch(address, json=change).json()
    assert (amended["cost_net"], amended["customer_reference"]) == (preview["cost_net"], "PO-77") == (297.5, "PO-77")
    assert [(item["product"]["sku"], item["quantity"], item["unit_cost"]) for item in amended["items"]] == [
        (sku, 5, 9.5),
        ("SWITCH", 1, 250),
    ]
    assert level(office.service, sku) == (4, 5, 0)
    assert amended["history"][-1]["what"] == "order.amend"
    unknown = staff.patch(address, json={"items": [{"id": 999_999_999, "quantity": 1}]})
    assert unknown.status_code == 400
    dispatched = f"/api/order/{buy(customer)['order_reference']}"
    assert staff.post(f"{dispatched}/dispatch").status_code == 200
    assert staff.patch(dispatched, json={"customer_reference": "PO-78"}).status_code == 409


def test_units_are_cancelled_and_notes_added(staff: httpx2.Client, customer: Customer) -> None:
    address = f"/api/order/{buy(customer, [('CABLE', 5)])['order_reference']}"
    item = staff.get(address).json()["items"][0]["id"]
    shown = staff.post(f"{address}/cancel", json={"items": [{"id": item, "quantity": 2}], "reason": "Fewer"}).json()
    assert (shown["state"], shown["items"][0]["quantity"], shown["items"][0]["quantity_cancelled"]) == (
        "confirmed",
        3,
        2,
    )
    more = {"items": [{"id": item, "quantity": 4}], "reason": "Fewer"}
    assert staff.post(f"{address}/cancel", json=more).status_code == 400
    noted = staff.post(f"{address}/note", json={"text": "Call first"}, headers={"X-Acting-User": "sam"}).json()
    [note] = noted["notes"]
    assert (note["text"], note["by"]) == ("Call first", "sam")
    assert staff.get(address).json()["notes"] == noted["notes"]
    assert staff.post(f"{address}/note", json={"text": " "}).status_code == 400


def test_a_quote_is_previewed_with_its_margin_and_guarded(
    staff: httpx2.Client, customer: Customer, office: BackOfficeSite
) -> None:
    sku = sell(office.service, "MARGIN", 100, available=10, purchase_cost="60")
    address = f"/api/quote/{request_quote(customer, [(sku, 2)])['confirmation_code']}"
    before = staff.get(address).json()
    assert before["margin"] == {"net": 200, "purchase": 120, "margin": 80, "percent": 40}
    preview = staff.post(f"{address}/price?dry_run=true", json={"discount": 20}).json()
    assert (preview["status"], preview["margin"]["percent"]) == ("Priced", 25)
    assert staff.get(address).json() == before
    assert staff.post(f"{address}/confirm").status_code == 412
    assert staff.post(f"{address}/price", json={"discount": 45}).status_code == 400
    assert staff.post(f"{address}/price", json={"discount": 101}).status_code == 400
    forced = staff.post(f"{address}/price", json={"discount": 45, "force": True}).json()
    assert (forced["cost_net"], forced["margin"]["margin"]) == (110, -10)
    placed = staff.post(f"{address}/confirm", json={"shipping_method": {"id": STANDARD}}).json()
    assert (placed["state"], placed["cost_net"]) == ("confirmed", 110)
    assert staff.post(f"{address}/decline", json={"reason": "Too late"}).status_code == 409


def test_a_declined_quote_cannot_be_priced_or_declined_again(staff: httpx2.Client, customer: Customer) -> None:
    address = f"/api/quote/{request_quote(customer)['confirmation_code']}"
    assert staff.post(f"{address}/decline", json={"reason": " "}).status_code == 400
    declined = staff.post(f"{address}/decline", json={"reason": "No longer made"})
    assert (declined.status_code, declined.json()["status"]) == (200, "Declined")
    assert staff.post(f"{address}/decline", json={"reason": "Again"}).status_code == 409
    assert staff.post(f"{address}/price", json={"discount": 5}).status_code == 409
    assert staff.post("/api/quote/0000/decline", json={"reason": "None"}).status_code == 404


def test_a_pending_order_is_no_quote(staff: httpx2.Client, customer: Customer) -> None:
    code = create(customer)["confirmation_code"]
    assert staff.post(f"/api/quote/{code}/confirm").status_code == 404


def test_no_message_calls_a_declined_quote_cancelled(staff: httpx2.Client, customer: Customer) -> None:
    quote = request_quote(customer)
    code = quote["confirmation_code"]
    address, unit = f"/api/order/{code}", {"items": [{"id": quote["items"][0]["id"], "quantity": 1}]}
    urls = {"video_file": "https://a.example/a", "streaming_playlist": "https://a.example/b"}
    staff.post(f"/api/quote/{code}/decline", json={"reason": "No longer made"}).raise_for_status()
    steps: list[tuple[str, str, Any]] = [
        ("POST", f"/api/quote/{code}/price", {"discount": 5}),
        ("POST", f"/api/quote/{code}/decline", {"reason": "again"}),
        ("POST", f"/api/quote/{code}/confirm", {}),
        ("POST", f"{address}/confirm", {}),
        ("POST", f"{address}/dispatch", unit),
        ("POST", f"{address}/invoice", {}),
        ("POST", f"{address}/cancel", {"reason": "r"}),
        ("POST", f"{address}/return", {**unit, "reason": "r"}),
        ("POST", f"{address}/video", urls),
        ("PATCH", address, unit),
        ("GET", f"{address}/picking-list", None),
        ("GET", f"{address}/packing-slip", None),
    ]
    responses = [staff.request(method, path, json=body) for method, path, body in steps]
    responses.append(customer.put(f"/order/{code}"))
    for response in responses:
        assert response.status_code in {409, 410}, response.text
        assert "declined" in response.json()["message"]
        assert "cancelled" not in response.json()["message"]
