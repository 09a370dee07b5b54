"""Credit notes: what can be credited, what it does to debts and payments, and what the document shows."""

import re
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from support.billing import (
    credit,
    due_of,
    invoiced,
    issue_part,
    number_of,
    pay_in,
    pdf_text,
    reverse,
    unallocated,
)
from support.mail import deliver_mail
from support.orders import buy, dispatch, faults_in_the_books, in_parallel, outstanding, read, rows, sell
from support.pages import customer_user, text_of
from support.service import Service
from tradecounter.credit_notes.credit_return import creditable_units
from tradecounter.credit_notes.queries import PRINTED_CREDIT_NOTES
from tradecounter.credit_notes.rules import CreditLine
from tradecounter.kit.errors import DomainError, Kind

NONE = Decimal(0)


@pytest.fixture(autouse=True)
def _books(shop: Service) -> Any:
    yield
    assert faults_in_the_books(shop) == {}


def test_a_credit_note_lowers_what_is_due_and_the_exposure(shop: Service) -> None:
    customer = shop.customer()
    placed = invoiced(shop, customer, ("PHONE", 2))
    number, before = number_of(shop, placed), outstanding(shop, customer)
    note = credit(shop, number, (placed["items"][0]["id"], 1))
    assert [str(note.cost_net), str(note.cost_tax), str(note.cost_gross)] == ["50.00", "10.00", "60.00"]
    assert [(line.item_id, line.sku, line.quantity) for line in note.lines] == [(placed["items"][0]["id"], "PHONE", 1)]
    assert outstanding(shop, customer) == due_of(shop, number) == before - 60
    [overview] = customer.get("/customer/credit").json()["outstanding_orders"]
    assert overview["total_cost"] - overview["total_paid"] == overview["total_due"] == float(before - 60)
    credit(shop, number, (placed["items"][0]["id"], 1), (None, 1))
    assert (outstanding(shop, customer), due_of(shop, number)) == (NONE, NONE)
    assert read(customer, placed)["status"] == "Completed"


def test_a_credit_note_on_a_paid_invoice_frees_the_money(shop: Service) -> None:
    customer = shop.customer()
    placed = invoiced(shop, customer)
    number = number_of(shop, placed)
    payment = pay_in(shop, customer, "66.60", number)
    credit(shop, number, amount="10.00")
    assert (unallocated(shop, customer), outstanding(shop, customer), due_of(shop, number)) == (Decimal(12), NONE, NONE)
    reverse(shop, payment)
    assert (unallocated(shop, customer), due_of(shop, number)) == (NONE, Decimal("54.60"))


@pytest.mark.parametrize(
    ("lines", "amount", "problem"),
    [
        ([], "55.51", r"amount: must be at most £55\.50, which is invoiced and not yet credited"),
        ([], "0", r"amount: must be more than 0"),
        ([(1, 1)], None, r"lines\[0\]\.item_id: item 1 is not on the invoice"),
        ([(None, 2)], None, r"lines\[0\]\.quantity: must be 1 to 1: 1 of 1 are invoiced"),
        ([(None, 1), (None, 1)], None, r"lines: must name at least one line, and each line once"),
    ],
)
def test_more_than_what_is_invoiced_is_rejected(shop: Service, lines: Any, amount: str | None, problem: str) -> None:
    number = number_of(shop, invoiced(shop, shop.customer()))
    with pytest.raises(DomainError, match=problem) as rejected:
        credit(shop, number, *lines, amount=amount)
    assert rejected.value.kind is Kind.INVALID


def test_amounts_and_lines_together_never_exceed_the_invoice(shop: Service) -> None:
    placed = invoiced(shop, shop.customer())
    number = number_of(shop, placed)
    credit(shop, number, amount="10.00")
    with pytest.raises(DomainError, match=r"only £45\.50 is left to credit"):
        credit(shop, number, (placed["items"][0]["id"], 1))
    credit(shop, number, amount="45.50")
    with pytest.raises(DomainError, match=r"^amount: must be"):
        credit(shop, number, amount="0.01")
    assert due_of(shop, number) == 0


