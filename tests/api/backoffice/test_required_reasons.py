"""A reason that is required shows something, at every address that asks for one; a blank one changes nothing."""

from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.approvals import asked
from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import invoiced, number_of, pay_in
from support.orders import buy, create, dispatch, rows
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import STANDARD, order

BLANKS = ["", "  ", "\t\n", "\u00a0", "\u200b", "\u2060\u00ad "]

SELLER = {
    "seller_name": "Trade & Sons",
    "seller_address": "7 Sales Street, York",
    "seller_vat_number": "GB123456782",
}

Steps = dict[str, tuple[str, dict[str, Any]]]  # the address and the body of each operation; the body lacks the reason


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop, **SELLER) as running:
        yield running


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


@pytest.fixture(scope="module")
def steps(office: BackOfficeSite, staff: httpx2.Client, customer: Customer) -> Steps:
    shop = office.service
    placed, pending, quote, priced = buy(customer), create(customer), request_quote(customer), request_quote(customer)
    price_as_support(shop, priced, ("PHONE", "45"))
    gone, stayed = buy(customer), buy(customer)
    for each in (gone, stayed):
        dispatch(shop, each)
    shipments = f"/api/order/{stayed['order_reference']}/shipment"
    [shipment] = staff.get(shipments.removesuffix("/shipment")).json()["shipments"]
    invoice = number_of(shop, invoiced(shop, customer))
    csv = {"Content-Type": "text/csv"}
    read = staff.post("/api/payment/import", content="date,amount,reference\n2026-06-01,5.00,who is it\n", headers=csv)
    [line] = read.json()["unplaced"]
    units = [{"id": gone["items"][0]["id"], "quantity": 1}]
    method = {"shipping_method": {"id": STANDARD}}
    own = f"/api/order/{placed['order_reference']}"
    return {
        "patch /api/order/{reference}": (own, {"items": [{"id": placed["items"][0]["id"], "quantity": 2}]}),
        "post /api/approval/{code}/decline": (f"/api/approval/{asked(shop, customer)[0]}/decline", {}),
        "post /api/bank-line/{id}/set-aside": (f"/api/bank-line/{line['id']}/set-aside", {}),
        "post /api/customer/{id}/block": (f"/api/customer/{customer.id}/block", {}),
        "post /api/invoice/{number}/credit-note": (f"/api/invoice/{invoice}/credit-note", {"amount": 1}),
        "post /api/order": (
            "/api/order",
            {"customer_id": customer.id, **order(), **method, "auto_confirm": True},
        ),
        "post /api/order/{reference}/cancel": (f"{own}/cancel", {}),
        "post /api/order/{reference}/confirm": (f"/api/order/{pending['confirmation_code']}/confirm", method),
        "post /api/order/{reference}/return": (f"/api/order/{gone['order_reference']}/return", {"items": units}),
        "post /api/order/{reference}/shipment/{id}/take-back": (f"{shipments}/{shipment['id']}/take-back", {}),
        "post /api/payment/{id}/reverse": (f"/api/payment/{pay_in(shop, customer, '1.00').id}/reverse", {}),
        "post /api/quote/{code}/confirm": (f"/api/quote/{priced['confirmation_code']}/confirm", method),
        "post /api/quote/{code}/decline": (f"/api/quote/{quote['confirmation_code']}/decline", {}),
        "post /api/stock/adjustment": ("/api/stock/adjustment", {"items": [{"sku": "PHONE", "change": 1}]}),
    }


OVERRIDES = {
    "patch /api/order/{reference}",
    "post /api/order",
    "post /api/order/{reference}/confirm",
    "post /api/quote/{code}/confirm",
}


def with_reason(operation: str, body: dict[str, Any], reason: str) -> dict[str, Any]:
    if operation in OVERRIDES:
        return {**body, "override_credit": {"reason": reason}}
    if operation == "post /api/stock/adjustment":
        return {"items": [{**body["items"][0], "reason": reason}]}
    return {**body, "reason": reason}


def asks_for_a_reason(schema: Any, schemas: dict[str, Any]) -> bool:
    """Whether a JSON schema has a required `reason` anywhere."""
    if isinstance(schema, list):
        return any(asks_for_a_reason(each, schemas) for each in schema)
    if not isinstance(schema, dict):
        return False
    if "$ref" in schema:
        return asks_for_a_reason(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    return "reason" in schema.get("required", []) or asks_for_a_reason(list(schema.values()), schemas)


def asking(staff: httpx2.Client) -> Iterator[str]:
    document = staff.get("/api/openapi.json").json()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if asks_for_a_reason(body.get("schema"), document["components"]["schemas"]):
                yield f"{method} {path}"


def test_every_operation_that_asks_for_a_reason_is_tried_here(staff: httpx2.Client, steps: Steps) -> None:
    assert sorted(asking(staff)) == sorted(steps)


def test_a_blank_reason_changes_nothing_and_another_is_recorded_without_the_spaces_around_it(
    office: BackOfficeSite, staff: httpx2.Client, steps: Steps
) -> None:
    for reason in [*BLANKS, " as agreed\t"]:
        for operation, (path, body) in steps.items():
            method = operation.split()[0].upper()
            response = staff.request(method, path, json=with_reason(operation, body, reason))
            if reason not in BLANKS:  # so nothing was done before
                assert response.status_code in {200, 201}, (operation, response.text)
                if operation == "post /api/customer/{id}/block":
                    staff.delete(path)
            else:
                assert response.status_code == 400, (operation, reason, response.text)
                assert "reason" in response.json()["message"], (operation, reason, response.text)
    recorded = "select distinct action, coalesce(after ->> 'override_credit', after ->> 'reason') from audit_entry"
    told = {action: reason for action, reason in rows(office.service, recorded) if reason and "as agreed" in reason}
    assert told == dict.fromkeys(told, "as agreed")
    assert {"order.amend", "order.confirm", "payment.reverse"} <= told.keys()
