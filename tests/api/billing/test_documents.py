"""`/invoice`, `/credit-note`, `/statement` and `/payment`: an account's documents as data and as files."""

import csv
import io
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from support.billing import credit, invoiced, pay_in, pdf_text, reverse
from support.orders import at, uk
from support.service import Customer, Service


@pytest.fixture(scope="module")
def buyer(shop: Service) -> Customer:
    """Three invoices over 66.60: the first is paid, the second part paid, the third part credited."""
    customer = shop.customer(term_days=30, company="Documents plc")
    for day in (date(2026, 3, 28), date(2026, 3, 29), date(2026, 4, 2)):
        with at(shop, uk(day.year, day.month, day.day, 23, 30)):
            invoiced(shop, customer, customer_reference=f"PO-{day}")
    first, second, third = sorted(invoice["number"] for invoice in customer.get("/invoice").json())
    with at(shop, uk(2026, 4, 5, 9)):
        pay_in(shop, customer, "66.60", first, reference="=BACS 1", received_on=date(2026, 4, 1))
        pay_in(shop, customer, "20.00", second, reference="BACS 2")
        reverse(shop, pay_in(shop, customer, "5.00", second, reference="BACS 3"))
        credit(shop, third, amount="10.00", reason="scratched")
    return customer


def numbers(customer: Customer, path: str, **query: Any) -> list[int]:
    found = customer.http.get(path, params=query)
    assert found.status_code == 200, found.text
    return [each.get("number", each.get("id")) for each in found.json()]


def read_csv(customer: Customer, path: str) -> list[dict[str, str]]:
    response = customer.get(path, headers={"Accept": "text/csv"})
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(response.text)))


def test_invoices_are_listed_newest_first_with_their_amounts_and_lines(shop: Service, buyer: Customer) -> None:
    with at(shop, uk(2026, 4, 6, 9)):
        credited, part_paid, paid = buyer.get("/invoice").json()
    assert [invoice["state"] for invoice in (credited, part_paid, paid)] == ["due", "part_paid", "paid"]
    assert [(invoice["paid"], invoice["credited"], invoice["due"]) for invoice in (credited, part_paid, paid)] == [
        (0, 12, 54.6),
        (20, 0, 46.6),
        (66.6, 0, 0),
    ]
    assert (paid["issued_on"], paid["due_on"], paid["cost_gross"]) == ("2026-03-28", "2026-04-27", 66.6)
    assert paid["customer_reference"] == "PO-2026-03-28"
    phone, shipping = paid["lines"]
    assert (phone["sku"], phone["quantity"], phone["cost_net"]) == ("PHONE", 1, 50)
    assert {"item_id", "sku"}.isdisjoint(shipping)


def test_an_unpaid_invoice_is_overdue_after_its_day(shop: Service, buyer: Customer) -> None:
    with at(shop, uk(2026, 6, 1, 9)):
        assert [invoice["state"] for invoice in buyer.get("/invoice").json()] == ["overdue", "overdue", "paid"]


def test_one_invoice_is_that_of_the_list_and_a_pdf_file_if_that_is_asked_for(buyer: Customer) -> None:
    oldest = buyer.get("/invoice").json()[2]
    number = oldest["number"]
    assert buyer.get(f"/invoice/{number}").json() == oldest
    file = buyer.get(f"/invoice/{number}", headers={"Accept": "application/pdf"})
    assert file.headers["Content-Type"] == "application/pdf"
    assert file.headers["Content-Disposition"] == f'attachment; filename="invoice-{number}.pdf"'
    assert file.content == buyer.get(f"/order/{oldest['order_reference']}/invoice").content


@pytest.mark.parametrize("accept", ["*/*", "text/html,*/*;q=0.8", "application/json, application/pdf", "image/png"])
def test_a_document_is_json_unless_another_format_is_preferred(buyer: Customer, accept: str) -> None:
    for path in ("/invoice", f"/invoice/{buyer.get('/invoice').json()[0]['number']}", "/statement", "/payment"):
        assert buyer.get(path, headers={"Accept": accept}).headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("accept", ["application/pdf, */*", "application/json;q=0.5, application/pdf"])
def test_a_preferred_file_is_sent(buyer: Customer, accept: str) -> None:
    number = buyer.get("/invoice").json()[0]["number"]
    for path in (f"/invoice/{number}", "/statement"):
        assert buyer.get(path, headers={"Accept": accept}).headers["Content-Type"] == "application/pdf"


def test_lists_are_filtered_by_order_and_by_uk_days_that_are_included(buyer: Customer) -> None:
    third, second, first = buyer.get("/invoice").json()
    every = [invoice["number"] for invoice in (third, second, first)]
    assert numbers(buyer, "/invoice", issued_from="2026-03-29") == every[:2]
    assert numbers(buyer, "/invoice", issued_from="2026-03-29", issued_to="2026-03-29") == every[1:2]
    assert numbers(buyer, "/invoice", order_reference=second["order_reference"].lower()) == every[1:2]
    assert numbers(buyer, "/invoice", order_reference="ORD-999999999") == []
    [note] = buyer.get("/credit-note").json()
    assert numbers(buyer, "/credit-note", order_reference=third["order_reference"]) == [note["number"]]
    assert numbers(buyer, "/credit-note", order_reference=first["order_reference"]) == []
    assert numbers(buyer, "/credit-note", issued_to="2026-04-04") == []
    assert len(numbers(buyer, "/payment", order_reference=second["order_reference"])) == 2
    assert len(numbers(buyer, "/payment", issued_to="2026-04-01")) == 1


