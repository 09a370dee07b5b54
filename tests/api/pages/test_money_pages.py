"""The staff's pages of debtors, invoices, credit notes and statements."""

import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal

import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import credit, due_of, invoiced, number_of, pay_in, pdf_text
from support.mail import deliver_mail, html, plain
from support.orders import at, rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Customer, Service
from tradecounter.edge.page_kit.tables import cursor_text

SELLER = {
    "seller_name": "Trade & Sons",
    "seller_address": "7 Sales Street, York",
    "seller_vat_number": "GB123456782",
}


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop, **SELLER) as running:
        yield running


@pytest.fixture(scope="module")
def fran(office: BackOfficeSite) -> Person:
    """Someone from finance."""
    return staff_member(office.service, office.url, "finance")


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Bright & <Sons>", accounts_email="accounts@bright.example")


def test_debtors_are_listed_by_age_with_their_sums(office: BackOfficeSite) -> None:
    service = office.service
    late = service.customer(company="Late Payers Ltd", term_days=7)
    invoiced(service, late, ("PHONE", 1))
    with at(service, service.clock.now() + timedelta(days=20)):
        fran = staff_member(service, office.url, "finance")
        page = fran.get("/money")
        text = text_of(page)
        for part in ("Late Payers Ltd", "1 to 30 days", "Overdue", "Due by age"):
            assert part in text
        file = list(csv.DictReader(io.StringIO(fran.get("/money?format=csv").text)))
        [row] = [row for row in file if row["customer_id"] == str(late.id)]
        assert row["days_1_30"] == row["due"] == row["overdue"] != "0.00"
        by_due = [row["due"] for row in csv.DictReader(io.StringIO(fran.get("/money?format=csv&sort=-due").text))]
        assert by_due == sorted(by_due, key=float, reverse=True)
    assert fran.get("/money?after=nonsense").status_code == 400


