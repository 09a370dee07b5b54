"""The staff's pages of payments."""

from decimal import Decimal

import pytest

from support.backoffice import BackOfficeSite
from support.billing import due_of, invoiced, number_of, pay_in, unallocated
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Customer


@pytest.fixture(scope="module")
def fran(office: BackOfficeSite) -> Person:
    """Someone from finance."""
    return staff_member(office.service, office.url, "finance")


@pytest.fixture
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Payers & <Co>")


def test_a_payment_of_an_invoice_is_recorded_from_its_page(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    form = fran.get(f"/payment/new?invoice={number}")
    fields = fields_of(form)
    assert "Payers & <Co>" in text_of(form)
    assert fields["amount"] == str(due_of(office.service, number))
    assert fields["received_on"] == "2026-06-16"
    page = fran.sends("/payment/new", {**fields, "reference": "BACS 1"})
    assert f"for invoice {number}." in text_of(page)
    assert due_of(office.service, number) == 0
    assert "Payers &amp; &lt;Co&gt;" in page.text


def test_a_payment_of_an_account_pays_the_oldest_and_the_rest_stays(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = number_of(office.service, invoiced(office.service, customer, ("CABLE", 1)))
    fields = fields_of(fran.get(f"/payment/new?customer_id={customer.id}"))
    fields |= {"amount": "£1,000.00", "reference": "X"}
    shown = fran.send("/payment/new", fields)
    assert "£1,000.00 of Payers & <Co>" in text_of(shown)
    assert unallocated(office.service, customer) == 0
    page = fran.sends("/payment/new", fields | fran.shown(shown))
    assert f'href="/invoice/{number}"' in page.text
    assert "On the account" in text_of(page)
    assert unallocated(office.service, customer) > 0


def test_a_form_records_only_what_it_has_shown(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    first, second = (number_of(office.service, invoiced(office.service, customer)) for _ in range(2))
    due = due_of(office.service, first)
    form = fran.get(f"/payment/new?invoice={first}")
    assert f"£{due} pays invoice {first} in full" in text_of(form), "the invoice's form shows it at once"
    fields = fields_of(form) | {"amount": "  £1.50 "}
    shown = fran.send("/payment/new", fields)
    assert f"£1.50 pays invoice {first} , of which £{due - Decimal('1.50')} is still due" in text_of(shown)
    assert due_of(office.service, first) == due
    fields = fields_of(fran.get(f"/payment/new?customer_id={customer.id}")) | {"amount": f"{due + 1}"}
    shown = fran.send("/payment/new", fields)
    assert f"£{due} pays invoice {first} in full £1.00 pays invoice {second}" in text_of(shown)
    seen = fields_of(shown)["seen"]
    pay_in(office.service, customer, "0.50", first)
    changed = fran.send("/payment/new", fields | {"seen": seen})
    assert changed.status_code == 200, "another payment came between"
    assert f"£1.50 pays invoice {second}" in text_of(changed)
    page = fran.sends("/payment/new", fields | {"seen": fields_of(changed)["seen"]})
    assert f"for invoices {first}, {second}." in text_of(page)


def test_more_than_a_pound_beyond_what_is_due_is_asked_about(
    office: BackOfficeSite, fran: Person, customer: Customer
) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    due = due_of(office.service, number)
    fields = fields_of(fran.get(f"/payment/new?invoice={number}"))
    assert "on_account" not in fran.send("/payment/new", fields | {"amount": f"{due + 1}"}).text
    fields |= {"amount": f"{due + Decimal('1.01')}"}
    shown = fran.send("/payment/new", fields)
    assert "It is £1.01 more than is due" in text_of(shown)
    fields |= {"seen": fields_of(shown)["seen"]}
    for answer in ({}, {"on_account": "true"}, {"on_account": "10.10"}):
        asked = fran.send("/payment/new", fields | answer)
        assert asked.status_code == 400
        assert "tick that it stays on the account" in text_of(asked)
    assert due_of(office.service, number) == due
    fran.sends("/payment/new", fields | fran.shown(asked))
    assert due_of(office.service, number) == 0
    assert str(unallocated(office.service, customer)) == "1.01"


def test_a_payments_form_finds_customers_by_name(office: BackOfficeSite, fran: Person) -> None:
    tower, bridge = (
        office.service.customer(company=f"Tower <{name}> Telecom", email_address=f"{name.lower()}@tower.example")
        for name in ("Hill", "Bridge")
    )
    fields = fields_of(fran.get("/payment/new")) | {"amount": "0.40", "reference": "N"}
    nobody = fran.send("/payment/new", fields | {"customer_id": "Nobody & Co"})
    assert "form-customer_id-error" in nobody.text
    several = fran.send("/payment/new", fields | {"customer_id": "tower <"})
    assert several.status_code == 400
    assert "form-customer_id-error" in several.text
    assert f'name="picked" type="radio" value="{bridge.id}"' in several.text
    fields |= {"customer_id": "tower <", "picked": str(bridge.id)}
    assert "£0.40 of Tower <Bridge> Telecom" in text_of(fran.send("/payment/new", fields))
    fran.confirms("/payment/new", fields)
    fran.confirms("/payment/new", fields | {"customer_id": "<hill> telecom"})
    fran.confirms("/payment/new", fields | {"customer_id": "hill@tower.example", "reference": "E"})
    assert (str(unallocated(office.service, bridge)), str(unallocated(office.service, tower))) == ("0.40", "0.80")


def test_a_live_preview_says_why_nothing_can_be_recorded(fran: Person, customer: Customer) -> None:
    fields = fields_of(fran.get("/payment/new")) | {"customer_id": str(customer.id), "preview": "live"}
    wrong = fran.send("/payment/new", fields | {"amount": "12,50"})
    assert "12,50" in text_of(wrong)
    assert 'name="seen"' not in wrong.text


def test_a_duplicate_is_recorded_only_by_force(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    pay_in(office.service, customer, "5.00", reference="TWICE")
    fields = fields_of(fran.get(f"/payment/new?customer_id={customer.id}")) | {"amount": "5.00", "reference": "TWICE"}
    rejected = fran.send("/payment/new", fields)
    assert rejected.status_code == 409
    assert "same reference, amount and date" in text_of(rejected)
    assert 'name="force"' in rejected.text
    assert 'name="force"' not in fran.get("/payment/new").text
    again = fields_of(rejected) | {"method": "bank_transfer", "force": "true"}
    assert "is recorded on the account" in text_of(fran.confirms("/payment/new", again))


def test_a_form_that_is_sent_twice_records_one_payment(fran: Person, customer: Customer) -> None:
    fields = fields_of(fran.get(f"/payment/new?customer_id={customer.id}")) | {"amount": "6.00"}
    fields |= fran.shown(fran.send("/payment/new", fields))
    assert fran.sends("/payment/new", fields).url == fran.sends("/payment/new", fields).url


def test_errors_of_a_payment_are_beside_their_fields(fran: Person, customer: Customer) -> None:
    fields = fields_of(fran.get("/payment/new"))
    wrong = fran.send("/payment/new", {**fields, "invoice": "x", "amount": "a lot", "received_on": "soon"})
    assert wrong.status_code == 400
    for name in ("invoice", "amount", "received_on"):
        assert f"form-{name}-error" in wrong.text
    assert fields_of(wrong)["amount"] == "a lot"
    nobody = fran.send("/payment/new", {**fields, "amount": "5"})
    assert "form-invoice-error" in nobody.text
    for day in ("2030-01-01", "0026-06-16"):
        never = fran.send("/payment/new", {**fields, "customer_id": customer.id, "amount": "5", "received_on": day})
        assert "form-received_on-error" in never.text
    assert fran.send("/payment/new", {**fields, "customer_id": "999999", "amount": "5"}).status_code == 404


def test_a_refund_is_of_money_on_the_account(fran: Person, customer: Customer, office: BackOfficeSite) -> None:
    pay_in(office.service, customer, "9.00", reference="R")
    fields = fields_of(fran.get(f"/payment/new?customer_id={customer.id}"))
    too_much = fran.send("/payment/new", {**fields, "amount": "10", "method": "refund"})
    assert "form-amount-error" in too_much.text
    fields |= {"amount": "9", "method": "refund"}
    assert "£9.00 is given back to Payers & <Co>" in text_of(fran.send("/payment/new", fields))
    page = fran.confirms("/payment/new", fields)
    assert "Refund" in text_of(page)
    assert unallocated(office.service, customer) == 0


def test_a_payment_is_reversed_with_a_reason(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    number = number_of(office.service, invoiced(office.service, customer))
    due = due_of(office.service, number)
    payment = pay_in(office.service, customer, str(due), number)
    path = f"/payment/{payment.id}/reverse"
    fields = fields_of(fran.get(path))
    assert "form-reason-error" in fran.send(path, {**fields, "reason": " "}).text
    page = fran.sends(path, {**fields, "reason": "<b>bounced</b>"})
    assert "Reversed" in text_of(page)
    assert "<b>bounced" not in page.text
    assert f'href="{path}"' not in page.text
    assert due_of(office.service, number) == due
    assert fran.send(path, {"reason": "again"}).status_code == 409
    assert "reversed" in text_of(fran.get(f"/payment?customer_id={customer.id}"))


def test_payments_are_filtered_and_sorted(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    first = pay_in(office.service, customer, "3.00", reference="ALPHA 1").id
    second = pay_in(office.service, customer, "2.00", reference="beta", method="card").id
    mine = f"customer_id={customer.id}"
    assert _ids(fran.get(f"/payment?{mine}").text) == [second, first]
    assert _ids(fran.get(f"/payment?{mine}&sort=-amount").text) == [first, second]
    assert _ids(fran.get(f"/payment?{mine}&reference=alpha").text) == [first]
    assert _ids(fran.get(f"/payment?{mine}&method=card").text) == [second]
    assert _ids(fran.get(f"/payment?{mine}&received_from=2026-06-17").text) == []
    assert _ids(fran.get(f"/payment?{mine}&received_to=2026-06-16&sort=received").text) == [first, second]
    assert fran.get(f"/payment?{mine}&format=csv").text.count("\n") == 3
    assert fran.get("/payment?received_from=soon").status_code == 400
    assert fran.get("/payment/999999").status_code == 404


def test_pages_of_payments_have_each_once(office: BackOfficeSite, fran: Person, customer: Customer) -> None:
    made = {pay_in(office.service, customer, f"{n % 7 + 1}.00").id for n in range(51)}
    for sort in ("-recorded", "amount", "-received"):
        first = fran.get(f"/payment?customer_id={customer.id}&sort={sort}").text
        following = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
        assert len(_ids(first)) == 50
        assert {*_ids(first), *_ids(fran.get(following).text)} == made


def test_support_sees_payments_and_records_none(office: BackOfficeSite, customer: Customer) -> None:
    sue = staff_member(office.service, office.url, "support")
    payment = pay_in(office.service, customer, "4.00")
    assert "/payment/new" not in sue.get("/payment").text
    assert "/reverse" not in sue.get(f"/payment/{payment.id}").text
    for path in ("/payment/new", "/payment/import", f"/payment/{payment.id}/reverse"):
        assert sue.get(path).status_code == 403
        assert sue.send(path).status_code == 403


def _ids(page: str) -> list[int]:
    return [int(part.split('"')[0]) for part in page.split('data-label="Payment"><a href="/payment/')[1:]]
