"""The customer's pages of invoices, statement and credit."""

import io
import zipfile
from datetime import timedelta

import pytest

from support.billing import credit, invoiced, number_of, pay, pay_in
from support.orders import at, buy, dispatch
from support.pages import Person, customer_user, text_of
from support.service import Customer, Service, running_service

_BANK = "Sort code 12-34-56|No. 7"
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
    assert "paid" in said
    assert "part paid" in said
    unpaid = text_of(accountant.get(f"{INVOICES}?show=unpaid"))
    assert str(number_of(shop, open_one)) in unpaid
    assert str(number_of(shop, paid)) not in unpaid.split("Left to pay")[1]
    assert "No invoice matches" in text_of(accountant.get(f"{INVOICES}?show=overdue"))
    assert accountant.get(f"{INVOICES}?show=all").status_code == 400
    file = accountant.get(f"{INVOICES}?format=csv").text
    assert len(file.splitlines()) == 4


def test_only_invoices_are_overdue_on_pages(shop: Service) -> None:
    customer = shop.customer(credit="1000.00", term_days=0)
    dispatch(shop, buy(customer))
    with at(shop, shop.clock.now() + timedelta(days=3)):
        person = customer_user(shop, customer.id)
        credit = text_of(person.get(CREDIT))
        assert "£0.00 Overdue" in credit
        assert "Not invoiced yet" in credit
        assert "To do first" not in text_of(person.get("/account"))
    invoiced(shop, customer)
    pay_in(shop, customer, "76.60", number_of(shop, invoiced(shop, customer)))
    with at(shop, shop.clock.now() + timedelta(days=3)):
        assert "£66.60 Overdue" in text_of(person.get(CREDIT))
        assert "£66.60, less £10.00 that you have paid in advance" in text_of(person.get("/account"))


def test_invoices_are_found_by_reference_and_day(shop: Service, customer: Customer, accountant: Person) -> None:
    one, other = (invoiced(shop, customer, customer_reference=f"Site {name}/26") for name in ("Leeds", "York"))
    numbers = number_of(shop, one), number_of(shop, other)

    def found(**query: str) -> list[bool]:
        page = accountant.get(INVOICES, params=query)
        assert page.status_code == 200
        return [f'/account/invoice/{number}"' in page.text for number in numbers]

    today = shop.clock.now().date().isoformat()
    assert found(reference="leeds") == [True, False]
    assert found(reference=str(other["order_reference"]).lower()) == [False, True]
    assert found(issued_from=today, issued_to=today, reference="site") == [True, True]
    assert found(reference="%") == found(reference="Site_Leeds") == found(issued_from="2030-01-01") == [False, False]
    assert accountant.get(f"{INVOICES}?issued_from=yesterday").status_code == 400
    assert "Site Leeds/26" in accountant.get(f"{INVOICES}?format=csv").text


def test_an_invoice_has_a_page_that_says_how_to_pay_it(own_shop: Service) -> None:
    customer = own_shop.customer()
    order = invoiced(own_shop, customer, customer_reference="PAY <ME>")
    number = number_of(own_shop, order)
    accountant = customer_user(own_shop, customer.id, "accounts")
    page = accountant.get(f"{INVOICES}/{number}")
    said = text_of(page)
    for text in (
        f"Invoice {number}",
        "PAY <ME>",
        "Product PHONE",
        "Left to pay",
        "How to pay",
        "Give this reference",
        " 20% ",
    ):
        assert text in said, text
    assert "<ME>" not in page.text
    pay(own_shop, order, "20.00")
    assert "£20.00" in text_of(accountant.get(f"{INVOICES}/{number}"))
    pay(own_shop, order, "46.60")
    paid = text_of(accountant.get(f"{INVOICES}/{number}"))
    assert "How to pay" not in paid
    buyer = customer_user(own_shop, customer.id, "buyer")
    assert buyer.get(f"{INVOICES}/{number}").status_code == 200
    assert buyer.get(INVOICES).status_code == 403
    stranger = customer_user(own_shop, own_shop.customer().id)
    for path in (f"{INVOICES}/{number}", f"{INVOICES}/99999999", f"{INVOICES}/x", f"{INVOICES}/0"):
        assert stranger.get(path).status_code == 404


def test_the_list_says_what_is_owed_and_how_to_pay_what_is_overdue(shop: Service) -> None:
    customer = shop.customer()
    accountant = customer_user(shop, customer.id, "accounts")
    assert "To pay" not in text_of(accountant.get(INVOICES))
    now = shop.clock.now()
    with at(shop, now - timedelta(days=60)):
        late = [number_of(shop, invoiced(shop, customer)) for _ in range(3)]
        pay_in(shop, customer, "26.60", late[0])
    invoiced(shop, customer)
    page = text_of(accountant.get(INVOICES, params={"show": "overdue"}))
    assert "£239.80 To pay £173.20 Overdue" in page
    assert f"Give this reference, so that the payment is placed at once: {' '.join(map(str, late))} The" in page
    assert "The amount in pounds: 173.20" in page
    assert page.index("Pay what is overdue") < page.index("Left to pay")
    with at(shop, now - timedelta(days=60)):
        invoiced(shop, customer)
    page = text_of(accountant.get(INVOICES))
    assert "Give the number of the invoice as the reference" in page
    assert "A reference has no room for all these invoices." in page
    with at(shop, now - timedelta(days=55)):
        assert "Pay what is overdue" not in text_of(accountant.get(INVOICES))


def test_money_paid_in_advance_counts_towards_what_is_overdue(shop: Service) -> None:
    customer = shop.customer()
    accountant = customer_user(shop, customer.id, "accounts")
    with at(shop, shop.clock.now() - timedelta(days=60)):
        invoiced(shop, customer)
        pay_in(shop, customer, "106.60", number_of(shop, invoiced(shop, customer)))
    page = text_of(accountant.get(INVOICES))
    assert "£66.60 is overdue, less £40.00 that you have paid in advance." in page
    assert "The amount in pounds" not in page
    assert "Pay what is overdue" in page


