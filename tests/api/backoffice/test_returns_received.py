"""`/api/return`: units that customers send back."""

from collections.abc import Iterator

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of, pages
from support.orders import buy, level, sell
from support.service import Service


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    seller = {
        "seller_name": "Trade & Sons",
        "seller_address": "7 Sales Street, York",
        "seller_vat_number": "GB123456782",
    }
    with backoffice_of(shop, **seller) as running:
        yield running


def test_a_return_is_opened_received_in_parts_and_credited(staff: httpx2.Client, office: BackOfficeSite) -> None:
    customer = office.service.customer()
    sku = sell(office.service, "COMES-BACK", 10, available=4)
    address = f"/api/order/{buy(customer, [(sku, 4)])['order_reference']}"
    [item] = [line["id"] for line in staff.get(address).json()["items"]]
    body = {"items": [{"id": item, "quantity": 3, "serial_numbers": ["S1"]}], "reason": "Faulty"}
    assert staff.post(f"{address}/return", json=body).status_code == 409
    staff.post(f"{address}/dispatch")
    invoiced = staff.post(f"{address}/invoice").json()
    assert invoiced["items"][0]["quantity_invoiced"] == 4
    opened = staff.post(f"{address}/return", json=body)
    assert (opened.status_code, opened.json()["state"]) == (201, "open")
    found = opened.headers["Location"]
    assert staff.get(found).json() == opened.json()
    first = staff.post(f"{found}/receive", json={"items": [{"id": item, "restock": 1}]}).json()
    assert (first["state"], first["items"][0]["received"]) == ("open", 1)
    assert level(office.service, sku)[0] == 1
    wrong = staff.post(f"{found}/receive", json={"items": [{"id": item, "scrap": 3}]})
    assert wrong.status_code == 400
    rest = staff.post(
        f"{found}/receive", json={"items": [{"id": item, "restock": 1, "scrap": 1}], "credit": True}
    ).json()
    assert (rest["state"], rest["items"][0]["scrapped"]) == ("closed", 1)
    shown = staff.get(address).json()
    assert shown["returns"] == [rest["number"]]
    assert shown["items"][0]["quantity_returned"] == 3
    assert len(shown["credit_notes"]) == len(shown["invoices"]) == 1
    assert staff.post(f"{found}/close").status_code == 409


def test_returns_are_listed_by_cursor_and_closed(staff: httpx2.Client, office: BackOfficeSite) -> None:
    customer = office.service.customer()
    numbers = []
    for _ in range(3):
        address = f"/api/order/{buy(customer, [('CABLE', 1)])['order_reference']}"
        staff.post(f"{address}/dispatch")
        [item] = staff.get(address).json()["items"]
        body = {"items": [{"id": item["id"], "quantity": 1}], "reason": "Unused"}
        numbers.append(staff.post(f"{address}/return", json=body).json()["number"])
    mine = f"/api/return?customer_id={customer.id}"
    listed = [found["number"] for page in pages(staff, f"{mine}&limit=2") for found in page]
    assert listed == numbers[::-1]
    assert staff.post(f"/api/return/{numbers[0]}/close").json()["state"] == "closed"
    assert [found["number"] for found in staff.get(f"{mine}&state=closed").json()] == numbers[:1]
    assert staff.get("/api/return/RMA-999999").status_code == 404
    assert staff.get("/api/return?state=lost").status_code == 400
