"""The customer's pages of invoices, statement and credit."""

import pytest

from support.billing import invoiced, number_of, pay
from support.pages import Person, customer_user, text_of
from support.service import Customer, Service

INVOICES, STATEMENT, CREDIT = "/account/invoice", "/account/invoice/statement", "/account/credit"


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(company="Bright & <Sons>", credit="5000.00")


@pytest.fixture(scope="module")
def accountant(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "accounts")


def test_a_new_account_has_no_invoices(shop: Service) -> None:
    new = customer_user(shop, shop.customer().id)
    assert "There are no invoices yet" in text_of(new.get(INVOICES))
    assert "There are no credit notes" in text_of(new.get(f"{INVOICES}/credit-note"))
    assert "Everything is paid" in text_of(new.get(CREDIT))
    assert new.get(STATEMENT).status_code == 200


def test_invoices_are_listed_with_what_is_left_to_pay(shop: Service, customer: Customer, accountant: Person) -> None:
    paid, part, open_one = (invoiced(shop, customer, customer_reference=f"INV <{n}>") for n in range(3))
    pay(shop, paid, "66.60")
    pay(shop, part, "20.00")
    said = text_of(accountant.get(INVOICES))
    assert "Paid" in said
    assert "Part paid" in said
    unpaid = text_of(accountant.get(f"{INVOICES}?show=unpaid"))
    assert str(number_of(shop, open_one)) in unpaid
    assert str(number_of(shop, paid)) not in unpaid.split("Left to pay")[1]
    assert "No invoice matches" in text_of(accountant.get(f"{INVOICES}?show=overdue"))
    assert accountant.get(f"{INVOICES}?show=all").status_code == 400
    file = accountant.get(f"{INVOICES}?format=csv").text
    assert len(file.splitlines()) == 4


def test_the_files_of_invoices_are_the_customers_own(shop: Service, customer: Customer, accountant: Person) -> None:
    own, other = number_of(shop, invoiced(shop, customer)), number_of(shop, invoiced(shop, shop.customer()))
    file = accountant.get(f"{INVOICES}/{own}/pdf")
    assert file.content.startswith(b"%PDF")
    assert file.headers["Content-Disposition"] == f'attachment; filename="invoice-{own}.pdf"'
    for number in (other, 99999999, "x"):
        assert accountant.get(f"{INVOICES}/{number}/pdf").status_code == 404
        assert accountant.get(f"{INVOICES}/credit-note/{number}/pdf").status_code == 404


def test_the_statement_is_a_page_and_two_files(shop: Service, customer: Customer, accountant: Person) -> None:
    invoiced(shop, customer, customer_reference="ON THE <STATEMENT>")
    page = accountant.get(STATEMENT)
    assert "ON THE <STATEMENT>" in text_of(page)
    assert "<STATEMENT>" not in page.text
    assert "Closing balance" in text_of(page)
    today = shop.clock.now().date().isoformat()
    days = f"from={today}&to={today}"
    file = accountant.get(f"{STATEMENT}?{days}&format=csv")
    assert file.text.startswith("date,kind,number")
    assert f"statement-{customer.id}-{today}.csv" in file.headers["Content-Disposition"]
    assert accountant.get(f"{STATEMENT}?{days}&format=pdf").content.startswith(b"%PDF")
    assert accountant.get(f"{STATEMENT}?from=&to=").status_code == 200


def test_wrong_days_are_explained_beside_their_fields(accountant: Person) -> None:
    for query in ("from=yesterday", "from=2026-05-01&to=2020-01-01", "from=yesterday&format=pdf"):
        page = accountant.get(f"{STATEMENT}?{query}")
        assert page.status_code == 400
        assert "form-from-error" in page.text


def test_the_credit_is_shown_with_its_ageing(shop: Service) -> None:
    customer = shop.customer(credit="1000.00")
    invoiced(shop, customer, customer_reference="CRE<DIT")
    page = customer_user(shop, customer.id, "accounts").get(CREDIT)
    said = text_of(page)
    assert "£66.60 Used by orders" in said
    assert "£933.40 Available" in said
    assert "1 to 30 days" in said
    assert "CRE<DIT" in said
    none = customer_user(shop, shop.customer(credit=None).id)
    assert "Your account has no credit" in text_of(none.get(CREDIT))


def test_only_owners_and_accountants_see_money(shop: Service, customer: Customer) -> None:
    for role in ("buyer", "developer"):
        person = customer_user(shop, customer.id, role)
        for path in (INVOICES, f"{INVOICES}/credit-note", STATEMENT, CREDIT):
            assert person.get(path).status_code == 403
    owner = customer_user(shop, customer.id, "owner")
    for path in (INVOICES, f"{INVOICES}/credit-note", STATEMENT, CREDIT):
        assert owner.get(path).status_code == 200
