"""`GET /order/{reference}/invoice` (specification, section 4; invoice)."""

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest

from support.billing import credit, invoice_text, invoiced, issue_part, number_of, pay, pay_in, pdf_text
from support.error_bodies import error_body
from support.orders import (
    amend,
    at,
    buy,
    cancel,
    create,
    dispatch,
    faults_in_the_books,
    outstanding,
    read,
    rows,
    sell,
    uk,
)  # fmt: skip
from support.service import Customer, Service
from support.shop import ADDRESS


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(company="Buyer plc")


@pytest.mark.spec("4 GET /order/{reference}/invoice", "a PDF")
def test_an_invoice_is_a_pdf_file_by_reference_and_by_id(shop: Service, customer: Customer) -> None:
    placed = invoiced(shop, customer)
    [(number,)] = rows(shop, "select max(number) from invoice")
    responses = [customer.get(f"/order/{placed[name]}/invoice") for name in ("order_reference", "order_id")]
    for response in responses:
        assert response.status_code == 200
        assert response.headers["content-type"] == "application/pdf"
        assert response.headers["content-disposition"] == f'attachment; filename="invoice-{number}.pdf"'
        assert response.content.startswith(b"%PDF-")
    assert responses[0].content == responses[1].content


def test_an_invoice_shows_its_order(shop: Service, customer: Customer) -> None:
    placed = invoiced(shop, customer, ("PHONE", 10), customer_reference="PO-77")
    text = invoice_text(customer, placed)
    for stated in (
        "Seller & Sons Ltd 7 Sales Street, York, YO1 7HH, United Kingdom",
        "VAT number GB123456782",
        "Buyer plc Ada Example 1 Test Street Leeds LS1 1AA United Kingdom",
        f"Order reference {placed['order_reference']} Your reference PO-77",
        "PHONE Product PHONE 10 £40.00 20% £400.00 £80.00",
        "Shipping: Slowpost Standard 1 £10.00 20% £10.00 £2.00",
        "Total including VAT £492.00",
    ):
        assert stated in text


def test_a_head_request_gets_the_same_headers_and_no_body(shop: Service, customer: Customer) -> None:
    path = f"/order/{invoiced(shop, customer)['order_id']}/invoice"
    got, head = customer.get(path), customer.http.head(path)
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == got.headers["content-length"]
    assert head.headers["content-type"] == got.headers["content-type"]


@pytest.mark.parametrize("accept", ["application/json", "text/csv", "application/pdf", "image/png"])
def test_an_invoice_is_a_pdf_file_whatever_the_accept_header(shop: Service, customer: Customer, accept: str) -> None:
    placed = invoiced(shop, customer)
    response = customer.get(f"/order/{placed['order_id']}/invoice", headers={"Accept": accept})
    assert response.headers["content-type"] == "application/pdf"


def test_a_paid_invoice_is_still_served(shop: Service, customer: Customer) -> None:
    placed = invoiced(shop, customer)
    pay(shop, placed, "66.60")
    assert customer.get(f"/order/{placed['order_id']}/invoice").status_code == 200


@pytest.mark.spec("4 GET /order/{reference}/invoice", "412 before it is issued")
@pytest.mark.spec("7 412", "an invoice before it is issued")
def test_an_invoice_is_412_before_it_is_issued(shop: Service, customer: Customer) -> None:
    placed = buy(customer)

    def is_412() -> bool:
        response = customer.get(f"/order/{placed['order_reference']}/invoice")
        wanted = error_body("not_invoiced", "the order has not been invoiced yet; try again later")
        return (response.status_code, response.json()) == (412, wanted)

    assert is_412()
    dispatch(shop, placed)
    assert is_412()


@pytest.mark.spec("4 GET /order/{reference}/invoice", "an order has an invoice if and only if its status shows it")
def test_an_order_has_an_invoice_if_and_only_if_its_status_shows_it(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("PHONE", 3), ("CABLE", 2), (sell(shop, "NOT-HERE", 5), 4)])
    phone, cable, _ = (item["id"] for item in placed["items"])
    steps: list[tuple[Callable[[], Any], str]] = [
        (lambda: None, "Back-ordered"),
        (lambda: dispatch(shop, placed, (phone, 1)), "Part dispatched"),
        (lambda: issue_part(shop, placed), "Part invoiced"),
        (lambda: pay(shop, placed, "10.00"), "Part invoiced"),
        (lambda: amend(shop, placed, items=[{"id": cable, "quantity": 3}], reason="one more"), "Part invoiced"),
        (lambda: dispatch(shop, placed, (phone, 2), (cable, 3)), "Part invoiced"),
        (lambda: issue_part(shop, placed), "Part invoiced"),
        (lambda: cancel(shop, placed), "Invoiced"),
        (lambda: credit(shop, number_of(shop, placed), (cable, 1)), "Invoiced"),
        (lambda: pay_in(shop, customer, str(outstanding(shop, customer))), "Completed"),
    ]
    for number, (step, status) in enumerate(steps):
        step()
        assert read(customer, placed)["status"] == status, number
        found = customer.get(f"/order/{placed['order_reference']}/invoice").status_code
        assert found == (200 if status in {"Part invoiced", "Invoiced", "Completed"} else 412), number
        listed = customer.get(
            "/order", params={"status": status.upper(), "limit": 1, "accept": "application/json"}
        ).json()
        assert [order["order_reference"] for order in listed] == [placed["order_reference"]], number
    assert faults_in_the_books(shop) == {}