def test_invoices_are_filtered_and_sorted(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    service = office.service
    first, second = (number_of(service, invoiced(service, customer, ("CABLE", n))) for n in (1, 2))
    pay_in(service, customer, str(due_of(service, first)), first)
    mine = f"customer_id={customer.id}"
    assert _numbers(fran.get(f"/invoice?{mine}&show=paid").text) == [first]
    assert _numbers(fran.get(f"/invoice?{mine}&show=unpaid").text) == [second]
    assert _numbers(fran.get(f"/invoice?{mine}&show=overdue").text) == []
    assert _numbers(fran.get(f"/invoice?{mine}&sort=number").text)[:2] == [first, second]
    assert _numbers(fran.get(f"/invoice?number={second}").text) == [second]
    assert _numbers(fran.get(f"/invoice?{mine}&issued_from=2026-06-17").text) == []
    assert set(_numbers(fran.get(f"/invoice?{mine}&issued_to=2026-06-16").text)) >= {first, second}
    for sort in ("number", "-number", "gross", "due", "due_on"):
        assert fran.get(f"/invoice?sort={sort}").status_code == 200
    wrong = fran.get("/invoice?issued_from=soon&show=unpaid")
    assert wrong.status_code == 400
    assert "filter-issued_from-error" in wrong.text


def test_an_invoice_is_found_by_its_order(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    placed = invoiced(office.service, customer, ("CABLE", 1))
    number, reference = number_of(office.service, placed), placed["order_reference"]
    assert _numbers(fran.get(f"/invoice?order={reference.lower()}").text) == [number]
    assert _numbers(fran.get("/invoice?order=NOTHING").text) == []


def test_every_order_of_invoices_goes_on_behind_a_row(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer()
    low, high = (number_of(office.service, invoiced(office.service, customer, ("CABLE", n))) for n in (1, 2))
    for sort, first, then in (("number", low, high), ("-gross", high, low), ("due", low, high), ("due_on", low, high)):
        row = rows(office.service, "select number, gross, gross, due_at from invoice where number = %s", first)[0]
        value = row[("number", "gross", "due", "due_on").index(sort.removeprefix("-"))]
        after = cursor_text(value, first)
        assert _numbers(fran.get(f"/invoice?customer_id={customer.id}&sort={sort}&after={after}").text) == [then]


def test_an_invoice_shows_lines_amounts_payments_and_credit_notes(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    service = office.service
    number = number_of(service, invoiced(service, customer, ("PHONE", 2), ("CABLE", 3)))
    payment = pay_in(service, customer, "10.00", number, reference="BACS <7>")
    note = credit(service, number, amount="5.00", reason="a <b>scratch</b>")
    page = fran.get(f"/invoice/{number}")
    text = text_of(page)
    for part in ("PHONE", "CABLE", "Shipping", "£10.00", "Part paid", f"Credit note {note.number}", "BACS <7>"):
        assert part.lower() in text.lower()
    assert f'href="/payment/{payment.id}"' in page.text
    assert "<b>scratch" not in page.text
    assert "Bright &amp; &lt;Sons&gt;" in page.text
    assert fran.get("/invoice/999999").status_code == 404
    assert fran.get("/invoice/none").status_code == 404


def test_invoices_and_credit_notes_are_pdf_files(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    note = credit(office.service, number, amount="1.00").number
    for path, name in ((f"/invoice/{number}/pdf", "invoice"), (f"/credit-note/{note}/pdf", "credit-note")):
        file = fran.get(path)
        assert file.headers["Content-Type"] == "application/pdf"
        assert f"{name}-" in file.headers["Content-Disposition"]
        assert str(number) in pdf_text(file.content)


def test_what_is_overdue_has_its_sum_and_its_days_the_oldest_first(office: BackOfficeSite) -> None:
    service = office.service
    late = service.customer(company="Very Late Ltd", term_days=7)
    numbers = []
    for days in (40, 20):
        with at(service, service.clock.now() - timedelta(days=days)):
            numbers.append(number_of(service, invoiced(service, late, ("CABLE", 1))))
    number_of(service, invoiced(service, late, ("CABLE", 1)))
    page = staff_member(service, office.url, "finance").get(f"/invoice?customer_id={late.id}&show=overdue")
    assert _numbers(page.text) == numbers
    due = sum(due_of(service, number) for number in numbers)
    for part in (f"2 invoices, £{due} due", "33 days late", "13 days late"):
        assert part in text_of(page), part


def test_an_invoice_is_sent_again(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    fields = fields_of(fran.get(f"/invoice/{number}/resend"))
    assert "accounts@bright.example" in text_of(fran.sends(f"/invoice/{number}/resend", fields))
    found = rows(office.service, "select action from audit_entry where subject = %s order by id", f"invoice/{number}")
    assert found[-1] == ("invoice.resend",)


@pytest.mark.sweep
def test_a_debtor_is_reminded_of_all_unpaid_invoices(office: BackOfficeSite, fran: Person) -> None:
    service = office.service
    debtor = service.customer(company="Slow & Sons", accounts_email="ledger@slow.example", term_days=7)
    path = f"/customer/{debtor.id}/remind"
    assert fran.get(path).status_code == 409
    numbers = [number_of(service, invoiced(service, debtor)) for _ in range(2)]
    paid = number_of(service, invoiced(service, debtor))
    pay_in(service, debtor, str(due_of(service, paid)), invoice=paid)
    assert "nothing of it is overdue yet" in text_of(fran.get(path))
    assert path not in fran.get("/money").text, "the list offers reminders of what is overdue"
    with at(service, service.clock.now() + timedelta(days=8)):
        fran = staff_member(service, office.url, "finance")
        assert f'href="{path}?from_debtors=true"' in fran.get("/money").text
        asked = text_of(fran.get(path))
        due = f"£{sum(due_of(service, number) for number in numbers)}"
        assert f"ledger@slow.example gets an e-mail with 2 unpaid invoices, {due} in all; {due} of it is" in asked
        assert "Unpaid invoices of Slow & Sons 2 of these invoices are overdue." in asked
        assert "sent to ledger@slow.example" in text_of(fran.sends(path, fields_of(fran.get(path))))
        subject = "Unpaid invoices of Slow & Sons"
        [mail] = [mail for mail in deliver_mail(service) if mail["Subject"] == subject]
        assert mail["To"] == "ledger@slow.example"
        for words in (plain(mail), html(mail)):
            assert "2 of these invoices are overdue." in words
            assert all(str(number) in words for number in numbers)
            assert str(paid) not in words
    found = rows(service, "select action from audit_entry where subject = %s order by id", f"customer/{debtor.id}")
    assert found[-1] == ("customer.remind",)


def test_an_invoice_without_recipients_says_what_is_missing(office: BackOfficeSite, fran: Person) -> None:
    number = number_of(office.service, invoiced(office.service, office.service.customer()))
    rejected = fran.send(f"/invoice/{number}/resend", fields_of(fran.get(f"/invoice/{number}/resend")))
    assert rejected.status_code == 409
    assert "no recipients" in text_of(rejected)


def test_units_of_lines_are_credited(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer, ("PHONE", 2), ("CABLE", 3)))
    fields = fields_of(fran.get(f"/invoice/{number}/credit-note"))
    page = fran.confirms(f"/invoice/{number}/credit-note", {**fields, "lines-1-quantity": "2", "reason": "Damaged."})
    text = text_of(page)
    for part in ("is issued", "CABLE", "Damaged."):
        assert part in text
    assert "PHONE" not in text
    left = text_of(fran.get(f"/invoice/{number}/credit-note"))
    assert "CABLE (1 of 3" in left


def test_shipping_and_amounts_are_credited(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer, ("PHONE", 1)))
    path = f"/invoice/{number}/credit-note"
    fields = fields_of(fran.get(path))
    assert "Shipping" in text_of(fran.confirms(path, {**fields, "lines-1-quantity": "1", "reason": "Late."}))
    fields = fields_of(fran.get(path))
    assert "£5.00" in text_of(fran.confirms(path, {**fields, "amount": "£5", "reason": "A discount."}))


def test_a_credit_note_shows_its_total_before_it_is_issued(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = number_of(
        office.service, invoiced(office.service, customer, (sell(office.service, "RACK", 2000, available=1), 1))
    )
    path = f"/invoice/{number}/credit-note"
    fields = fields_of(fran.get(path)) | {"amount": " £1,250.50 ", "reason": "A <b>discount"}
    shown = fran.send(path, fields)
    assert shown.status_code == 200
    for part in ("£1,250.50", "£250.10", "Issue it over £1,500.60", "of the invoice is due then"):
        assert part in text_of(shown)
    assert "<b>discount" not in shown.text
    assert rows(office.service, "select count(*) from credit_note where invoice = %s", number) == [(0,)]
    seen = fran.shown(shown)
    other = fran.send(path, fields | {"amount": "2"} | seen)
    assert (other.status_code, "Issue it over £2.40" in text_of(other)) == (200, True)
    assert "£1,500.60" in text_of(fran.sends(path, fields | seen))
    assert rows(office.service, "select gross from credit_note where invoice = %s", number) == [(Decimal("1500.60"),)]


def test_errors_of_a_credit_note_are_beside_their_fields(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = number_of(office.service, invoiced(office.service, customer, ("PHONE", 2), ("CABLE", 3)))
    path = f"/invoice/{number}/credit-note"
    fields = fields_of(fran.get(path))
    many = fran.send(path, {**fields, "lines-1-quantity": "4", "reason": "Damaged."})
    assert many.status_code == 400
    assert "form-lines-1-quantity-error" in many.text
    assert "must be 1 to 3" in text_of(many).lower()
    assert fields_of(many)["lines-1-quantity"] == "4"
    nothing = fran.send(path, {**fields, "reason": "Damaged."})
    assert "form-amount-error" in nothing.text
    both = fran.send(path, {**fields, "lines-0-quantity": "1", "amount": "2", "reason": "Damaged."})
    assert "must be left out" in text_of(both)
    assert "form-reason-error" in fran.send(path, {**fields, "amount": "2", "reason": ""}).text
    assert rows(office.service, "select count(*) from credit_note where invoice = %s", number) == [(0,)]


def test_credit_notes_are_listed(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    note = credit(office.service, number, amount="1.00", reason="=SUM(1)").number
    assert f'href="/credit-note/{note}"' in fran.get(f"/credit-note?invoice={number}&sort=gross").text
    assert "No credit note matches" in text_of(fran.get(f"/credit-note?invoice={number}&issued_from=2027-01-01"))
    assert "'=SUM(1)" in fran.get(f"/credit-note?invoice={number}&format=csv").text
    for path in (f"/invoice?number={number}", f"/credit-note?invoice={number}"):
        [row] = csv.DictReader(io.StringIO(fran.get(f"{path}&format=csv").text))
        assert Decimal(row["net"]) + Decimal(row["vat"]) == Decimal(row["gross"]) > Decimal(row["net"]) > 0
    assert fran.get("/credit-note/999999").status_code == 404


def test_entries_of_a_statement_lead_to_their_documents_and_payments(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer()
    number = number_of(office.service, invoiced(office.service, customer))
    payment = pay_in(office.service, customer, "10.00", number).id
    note = credit(office.service, number, amount="1.00").number
    page = fran.get(f"/customer/{customer.id}/statement").text
    for path in (f"/invoice/{number}", f"/payment/{payment}", f"/credit-note/{note}"):
        assert f'href="{path}"' in page


def test_a_statement_has_a_chart_of_what_is_due_by_age(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Statement Ltd")
    number = number_of(office.service, invoiced(office.service, customer))
    page = fran.get(f"/customer/{customer.id}/statement")
    assert f"Not due yet £{due_of(office.service, number)}" in text_of(page)
    assert f'href="/customer/{customer.id}/statement"' in fran.get("/money").text


def test_each_role_sees_and_does_only_its_own(office: BackOfficeSite, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    sue = staff_member(office.service, office.url, "support")
    page = sue.get(f"/invoice/{number}").text
    assert "/resend" in page
    assert "/credit-note" not in page.replace('href="/credit-note"', "")
    assert "/payment/new" not in page
    assert sue.send(f"/invoice/{number}/credit-note", {"amount": "1", "reason": "x"}).status_code == 403
    packer = staff_member(office.service, office.url, "warehouse")
    for path in ("/money", "/invoice", f"/invoice/{number}", "/credit-note", "/payment"):
        assert packer.get(path).status_code == 403
    assert "Money" not in text_of(packer.get("/"))


def test_the_pages_of_money_are_one_subject_of_the_menu(fran: Person) -> None:
    for path in ("/money", "/invoice", "/credit-note", "/payment"):
        menu = fran.get(path).text.split('<nav class="subjects"')[1].split("</nav>")[0]
        assert menu.count("aria-current") == 1
        assert 'href="/money" aria-current' in menu


def _numbers(page: str) -> list[int]:
    parts = page.split('data-label="Invoice"><a href="/invoice/')[1:]
    return [int(part.split('"')[0]) for part in parts]
