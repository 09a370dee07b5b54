"""Amounts in JSON are in whole pence: more decimal places are an error, never rounded, at every address."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.billing import invoiced, number_of
from support.orders import buy, create
from support.pages import customer_user
from support.quotes import request_quote
from support.service import Customer
from support.shop import ADDRESS, STANDARD

NUMBERS = ["1.005", "0.001", "2.999999999999", "1e-3", "19.99000000000000000001"]


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


def amounts_of(schema: Any, schemas: dict[str, Any], place: str = "") -> Iterator[str]:
    """The places of all numbers in a JSON schema that are not whole."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    for way in ("anyOf", "oneOf", "allOf"):
        for each in schema.get(way, []):
            yield from amounts_of(each, schemas, place)
    if "items" in schema:
        yield from amounts_of(schema["items"], schemas, f"{place}[]")
    for name, each in schema.get("properties", {}).items():
        yield from amounts_of(each, schemas, f"{place}.{name}")
    if "number" in (kind if isinstance(kind := schema.get("type"), list) else [kind]):
        yield place


@pytest.fixture(scope="module")
def doors(office: BackOfficeSite, staff: httpx2.Client, customer: Customer) -> dict[str, tuple[str, str]]:
    """The address and the body of each operation, by its amount, for which {} stands."""
    shop = office.service
    placed, quote = buy(customer), request_quote(customer)
    invoice = number_of(shop, invoiced(shop, customer))
    csv = {"Content-Type": "text/csv"}
    read = staff.post("/api/payment/import", content="date,amount,reference\n2026-06-01,5.00,a friend\n", headers=csv)
    [line] = read.json()["unplaced"]
    mine, price = f"/api/customer/{customer.id}", f"/api/quote/{quote['confirmation_code']}/price"
    new = '"email_address": "pence@b.example", "first_name": "A", "last_name": "B"'
    item, pending = placed["items"][0]["id"], create(customer)
    address = json.dumps(ADDRESS)
    order = f'"customer_id": {customer.id}, "billing_address": {address}, "shipping_address": {address}'
    chosen = f'"shipping_method": {{"id": {STANDARD}}}'
    return {
        "patch /api/customer/{id}.credit_limit": (mine, '{"credit_limit": {}, "term_days": 30}'),
        "patch /api/customer/{id}.discount": (mine, '{"discount": {}}'),
        "patch /api/customer/{id}/user/{user_id}.order_limit": (
            f"{mine}/user/{customer_user(shop, customer.id, 'buyer').id}", '{"order_limit": {}}',
        ),
        "patch /api/order/{reference}.items[].unit_cost": (
            f"/api/order/{placed['order_reference']}", f'{{"items": [{{"id": {item}, "unit_cost": {{}}}}]}}',
        ),
        "post /api/bank-line/{id}/place.amount": (
            f"/api/bank-line/{line['id']}/place", f'{{"invoice": {invoice}, "amount": {{}}}}',
        ),
        "post /api/customer.credit_limit": ("/api/customer", f'{{{new}, "term_days": 30, "credit_limit": {{}}}}'),
        "post /api/customer.discount": ("/api/customer", f'{{{new}, "discount": {{}}}}'),
        "post /api/remittance.amount": (
            "/api/remittance", f'{{"customer_id": {customer.id}, "invoices": [{invoice}], "amount": {{}}}}',
        ),
        "post /api/invoice/{number}/credit-note.amount": (
            f"/api/invoice/{invoice}/credit-note", '{"reason": "r", "amount": {}}',
        ),
        "post /api/order.items[].max_unit_cost": (
            "/api/order", f'{{{order}, "items": [{{"sku": "PHONE", "quantity": 1, "max_unit_cost": {{}}}}]}}',
        ),
        "post /api/order.max_cost_gross": (
            "/api/order", f'{{{order}, "items": [{{"sku": "PHONE", "quantity": 1}}], "max_cost_gross": {{}}}}',
        ),
        "post /api/order/{reference}/confirm.max_cost_gross": (
            f"/api/order/{pending['confirmation_code']}/confirm", f'{{{chosen}, "max_cost_gross": {{}}}}',
        ),
        "post /api/quote/{code}/confirm.max_cost_gross": (
            price.replace("/price", "/confirm"), f'{{{chosen}, "max_cost_gross": {{}}}}',
        ),
        "post /api/payment.amount": ("/api/payment", f'{{"invoice": {invoice}, "amount": {{}}}}'),
        **{
            f"post /api/price-change.{how}": ("/api/price-change", f'{{"{how}": {{}}}}')
            for how in ("lower_amount", "lower_percent", "margin", "raise_amount", "raise_percent")
        },
        "post /api/quote/{code}/price.discount": (price, '{"discount": {}}'),
        "post /api/quote/{code}/price.items[].cost_net": (price, '{"items": [{"sku": "PHONE", "cost_net": {}}]}'),
        "post /api/quote/{code}/price.shipping[].cost_net": (
            price, f'{{"shipping": [{{"id": {STANDARD}, "cost_net": {{}}}}]}}',
        ),
    }  # fmt: skip


def test_every_amount_of_the_document_is_tried_here(staff: httpx2.Client, doors: dict[str, tuple[str, str]]) -> None:
    document = staff.get("/api/openapi.json").json()
    found = [
        f"{method} {path}{place}"
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        for place in amounts_of(
            operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {}),
            document["components"]["schemas"],
        )
    ]
    assert sorted(set(found)) == sorted(doors)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("number", NUMBERS)
def test_a_part_of_a_penny_is_rejected_and_changes_nothing(
    staff: httpx2.Client, customer: Customer, doors: dict[str, tuple[str, str]], number: str
) -> None:
    before = staff.get(f"/api/customer/{customer.id}").json()
    for door, (path, body) in doors.items():
        if ".max_" in door:  # a limit is compared, not stored: a program may have calculated it
            continue
        response = staff.request(
            door.split()[0].upper(),
            path,
            content=body.replace("{}", number),
            headers={"Content-Type": "application/json"},
        )
        assert response.status_code == 400, (door, response.text)
        assert "decimal places" in response.json()["message"], (door, response.text)
    assert staff.get(f"/api/customer/{customer.id}").json() == before
    assert "pence@b.example" not in {one["email_address"] for one in staff.get("/api/customer").json()}


def test_zeros_at_the_end_are_no_part_of_a_penny(staff: httpx2.Client, customer: Customer) -> None:
    text = '{"credit_limit": 1000.5000, "term_days": 30, "discount": 2.500}'
    address, json = f"/api/customer/{customer.id}", {"Content-Type": "application/json"}
    changed = staff.patch(address, content=text, headers=json).json()
    assert (changed["credit_limit"], changed["discount"]) == (1000.5, 2.5)
