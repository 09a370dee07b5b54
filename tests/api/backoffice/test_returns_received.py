"""`/api/return`: units that customers send back."""

from collections.abc import Iterator

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of, pages
from support.orders import buy, level, sell
from support.pages import staff_member, text_of
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
    numbers = [{"serial_number": "S1"}, {"serial_number": "S2"}]
    staff.post(f"{address}/dispatch", json={"items": [{"id": item, "quantity": 4, "serial_numbers": numbers}]})
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


def test_a_return_takes_only_serial_numbers_that_left_with_the_item_and_are_in_no_other_return(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    address = f"/api/order/{buy(office.service.customer(), [('PHONE', 3), ('CABLE', 1)])['order_reference']}"
    phone, cable = (line["id"] for line in staff.get(address).json()["items"])
    left = [
        {"id": phone, "quantity": 3, "serial_numbers": [{"serial_number": f"P{n}"} for n in range(3)]},
        {"id": cable, "quantity": 1, "serial_numbers": [{"serial_number": "C0"}]},
    ]
    assert staff.post(f"{address}/dispatch", json={"items": left}).status_code == 200

    def open_with(item: int, *numbers: str) -> httpx2.Response:
        items = [{"id": item, "quantity": len(numbers), "serial_numbers": numbers}]
        return staff.post(f"{address}/return", json={"items": items, "reason": "Faulty"})

    def rejected(item: int, *numbers: str) -> str:
        response = open_with(item, *numbers)
        assert (response.status_code, [error["field"] for error in response.json()["errors"]]) == (
            400,
            ["items[0].serial_numbers"],
        )
        return str(response.json()["message"])

    never = "items[0].serial_numbers: the serial number {!r} was not dispatched with this item"
    assert rejected(phone, "SN-NEVER") == never.format("SN-NEVER")
    assert rejected(phone, "P0", "C0") == never.format("C0")
    assert rejected(phone, "P0", "P0") == "items[0].serial_numbers: the serial number 'P0' is there 2 times"
    first = open_with(phone, "P0").json()
    assert rejected(phone, "P0") == f"items[0].serial_numbers: the serial number 'P0' is already in {first['number']}"
    staff.post(f"/api/return/{first['number']}/receive", json={"items": [{"id": phone, "scrap": 1}]})
    staff.post(f"/api/return/{first['number']}/close")
    assert (
        rejected(phone, "P1", "P0")
        == f"items[0].serial_numbers: the serial number 'P0' is already in {first['number']}"
    )
    second = open_with(phone, "P1").json()
    staff.post(f"/api/return/{second['number']}/close")
    assert open_with(phone, "P1", "P2").status_code == 201, "P1 did not come back"


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


def _returned(staff: httpx2.Client, office: BackOfficeSite, units: int, back: int) -> tuple[str, str, int, int]:
    """Open a return of an invoiced line; the addresses of order and return, the item and the invoice."""
    address = f"/api/order/{buy(office.service.customer(), [('PHONE', units)])['order_reference']}"
    staff.post(f"{address}/dispatch", json={})
    [number] = staff.post(f"{address}/invoice").json()["invoices"]
    [item] = [line["id"] for line in staff.get(address).json()["items"]]
    opened = staff.post(f"{address}/return", json={"items": [{"id": item, "quantity": back}], "reason": "Faulty"})
    return address, opened.headers["Location"], item, number


def test_units_that_were_credited_by_hand_are_not_credited_again_when_they_come_back(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    address, found, item, number = _returned(staff, office, 5, 3)
    by_hand = {"lines": [{"item_id": item, "quantity": 2}], "reason": "They come back"}
    assert staff.post(f"/api/invoice/{number}/credit-note", json=by_hand).status_code == 201
    first = {"items": [{"id": item, "restock": 1}], "credit": True}
    assert staff.post(f"{found}/receive", json=first).json()["items"][0]["received"] == 1
    assert len(staff.get(address).json()["credit_notes"]) == 1
    closed = staff.post(f"{found}/receive", json={"items": [{"id": item, "restock": 2}], "credit": True}).json()
    assert closed["state"] == "closed"
    notes = [staff.get(f"/api/credit-note/{note}").json() for note in staff.get(address).json()["credit_notes"]]
    assert [note["lines"][0]["quantity"] for note in notes] == [2, 1]


def test_a_dry_run_of_a_receipt_shows_what_is_credited(staff: httpx2.Client, office: BackOfficeSite) -> None:
    address, found, item, number = _returned(staff, office, 2, 2)
    body = {"items": [{"id": item, "restock": 1}], "credit": True}
    shown = staff.post(f"{found}/receive?dry_run=true", json=body).json()
    [note] = shown["credit_notes"]
    assert (note["invoice"], note["cost_gross"], shown["items"][0]["credited"]) == (number, 60.0, 1)
    assert staff.get(address).json()["credit_notes"] == []
    assert staff.get(found).json()["items"][0]["received"] == 0
    assert staff.post(f"{found}/receive", json=body).json() == shown
    assert staff.post(f"{found}/receive", json=body | {"credit": False}).json()["credit_notes"] == []


def test_a_return_is_closed_by_the_credit_note_of_its_last_units(staff: httpx2.Client, office: BackOfficeSite) -> None:
    _, found, item, number = _returned(staff, office, 3, 2)
    staff.post(f"{found}/receive", json={"items": [{"id": item, "scrap": 2}]})
    body = {"lines": [{"item_id": item, "quantity": 1}], "reason": "Broken"}
    staff.post(f"/api/invoice/{number}/credit-note", json=body)
    part = staff.get(found).json()
    assert (part["state"], part["items"][0]["credited"]) == ("received", 1)
    staff.post(f"/api/invoice/{number}/credit-note?dry_run=true", json=body)
    assert staff.get(found).json() == part
    note = staff.post(f"/api/invoice/{number}/credit-note", json=body).json()["number"]
    whole = staff.get(found).json()
    assert (whole["state"], whole["closed_at"] is None) == ("closed", False)
    [entry] = staff.get(f"/api/audit?subject=credit-note/{note}").json()
    assert entry["after"]["closed_returns"] == [whole["number"]]


def test_units_that_were_credited_before_they_came_back_close_their_return(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    address, found, item, number = _returned(staff, office, 3, 1)
    body = {"lines": [{"item_id": item, "quantity": 1}], "reason": "It comes back"}
    assert staff.post(f"/api/invoice/{number}/credit-note", json=body).status_code == 201
    closed = staff.post(f"{found}/receive", json={"items": [{"id": item, "restock": 1}]}).json()
    assert (closed["state"], closed["credit_notes"]) == ("closed", [])
    actions = [entry["action"] for entry in staff.get(f"/api/audit?subject={address.removeprefix('/api/')}").json()]
    assert actions.count("return.close") == 1


def test_units_of_an_invoice_that_is_credited_in_full_by_amount_are_not_credited_again(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    address, found, item, number = _returned(staff, office, 3, 2)
    credit_note = f"/api/invoice/{number}/credit-note"
    left = staff.get(f"/api/invoice/{number}").json()["cost_net"]
    part, rest = ({"amount": amount, "reason": "Goodwill"} for amount in (left - 10, 10))
    body = {"items": [{"id": item, "restock": 1}], "credit": True}
    assert staff.post(credit_note, json=part).status_code == 201
    refused = staff.post(f"{found}/receive", json=body)
    assert (refused.status_code, refused.json()["message"]) == (
        400,
        "credit: £50.00 without VAT is too much, only £10.00 is left to credit: credit an amount instead",
    )
    assert staff.post(f"{found}/receive", json=body | {"credit": False}).json()["items"][0]["credited"] == 0
    assert staff.post(credit_note, json=rest).status_code == 201
    assert staff.get(found).json()["items"][0]["credited"] == 1
    closed = staff.post(f"{found}/receive", json=body).json()
    assert (closed["state"], closed["credit_notes"], closed["items"][0]["credited"]) == ("closed", [], 2)
    assert len(staff.get(address).json()["credit_notes"]) == 2


def test_a_return_of_units_that_are_not_invoiced_closes_once_all_are_here(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    address = f"/api/order/{buy(office.service.customer(), [('PHONE', 3)])['order_reference']}"
    staff.post(f"{address}/dispatch", json={})
    [item] = [line["id"] for line in staff.get(address).json()["items"]]
    body = {"items": [{"id": item, "quantity": 2}], "reason": "Too many"}
    found = staff.post(f"{address}/return", json=body).headers["Location"]
    part = staff.post(f"{found}/receive", json={"items": [{"id": item, "restock": 1}]}).json()
    assert part["state"] == "open"
    whole = staff.post(f"{found}/receive", json={"items": [{"id": item, "restock": 1}]}).json()
    assert (whole["state"], whole["credit_notes"]) == ("closed", [])
    actions = [entry["action"] for entry in staff.get(f"/api/audit?subject={address.removeprefix('/api/')}").json()]
    assert actions.count("return.close") == 1


def test_only_who_may_issue_credit_notes_credits_a_return(staff: httpx2.Client, office: BackOfficeSite) -> None:
    _, found, item, _ = _returned(staff, office, 2, 2)
    warehouse = office.caller("orders:write")
    body = {"items": [{"id": item, "restock": 1}]}
    rejected = warehouse.post(f"{found}/receive", json=body | {"credit": True})
    assert rejected.status_code == 403
    assert "billing:write" in rejected.json()["message"]
    assert warehouse.post(f"{found}/receive", json=body).json()["items"][0]["received"] == 1
    finance = office.caller("orders:write", "billing:write")
    assert finance.post(f"{found}/receive", json=body | {"credit": True}).json()["state"] == "closed"


def test_the_carriage_of_units_that_came_back_before_the_invoice_can_be_invoiced(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    placed = buy(office.service.customer())
    path = f"/order/{placed['order_reference']}"
    unit = {"id": placed["items"][0]["id"], "quantity": 1}
    staff.post(f"/api{path}/dispatch")
    opened = staff.post(f"/api{path}/return", json={"items": [unit], "reason": "Faulty"}).headers["Location"]
    staff.post(f"{opened}/receive", json={"items": [{"id": unit["id"], "scrap": 1}]})
    sam = staff_member(office.service, office.url, "administrator")
    assert f"{path}/invoice" in sam.get(path).text
    assert "Carriage £5.50" in text_of(sam.get(f"{path}/invoice"))
    assert "is issued" in text_of(sam.sends(f"{path}/invoice"))
    assert f"{path}/invoice" not in sam.get(path).text


def test_what_leaves_after_invoiced_units_came_back_can_still_be_invoiced(
    staff: httpx2.Client, office: BackOfficeSite
) -> None:
    placed = buy(office.service.customer(), [("PHONE", 4)])
    address = f"/api/order/{placed['order_reference']}"
    two = {"items": [{"id": placed["items"][0]["id"], "quantity": 2}]}
    staff.post(f"{address}/dispatch", json=two)
    assert staff.post(f"{address}/invoice", json={"part": True}).status_code == 201
    opened = staff.post(f"{address}/return", json={**two, "reason": "Faulty"}).headers["Location"]
    staff.post(f"{opened}/receive", json={"items": [{"id": two["items"][0]["id"], "scrap": 2}]})
    left = staff.post(f"{address}/dispatch", json=two).json()
    assert left["items"][0]["quantity_to_invoice"] == 2
    sam = staff_member(office.service, office.url, "administrator")
    assert f"/order/{placed['order_reference']}/invoice" in sam.get(f"/order/{placed['order_reference']}").text
    assert "2 \u00d7 PHONE" in text_of(sam.get(f"/order/{placed['order_reference']}/invoice"))
    invoiced = staff.post(f"{address}/invoice").json()
    assert (invoiced["items"][0]["quantity_invoiced"], invoiced["items"][0]["quantity_to_invoice"]) == (4, 0)