@pytest.mark.spec("4 GET /order/{reference}/invoice", "an order has an invoice if and only if its status shows it")
def test_a_dispatched_order_has_no_invoice_until_its_status_shows_it(shop: Service) -> None:
    customer = shop.customer()
    whole, part, cancelled = (buy(customer, [("PHONE", 2)]) for _ in range(3))
    dispatch(shop, whole)
    dispatch(shop, part, (part["items"][0]["id"], 1))
    cancel(shop, cancelled)
    for placed, status in ((whole, "Dispatched"), (part, "Part dispatched"), (cancelled, "Cancelled")):
        assert read(customer, placed)["status"] == status
        assert customer.get(f"/order/{placed['order_reference']}/invoice").status_code == 412
    for placed, status in ((whole, "Invoiced"), (part, "Part invoiced")):
        issue_part(shop, placed)
        assert read(customer, placed)["status"] == status
        assert customer.get(f"/order/{placed['order_reference']}/invoice").status_code == 200


def test_a_cancelled_order_has_no_invoice(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    cancel(shop, placed)
    response = customer.get(f"/order/{placed['order_reference']}/invoice")
    assert response.status_code == 412
    assert "cancelled" in response.json()["message"]


@pytest.mark.spec("4 GET /order/{reference}/invoice", "404 when unknown")
def test_another_customers_invoice_is_not_found(shop: Service, customer: Customer) -> None:
    theirs = invoiced(shop, shop.customer())
    pending = create(customer)
    references = [
        theirs["order_reference"], str(theirs["order_id"]), "NONE-1", "0", "9" * 30, "-1", "a%00b", "%F0%9F%98%80",
        pending["confirmation_code"], "%20", "' or 1=1 --",
    ]  # fmt: skip
    responses = [customer.get(f"/order/{reference}/invoice") for reference in references]
    assert {response.status_code for response in responses} == {404}
    shown = ["a b" if name == "a%00b" else unquote(name).strip() for name in references]
    assert [response.json()["message"] for response in responses] == [
        f"order {name} not found" if name else "order not found" for name in shown
    ]


def test_markup_in_an_order_is_printed_as_text(shop: Service) -> None:
    trap = '#panic("x") $a$ @b *c* \\ "d" [e] 😀 مرحبا'
    customer = shop.customer(company=trap)
    address = {**ADDRESS, "contact_name": trap, "company_name": trap, "street_two": trap, "tax_number": trap[:40]}
    placed = invoiced(
        shop, customer, billing_address=address, shipping_address=address, customer_reference=trap + "W" * 50
    )
    text = invoice_text(customer, placed)
    assert '#panic("x") $a$ @b *c*' in text
    assert "W" * 50 in text.replace(" ", "")
    assert "Amount due £66.60" in text


@pytest.mark.sweep
def test_an_order_with_many_lines_fills_several_pages(shop: Service, customer: Customer) -> None:
    text = invoice_text(customer, invoiced(shop, customer, *[("CABLE", 1)] * 200))
    assert text.count("CABLE Product CABLE 1 £1.99 20% £1.99 £0.40") == 200
    assert "Page 2 of 6" in text


@pytest.mark.spec("4 GET /order/{reference}/invoice", "all invoices and credit notes, oldest first")
def test_the_file_has_all_invoices_and_credit_notes_oldest_first(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("PHONE", 2), ("CABLE", 1)])
    phone = placed["items"][0]["id"]
    dispatch(shop, placed, (phone, 1))
    first = issue_part(shop, placed).number
    with at(shop, uk(2026, 6, 18, 12)):
        note = credit(shop, first, (phone, 1)).number
    with at(shop, uk(2026, 6, 20, 12)):
        dispatch(shop, placed)
        last = issue_part(shop, placed, part=False).number
    response = customer.get(f"/order/{placed['order_reference']}/invoice")
    assert f"invoices-{placed['order_reference']}.pdf" in response.headers["Content-Disposition"]
    text = pdf_text(response.content)
    places = [text.find(str(number)) for number in (first, note, last)]
    assert -1 not in places
    assert places == sorted(places)