def test_numbers_have_no_gap_and_notes_never_change(shop: Service) -> None:
    numbers = [number_of(shop, invoiced(shop, shop.customer())) for _ in range(4)]
    in_parallel([lambda number=number: credit(shop, number, amount="1.00") for number in numbers])  # type: ignore[misc]
    with pytest.raises(DomainError):
        credit(shop, numbers[0], amount="1000")
    found = [number for (number,) in rows(shop, "select number from credit_note order by number")]
    assert found == list(range(50001, 50001 + len(found)))
    with pytest.raises(psycopg.errors.RaiseException, match="never change"):
        rows(shop, "update credit_note set reason = '' returning number")


def test_units_that_came_back_are_credited_from_the_oldest_invoice_on(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("PHONE", 3)])
    item = placed["items"][0]["id"]
    numbers = []
    for units in (1, 2):
        dispatch(shop, placed, (item, units))
        numbers.append(issue_part(shop, placed).number)
    order_id, [first, second] = placed["order_id"], numbers

    def creditable(units: int) -> dict[int, list[CreditLine]]:
        return shop.in_transaction(lambda tx: creditable_units(tx, order_id, {item: units}))

    assert creditable(2) == {first: [CreditLine(item, 1)], second: [CreditLine(item, 1)]}
    credit(shop, first, (item, 1))
    assert creditable(9) == {second: [CreditLine(item, 2)]}


def test_the_document_says_what_vat_law_asks(shop: Service) -> None:
    customer = shop.customer(accounts_email="pay@credit.example", company="Buyer plc")
    placed = invoiced(shop, customer, customer_reference="PO-77")
    number = number_of(shop, placed)
    note = credit(shop, number, (placed["items"][0]["id"], 1), reason="Arrived broken")
    pdf = shop.in_transaction(lambda tx: PRINTED_CREDIT_NOTES.one(tx, note.number)).pdf
    text = pdf_text(pdf)
    for shown in (
        "CREDIT NOTE", f"Credit note number {note.number}", f"Invoice number {number}", "Invoice date", "16 June 2026",
        "Seller & Sons Ltd", "GB123456782", "Buyer plc", "Arrived broken.", "PHONE", "£50.00", "VAT at 20%", "£60.00",
        "PO-77",
    ):  # fmt: skip
        assert shown in text.replace("\u00a0", " "), shown
    [mail] = [mail for mail in deliver_mail(shop) if f"Credit note {note.number}" in mail["Subject"]]
    assert mail["To"] == "pay@credit.example"
    [attached] = mail.iter_attachments()
    assert attached.get_content() == pdf


def test_the_file_the_api_and_the_page_have_the_same_vat_which_adds_up_to_the_invoice(shop: Service) -> None:
    customer = shop.customer()
    skus = [sell(shop, f"PENNIES-{number}", cost, available=1) for number, cost in enumerate(("1.00", *["0.03"] * 4))]
    placed = invoiced(shop, customer, *((sku, 1) for sku in skus))
    number = number_of(shop, placed)
    credit(shop, number, (None, 1))
    for _ in range(22):  # each takes a penny of VAT, where the rate gives 0.6
        credit(shop, number, amount="0.03")
    note = credit(shop, number, *((item["id"], 1) for item in placed["items"][1:]))
    told = customer.get(f"/credit-note/{note.number}").json()
    page = text_of(customer_user(shop, customer.id, "accounts").get(f"/account/invoice/credit-note/{note.number}"))
    pdf = shop.in_transaction(lambda tx: PRINTED_CREDIT_NOTES.one(tx, note.number)).pdf
    printed = pdf_text(pdf).replace("\u00a0", " ")
    assert [line["cost_tax"] for line in told["lines"]] == [0.01, 0.01, 0, 0]
    assert [told[name] for name in ("cost_net", "cost_tax", "cost_gross")] == [0.12, 0.02, 0.14]
    for sku, vat in zip(skus[1:], ("0.01", "0.01", "0.00", "0.00"), strict=True):
        assert re.search(rf"{sku} .*? 1 £0\.03 20% £0\.03 £{vat}", printed), printed
        assert re.search(rf"{sku} .*? 1 £0\.03 £0\.03 20 ?% £{vat}", page), page
    assert "Total excluding VAT £0.12 VAT at 20% £0.02 Total including VAT £0.14" in printed
    assert "Net £0.12 VAT £0.02 Total £0.14" in page
    credit(shop, number, amount=str(due_of(shop, number)))
    assert (due_of(shop, number), outstanding(shop, customer)) == (NONE, NONE)
    credited = rows(shop, "select sum(net), sum(vat) from credit_note where invoice = %s", number)
    assert credited == rows(shop, "select net, vat from invoice where number = %s", number)