def test_the_bank_details_are_on_the_pages(own_shop: Service) -> None:
    customer = own_shop.customer()
    number = number_of(own_shop, invoiced(own_shop, customer))
    with running_service(
        own_shop.database_url, now=own_shop.clock.now(), seller_bank="Sort code 12-34-56|No. 7"
    ) as site:
        person = customer_user(site, customer.id, "accounts")
        for path in (INVOICES, f"{INVOICES}/{number}"):
            assert "Sort code 12-34-56" in text_of(person.get(path))


def test_many_invoices_are_one_zip_file(shop: Service) -> None:
    customer = shop.customer()
    accountant = customer_user(shop, customer.id, "accounts")
    assert accountant.get(f"{INVOICES}/zip").status_code == 404
    own = [number_of(shop, invoiced(shop, customer, customer_reference=f"ZIP {n}")) for n in range(3)]
    invoiced(shop, shop.customer())
    response = accountant.get(f"{INVOICES}/zip?reference=zip")
    assert response.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.namelist() == [f"invoice-{number}.pdf" for number in own]
        assert archive.read(archive.namelist()[0]).startswith(b"%PDF")
    with zipfile.ZipFile(io.BytesIO(accountant.get(f"{INVOICES}/zip?reference=zip+1").content)) as archive:
        assert len(archive.namelist()) == 1


def test_many_credit_notes_are_one_zip_file(shop: Service) -> None:
    customer = shop.customer()
    accountant = customer_user(shop, customer.id, "accounts")
    listed = f"{INVOICES}/credit-note"
    assert accountant.get(f"{listed}/zip").status_code == 404

    def credited(owner: Customer, reference: str) -> int:
        invoice = number_of(shop, invoiced(shop, owner, customer_reference=reference))
        return credit(shop, invoice, amount="5.00").number

    own = [credited(customer, f"ZIP {n}") for n in range(2)]
    credited(customer, "another")
    credited(shop.customer(), "ZIP 3")
    response = accountant.get(f"{listed}/zip?reference=zip")
    assert response.headers["Content-Type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert archive.namelist() == [f"credit-note-{number}.pdf" for number in own]
        assert archive.read(archive.namelist()[0]).startswith(b"%PDF")
    assert f"{listed}/zip?reference=zip" in accountant.get(f"{listed}?reference=zip").text


def test_the_files_of_invoices_are_the_customers_own(shop: Service, customer: Customer, accountant: Person) -> None:
    own, other = number_of(shop, invoiced(shop, customer)), number_of(shop, invoiced(shop, shop.customer()))
    file = accountant.get(f"{INVOICES}/{own}/pdf")
    assert file.content.startswith(b"%PDF")
    assert file.headers["Content-Disposition"] == f'attachment; filename="invoice-{own}.pdf"'
    for number in (other, 99999999, "x"):
        assert accountant.get(f"{INVOICES}/{number}/pdf").status_code == 404
        assert accountant.get(f"{INVOICES}/credit-note/{number}/pdf").status_code == 404


def test_a_credit_note_has_a_page_that_its_invoice_order_and_statement_lead_to(shop: Service) -> None:
    customer = shop.customer()
    orders = [invoiced(shop, customer, customer_reference=f"Site <{name}>") for name in ("Leeds", "York")]
    numbers = [number_of(shop, order) for order in orders]
    notes = [credit(shop, number, amount="5.00", reason="A <scratch>").number for number in numbers]
    accountant, owner, buyer = (customer_user(shop, customer.id, role) for role in ("accounts", "owner", "buyer"))
    path = f"{INVOICES}/credit-note/{notes[0]}"
    page = accountant.get(path)
    said = text_of(page)
    for text in (f"Credit note {notes[0]}", "Your reference Site <Leeds>", "A <scratch>", "£6.00", str(numbers[0])):
        assert text in said, text
    assert "<scratch>" not in page.text
    assert f'href="{path}/pdf"' in page.text
    assert buyer.get(path).status_code == 200
    order = f"/account/order/{orders[0]['order_reference']}"
    for place in (order, f"{INVOICES}/{numbers[0]}", STATEMENT, f"{INVOICES}/credit-note"):
        assert f'href="{path}"' in owner.get(place).text, place
    foreign = customer_user(shop, shop.customer().id, "accounts")
    assert foreign.get(path).status_code == foreign.get(f"{INVOICES}/credit-note/99999999").status_code == 404


def test_credit_notes_are_found_by_reference_and_day(shop: Service) -> None:
    customer = shop.customer()
    accountant = customer_user(shop, customer.id, "accounts")
    orders = [invoiced(shop, customer, customer_reference=f"Site {name}/26") for name in ("Leeds", "York")]
    notes = [credit(shop, number_of(shop, order), amount="5.00").number for order in orders]
    listed = f"{INVOICES}/credit-note"

    def found(**query: str) -> list[bool]:
        page = accountant.get(listed, params=query)
        return [f'{listed}/{note}"' in page.text for note in notes]

    today = shop.clock.now().date().isoformat()
    assert found() == found(reference="site", issued_from=today, issued_to=today) == [True, True]
    assert found(reference="leeds") == [True, False]
    assert found(reference=str(orders[1]["order_reference"]).lower()) == [False, True]
    assert found(issued_to="2020-01-01") == [False, False]
    assert accountant.get(f"{listed}?issued_from=yesterday").status_code == 400
    assert "Site Leeds/26" in accountant.get(f"{listed}?format=csv&reference=leeds").text


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
