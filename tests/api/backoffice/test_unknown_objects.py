"""A response about an unknown object says which it is, at every address that names one."""

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.orders import buy, dispatch
from support.quotes import request_quote
from support.service import Customer

pytestmark = pytest.mark.sweep

UNKNOWN = dict.fromkeys(["sku", "reference", "code", "confirmation_code", "kind"], "NO-SUCH")


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


def example_of(operation: dict[str, Any]) -> Any:
    """The body that the interface document shows, if there is one."""
    media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    return next((each["value"] for each in media.get("examples", {}).values()), media.get("example"))


def addressed(client: httpx2.Client, document: str) -> Iterator[tuple[str, httpx2.Response, set[str]]]:
    """Send a request with unknown names to each address that has some; yield its response and the names."""
    for path, operations in client.get(document).json()["paths"].items():
        names = re.findall(r"{(\w+)}", path)
        unknown = {name: UNKNOWN.get(name, "987654") for name in names}
        if path.startswith("/api/return/"):
            unknown["number"] = "RET-987654"
        for method, operation in operations.items() if names else ():
            response = client.request(method.upper(), path.format(**unknown), json=example_of(operation))
            yield f"{method} {path}", response, {name.lower() for name in unknown.values()}


def test_every_address_names_what_is_unknown(staff: httpx2.Client, customer: Customer) -> None:
    found = [*addressed(staff, "/api/openapi.json"), *addressed(customer.http, "/openapi.json")]
    assert len(found) > 60
    for operation, response, names in found:
        assert response.status_code == 404, (operation, response.text)
        assert any(name in response.json()["message"].lower() for name in names), (operation, response.text)


FILTERS = {
    "customer_id": "987654", "invoice": "987654", "bank_file": "987654", "sku": "NO-SUCH", "reference": "NO-SUCH",
    "customer_reference": "NO-SUCH", "external_id": "NO-SUCH", "manufacturer": "no-such", "category": "no-such",
    "email_address": "no@such.example", "subject": "order/NO-SUCH", "actor": "no@such.example",
}  # fmt: skip


def test_a_filter_of_what_is_unknown_finds_nothing(staff: httpx2.Client) -> None:
    tried = 0
    for path, operations in staff.get("/api/openapi.json").json()["paths"].items():
        if "{" in path or path == "/api/price" or "get" not in operations:
            continue
        names = {parameter.get("name") for parameter in operations["get"].get("parameters", ())}
        for name in names & set(FILTERS):
            response = staff.get(path, params={name: FILTERS[name]})
            assert (response.status_code, response.json()) == (200, []), (path, name)
            tried += 1
    assert tried > 20


def test_bodies_and_inner_addresses_name_what_is_unknown(
    office: BackOfficeSite, staff: httpx2.Client, customer: Customer
) -> None:
    gone = buy(customer)
    dispatch(office.service, gone)
    placed, quote = buy(customer, [("PHONE", 2)]), request_quote(customer)
    order, quoted = f"/api/order/{placed['order_reference']}", f"/api/quote/{quote['confirmation_code']}"
    mine, new = f"/api/customer/{customer.id}", {key: quote[key] for key in ("customer_reference", "items")}
    addresses = {"billing_address": {"id": 987654}, "shipping_address": {"id": 987654}}
    unit = {"items": [{"id": 987654, "quantity": 1}]}
    steps: list[tuple[str, str, Any, str]] = [
        ("POST", "/api/order", {"customer_id": 987654, **new, **addresses}, "987654"),
        ("POST", "/api/order", {"customer_id": customer.id, **new, **addresses}, "987654"),
        ("POST", "/api/payment", {"customer_id": 987654, "amount": 1}, "987654"),
        ("POST", "/api/payment", {"invoice": 987654, "amount": 1}, "987654"),
        ("POST", "/api/webhook", {"customer_id": 987654, "url": "https://a.example/"}, "987654"),
        ("POST", "/api/stock/adjustment", {"items": [{"sku": "NO-SUCH", "change": 1, "reason": "r"}]}, "NO-SUCH"),
        ("POST", f"{order}/dispatch", unit, "items[0]"),
        ("POST", f"/api/order/{gone['order_reference']}/return", {**unit, "reason": "r"}, "items[0]"),
        ("POST", f"{order}/cancel", {**unit, "reason": "r"}, "items[0]"),
        ("PATCH", order, unit, "items[0]"),
        ("PATCH", order, {"items": [{"sku": "NO-SUCH", "quantity": 1}]}, "NO-SUCH"),
        ("PATCH", order, {"shipping_method": {"id": 987654}}, "987654"),
        ("POST", f"{quoted}/price", {"items": [{"sku": "NO-SUCH", "cost_net": 1}]}, "items[0]"),
        ("POST", f"{quoted}/price", {"shipping": [{"id": 987654, "cost_net": 1}]}, "shipping[0]"),
        ("PATCH", mine, {"price_list": "no such"}, "no such"),
        ("PATCH", mine, {"shipping_method": 987654}, "987654"),
        ("DELETE", f"{mine}/key/987654", None, "key 987654"),
        ("DELETE", f"{mine}/user/987654", None, "user 987654"),
        ("DELETE", f"{mine}/address/987654", None, "address 987654"),
    ]
    for method, path, body, name in steps:
        response = staff.request(method, path, json=body)
        assert response.status_code in {400, 404, 409}, (method, path, response.text)
        assert name in response.text, (method, path, body, response.text)
