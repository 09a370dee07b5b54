"""Payments, invoices, credit notes, statements and debtors in the back office."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of, pages
from support.billing import invoiced, number_of
from support.orders import at
from support.service import Customer, Service

SELLER = {
    "seller_name": "Trade & Sons",
    "seller_address": "7 Sales Street, York",
    "seller_vat_number": "GB123456782",
}


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop, **SELLER) as running:
        yield running


@pytest.fixture
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(order_mails=True)


def invoice(office: BackOfficeSite, customer: Customer) -> int:
    return number_of(office.service, invoiced(office.service, customer, ("PHONE", 2)))


def pay(staff: httpx2.Client, **values: Any) -> httpx2.Response:
    return staff.post("/api/payment", json=values)


def test_an_invoice_is_listed_read_printed_and_sent_again(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    numbers = [invoice(office, customer) for _ in range(3)]
    mine = f"/api/invoice?customer_id={customer.id}"
    listed = [found for page in pages(staff, f"{mine}&limit=2&unpaid=true") for found in page]
    assert listed == [staff.get(f"/api/invoice/{number}").json() for number in numbers[::-1]]
    assert staff.get(f"{mine}&overdue=true").json() == staff.get(f"{mine}&issued_from=2030-01-01").json() == []
    shown = staff.get(f"/api/invoice/{numbers[0]}").json()
    assert (shown["customer_id"], shown["lines"][0]["sku"], shown["due"]) == (
        customer.id,
        "PHONE",
        shown["cost_gross"],
    )
    pdf = staff.get(f"/api/invoice/{numbers[0]}/pdf")
    assert (pdf.headers["Content-Type"], pdf.content[:4]) == ("application/pdf", b"%PDF")
    resent = staff.post(f"/api/invoice/{numbers[0]}/resend").json()
    assert len(resent["recipients"]) == 1
    assert staff.get("/api/invoice/999999").status_code == 404
    assert staff.get("/api/invoice/999999/pdf").status_code == 404


def test_units_are_credited_once(staff: httpx2.Client, office: BackOfficeSite, customer: Customer) -> None:
    number = invoice(office, customer)
    item = staff.get(f"/api/invoice/{number}").json()["lines"][0]["item_id"]
    body = {"lines": [{"item_id": item, "quantity": 2}], "reason": "Broken"}
    made = staff.post(f"/api/invoice/{number}/credit-note", json=body)
    assert (made.status_code, made.json()["invoice"]) == (201, number)
    assert staff.get(made.headers["Location"]).json() == made.json()
    assert staff.get(f"{made.headers['Location']}/pdf").content[:4] == b"%PDF"
    assert staff.get(f"/api/invoice/{number}").json()["credited"] == made.json()["cost_gross"]
    assert staff.post(f"/api/invoice/{number}/credit-note", json=body).status_code == 400
    for wrong in ({"reason": "x"}, {**body, "amount": 1}, {"amount": -1, "reason": "x"}):
        assert staff.post(f"/api/invoice/{number}/credit-note", json=wrong).status_code == 400
    assert staff.get("/api/credit-note/999999").status_code == 404


def test_a_dry_run_shows_a_payment_and_a_credit_note_and_records_neither(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    first, second = invoice(office, customer), invoice(office, customer)
    due = staff.get(f"/api/invoice/{first}").json()["due"]
    body, key = {"customer_id": customer.id, "amount": due + 1, "reference": "DRY"}, {"Idempotency-Key": "dry"}
    shown = staff.post("/api/payment?dry_run=true", json=body, headers=key).json()
    assert shown["allocations"] == [{"invoice": first, "amount": due}, {"invoice": second, "amount": 1}]
    assert staff.get(f"/api/payment?customer_id={customer.id}").json() == []
    real = staff.post("/api/payment", json=body, headers=key).json()
    assert real == shown | {"id": real["id"]}
    too_much = pay(staff, customer_id=customer.id, amount=9999, reference="DRY")
    assert too_much.status_code == 200, "the API asks nothing"
    again = staff.post("/api/payment?dry_run=true", json=body)
    assert (again.status_code, "same reference" in again.json()["message"]) == (409, True)
    path, body = f"/api/invoice/{first}/credit-note", {"amount": 1.5, "reason": "Late"}
    note = staff.post(f"{path}?dry_run=true", json=body)
    assert (note.status_code, note.json()["cost_gross"], "Location" in note.headers) == (200, 1.8, False)
    assert staff.get(f"/api/credit-note?customer_id={customer.id}").json() == []
    assert staff.post(path, json=body).json() == note.json(), "also its number"
    assert staff.post(f"{path}?dry_run=true", json={"amount": 9999, "reason": "x"}).status_code == 400
    assert staff.post(f"{path}?dry_run=yes", json=body).status_code == 400


def test_credit_notes_are_listed_by_cursor(staff: httpx2.Client, office: BackOfficeSite, customer: Customer) -> None:
    first, second = invoice(office, customer), invoice(office, customer)
    other = invoice(office, office.service.customer())
    made = [
        staff.post(f"/api/invoice/{number}/credit-note", json={"amount": 1.5, "reason": "Late"}).json()
        for number in (first, first, second, other)
    ]
    mine = f"/api/credit-note?customer_id={customer.id}"
    assert [found for page in pages(staff, f"{mine}&limit=2") for found in page] == made[2::-1]
    assert staff.get(f"{mine}&invoice={second}").json() == [made[2]]
    assert staff.get("/api/credit-note?limit=1").json() == [made[3]]
    assert staff.get("/api/credit-note?customer_id=999999").json() == []
    assert staff.get("/api/credit-note?limit=0").status_code == 400


def test_amounts_in_quotes_are_rejected_wherever_a_body_has_them(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    rejected = pay(staff, invoice=number, amount="10.00")
    assert (rejected.status_code, rejected.json()["message"]) == (400, "amount: must be a number, not text")
    both = pay(staff, invoice="x", amount="10.00").json()["errors"]
    assert {error["field"] for error in both} == {"invoice", "amount"}
    order = f"/api/order/{staff.get(f'/api/invoice/{number}').json()['order_reference']}"
    wrong = staff.patch(order, json={"items": [{"sku": "PHONE", "quantity": 1, "unit_cost": "5"}]})
    assert wrong.json()["message"] == "items[0].unit_cost: must be a number, not text"


def test_a_payment_is_recorded_once_and_reversed(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    paid = pay(staff, invoice=number, amount=10, reference="A 1", method="card").json()
    assert paid["allocations"] == [{"invoice": number, "amount": 10}]
    assert pay(staff, invoice=number, amount=10, reference="A 1").status_code == 409
    again = pay(staff, customer_id=customer.id, amount=10, reference="A 1", force=True).json()
    listed = [found["id"] for page in pages(staff, f"/api/payment?invoice={number}&limit=1") for found in page]
    assert listed == [again["id"], paid["id"]]
    reversal = f"/api/payment/{paid['id']}/reverse"
    reversed_ = staff.post(reversal, json={"reason": "Bounced"}).json()
    assert (reversed_["reversal_reason"], reversed_["allocations"]) == ("Bounced", [])
    assert staff.post(reversal, json={"reason": "Bounced"}).status_code == 409
    for wrong in ({"amount": 1}, {"amount": 1, "invoice": number, "customer_id": 1}, {"amount": 0, "invoice": number}):
        assert pay(staff, **wrong).status_code == 400
    assert pay(staff, amount=1, invoice=999999).status_code == 404
    slip = pay(staff, amount=1, invoice=number, received_on="0026-06-16")
    assert (slip.status_code, slip.json()["message"]) == (400, "received_on: must not be before 2000-01-01")


def test_a_bank_file_is_placed_by_invoice_numbers(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    content = (
        f"date,amount,reference\n2026-06-15,5.00,INV {number}\n2026-06-15,7.00,THANKS\n2026-06-15,1.00,{number}\0\n"
    )
    done = staff.post("/api/payment/import", content=content, headers={"Content-Type": "text/csv"}).json()
    assert (done["recorded"], [line["line"] for line in done["unplaced"]]) == (1, [3, 4])
    assert staff.get(f"/api/invoice/{number}").json()["paid"] == 5
    assert staff.post("/api/payment/import", json={}).status_code == 415
    wrong = staff.post("/api/payment/import", content="a,b\n", headers={"Content-Type": "text/csv"})
    assert wrong.status_code == 400


def test_a_statement_has_three_formats_and_debtors_are_listed(
    staff: httpx2.Client, office: BackOfficeSite, customer: Customer
) -> None:
    number = invoice(office, customer)
    address = f"/api/customer/{customer.id}/statement"
    shown = staff.get(f"{address}?from=2026-01-01").json()
    assert [entry["number"] for entry in shown["entries"]] == [number]
    assert (shown["from"], shown["closing_balance"]) == ("2026-01-01", shown["ageing"]["not_due"])
    csv = staff.get(f"{address}?format=csv")
    assert csv.headers["Content-Type"].startswith("text/csv")
    assert f",{number}," in csv.text
    assert staff.get(f"{address}?format=pdf").content[:4] == b"%PDF"
    assert staff.get(f"{address}?format=doc").status_code == 400
    assert staff.get(f"{address}?from=soon").status_code == 400
    assert staff.get("/api/customer/999999/statement").status_code == 404
    [mine] = [debtor for debtor in staff.get("/api/debtor").json() if debtor["customer_id"] == customer.id]
    assert mine["due"] == shown["closing_balance"]


def test_debtors_are_read_page_by_page(staff: httpx2.Client, office: BackOfficeSite) -> None:
    for units in (3, 1, 2, 1):
        invoiced(office.service, office.service.customer(term_days=3), ("PHONE", units))
    with at(office.service, office.service.clock.now() + timedelta(days=20)):
        whole = staff.get("/api/debtor?limit=1000").json()
        assert [debtor["overdue"] for debtor in whole] == sorted((d["overdue"] for d in whole), reverse=True)
        read, address = [], "/api/debtor?limit=1"
        while address:
            page = staff.get(address)
            read += page.json()
            address = page.links.get("next", {}).get("url", "")
    assert len(whole) > 3
    assert read == whole
    for wrong in ("after=nonsense", "after=WyJ4IiwxXQ", "limit=0", "limit=1001"):
        assert staff.get(f"/api/debtor?{wrong}").status_code == 400, wrong


@pytest.mark.parametrize(
    "path",
    [
        "/api/invoice?issued_from=0001-01-01T00:00:00%2B14:00",
        "/api/invoice?issued_to=9999-12-31T23:59:59-14:00",
        "/api/order?created_from=0001-01-01T00:00:00%2B14:00",
        "/api/order?created_to=9999-12-31T23:59:59-14:00",
        "/api/audit?from=0001-01-01T00:00:00%2B14:00",
        "/api/audit?to=9999-12-31T23:59:59-14:00",
        "/api/customer/{id}/statement?to=9999-12-31",
        "/api/customer/{id}/statement/csv?to=9999-12-31",
    ],
)
def test_moments_outside_the_calendar_are_invalid(staff: httpx2.Client, customer: Customer, path: str) -> None:
    assert staff.get(path.format(id=customer.id)).status_code == 400