@pytest.mark.parametrize("path", ["/invoice", "/credit-note", "/payment"])
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("issued_from", "1 June"),
        ("issued_to", "9999-12-32"),
        ("limit", "501"),
        ("page", "0"),
        ("order_reference", "\0"),
    ],
)
def test_a_wrong_filter_is_named(buyer: Customer, path: str, name: str, value: str) -> None:
    rejected = buyer.http.get(path, params={name: value})
    assert rejected.status_code == 400
    assert rejected.json()["errors"][0]["field"] == name


def test_pages_follow_each_other(buyer: Customer) -> None:
    every = numbers(buyer, "/invoice")
    page = buyer.get("/invoice?limit=1&page=2")
    assert page.json()[0]["number"] == every[1]
    assert (page.headers["X-Total-Count"], page.headers["X-Total-Pages"]) == ("3", "3")
    assert 'page=3&limit=1>; rel="next"' in page.headers["Link"]
    assert numbers(buyer, "/invoice", limit=0) == every
    assert numbers(buyer, "/invoice", limit=0, page=2) == []
    assert numbers(buyer, "/payment", limit=1, page=2) == numbers(buyer, "/payment")[1:2]


@pytest.mark.sweep
def test_a_long_list_is_whole_and_in_sequence(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(501):
        pay_in(shop, customer, "1.00")
    response = customer.get("/payment?limit=0")
    found = [payment["id"] for payment in response.json()]
    assert len(found) == 501
    assert found == sorted(found, reverse=True)
    assert "ETag" not in response.headers
    assert len(customer.get("/payment?limit=0", headers={"Accept": "text/csv"}).text.splitlines()) == 502


def test_a_credit_note_is_shown_and_sent_as_a_file(buyer: Customer) -> None:
    [note] = buyer.get("/credit-note").json()
    assert (note["reason"], note["cost_gross"], note["invoice"]) == (
        "scratched",
        12,
        buyer.get("/invoice").json()[0]["number"],
    )
    assert buyer.get(f"/credit-note/{note['number']}").json() == note
    file = buyer.get(f"/credit-note/{note['number']}", headers={"Accept": "application/pdf"})
    assert f"Credit note number {note['number']}" in pdf_text(file.content)


def test_payments_show_what_they_pay_and_whether_they_were_reversed(buyer: Customer) -> None:
    bounced, part, paid = buyer.get("/payment").json()
    assert (bounced["reversal_reason"], bounced["reversed_at"]) == ("bounced", "2026-04-05T09:00:00")
    assert {"reversal_reason", "reversed_at"}.isdisjoint(paid)
    assert paid["allocations"] == [{"invoice": numbers(buyer, "/invoice")[2], "amount": 66.6}]
    assert (paid["received_on"], part["amount"]) == ("2026-04-01", 20)


def test_lists_are_also_tables_without_formulas(buyer: Customer) -> None:
    rows = read_csv(buyer, "/invoice")
    assert [int(row["number"]) for row in rows] == numbers(buyer, "/invoice")
    assert (rows[2]["cost_gross"], rows[2]["due_on"], rows[2]["state"]) == ("66.60", "2026-04-27", "paid")
    assert read_csv(buyer, "/credit-note")[0]["reason"] == "scratched"
    payments = read_csv(buyer, "/payment")
    assert (payments[2]["reference"], payments[2]["reversed_at"]) == ("'=BACS 1", "")
    assert payments[2]["invoices"] == rows[2]["number"]


def test_a_statement_has_local_times_and_the_days_that_are_asked_for(shop: Service, buyer: Customer) -> None:
    with at(shop, uk(2026, 4, 6, 9)):
        whole = buyer.get("/statement").json()
        part = buyer.get("/statement?from=2026-04-01&to=2026-04-02").json()
        rows = read_csv(buyer, "/statement")
    assert (whole["from"], whole["to"], whole["opening_balance"]) == ("2026-03-28", "2026-04-06", 0)
    assert whole["entries"][0]["at"] == "2026-03-28T23:30:00"
    assert whole["closing_balance"] == 101.2
    assert [entry["kind"] for entry in part["entries"]] == ["payment", "invoice"]
    assert Decimal(rows[-1]["balance"]) == Decimal("101.20")
    assert buyer.http.get("/statement", params={"from": "soon"}).json()["errors"][0]["field"] == "from"


def test_what_has_not_changed_is_304(shop: Service, buyer: Customer) -> None:
    [note] = buyer.get("/credit-note").json()
    paths = ("/invoice", "/invoice?limit=1", f"/credit-note/{note['number']}", "/payment", "/statement?to=2026-06-01")
    for path in paths:
        tag = buyer.get(path).headers["ETag"]
        assert buyer.get(path, headers={"If-None-Match": tag}).status_code == 304, path
    tag = buyer.get("/payment").headers["ETag"]
    pay_in(shop, buyer, "1.00")
    assert buyer.get("/payment", headers={"If-None-Match": tag}).status_code == 200


def test_documents_of_another_customer_are_unknown(shop: Service, buyer: Customer) -> None:
    stranger = shop.customer()
    invoice, [note] = numbers(buyer, "/invoice")[0], numbers(buyer, "/credit-note")
    for accept in ("application/json", "application/pdf"):
        for path in (f"/invoice/{invoice}", f"/credit-note/{note}", "/invoice/999999999", "/invoice/x"):
            rejected = stranger.get(path, headers={"Accept": accept})
            assert rejected.status_code == 404
            assert rejected.json()["code"] == "not_found"
    order = buyer.get(f"/invoice/{invoice}").json()["order_reference"]
    for path in ("/invoice", "/credit-note", "/payment"):
        assert numbers(stranger, path, order_reference=order) == []
    assert stranger.get("/statement").json()["entries"] == []
