"""Suggestions of where the money of a bank line goes, and placing it there with one form."""

import re
from datetime import timedelta
from decimal import Decimal

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.billing import due_of, invoiced, number_of, pay_in, unallocated
from support.orders import at, rows, sell
from support.pages import Person, staff_member, text_of
from support.service import Customer


@pytest.fixture(scope="module")
def fran(office: BackOfficeSite) -> Person:
    sell(office.service, "BILLED", available=1_000)
    return staff_member(office.service, office.url, "finance")


def stored(office: BackOfficeSite, fran: Person, amount: object, reference: str, payer: str = "") -> str:
    """The path of a line that is not placed by itself."""
    content = f"date,amount,reference,payer\n2026-06-15,{amount},{reference},{payer}\n"
    response = fran.http.post(
        "/payment/import",
        data={"once": ""},
        files={"file": ("bank.csv", content.encode(), "text/csv")},
        headers={"Sec-Fetch-Site": "same-origin"},
    )
    fran.sends(f"{response.headers['Location']}/apply")
    [(line,)] = rows(office.service, "select max(id) from bank_line where state = 'unplaced'")
    return f"/bank-line/{line}"


def debts(office: BackOfficeSite, customer: Customer, *units: int) -> list[int]:
    """The numbers of invoices, the oldest first."""
    numbers = []
    for days, count in enumerate(units):
        with at(office.service, office.service.clock.now() - timedelta(days=60 - days)):
            numbers.append(number_of(office.service, invoiced(office.service, customer, ("BILLED", count))))
    return numbers


def button(page: httpx2.Response, field: str, value: int) -> dict[str, str]:
    """The fields of the suggestion with a field's value."""
    wanted = f'name="{field}" value="{value}"'
    [found] = [part for part in page.text.split("<form") if wanted in part and 'name="seen"' in part]
    return dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', found))


def test_an_invoice_with_exactly_the_amount_is_paid_with_one_form(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Exact Phones")
    first, second = debts(office, customer, 1, 3)
    path = stored(office, fran, due_of(office.service, second), "monthly transfer")
    page = fran.get(path)
    assert f"Invoice {second} has exactly this amount due" in text_of(page)
    said = text_of(fran.sends(f"{path}/place", button(page, "invoice", second)))
    assert "is recorded" in said
    assert due_of(office.service, second) == 0
    assert due_of(office.service, first) > 0


@pytest.mark.sweep
def test_the_oldest_invoices_that_come_to_the_amount_are_paid_with_one_form(
    office: BackOfficeSite, fran: Person
) -> None:
    customer = office.service.customer(company="Collects Its Bills")
    numbers = debts(office, customer, 5, 7, 11)
    total = sum(due_of(office.service, number) for number in numbers[:2])
    path = stored(office, fran, total, "from a savings account")
    page = fran.get(path)
    assert "The 2 oldest invoices come to exactly this amount" in text_of(page)
    fran.sends(f"{path}/place", button(page, "customer_id", customer.id))
    assert [due_of(office.service, number) > 0 for number in numbers] == [False, False, True]
    assert unallocated(office.service, customer) == 0


def test_invoices_that_are_due_in_another_order_than_their_numbers_are_paid_with_one_form(
    office: BackOfficeSite, fran: Person
) -> None:
    customer = office.service.customer(company="Shorter Terms By Now", term_days=60)
    [first] = debts(office, customer, 3)
    rows(office.service, "update customer set term_days = 7 where id = %s returning id", customer.id)
    [second] = debts(office, customer, 19)
    total = due_of(office.service, first) + due_of(office.service, second)
    path = stored(office, fran, total, "both at once")
    fran.sends(f"{path}/place", button(fran.get(path), "customer_id", customer.id))
    assert [due_of(office.service, number) for number in (first, second)] == [0, 0]


@pytest.mark.sweep
def test_a_suggestion_that_would_do_something_else_by_now_is_shown_first(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Pays Twice")
    [number] = debts(office, customer, 13)
    due = due_of(office.service, number)
    path = stored(office, fran, due, "transfer of the week")
    fields = button(fran.get(path), "invoice", number)
    pay_in(office.service, customer, "1.00", number)
    shown = fran.send(f"{path}/place", fields)
    assert shown.status_code == 200
    assert "stays on the account" in text_of(shown)
    assert due_of(office.service, number) == due - 1


@pytest.mark.sweep
def test_an_earlier_payer_and_a_name_in_the_reference_lead_to_their_customers(
    office: BackOfficeSite, fran: Person
) -> None:
    known, also, named, other = (
        office.service.customer(company=name)
        for name in ("Holding of Smith", "Smith Phones", "Named Telecom", "Somebody Else")
    )
    for customer in (known, also, named, other):
        debts(office, customer, 17)
    lines = [stored(office, fran, amount, "J SMITH AND DAUGHTERS") for amount in ("1.00", "1.50")]
    for line, customer in zip(lines, (known, also), strict=True):
        fran.confirms(f"{line}/place", {"customer_id": str(customer.id)})
    again = text_of(fran.get(stored(office, fran, "2.00", "J Smith and daughters")))
    assert "Holding of Smith" in again
    assert "Smith Phones" in again
    assert "Money of this payer went there once" in again
    assert "Named Telecom" not in again
    page = text_of(fran.get(stored(office, fran, "3.00", "Faster payment NAMED TELECOM thanks")))
    assert "The line names the customer" in page
    assert "Somebody Else" not in page


@pytest.mark.sweep
def test_money_of_more_than_is_due_is_only_looked_at(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Pays Far Too Much")
    debts(office, customer, 1)
    path = stored(office, fran, "98765.43", "Pays far too much deposit")
    page = fran.get(path)
    assert f'href="{path}?customer_id={customer.id}"' in page.text
    assert 'name="seen"' not in page.text


@pytest.mark.sweep
def test_the_list_has_the_likeliest_place_of_each_line_and_its_button(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Listed Debtor")
    first, second = debts(office, customer, 14, 16)
    paths = [stored(office, fran, due_of(office.service, number), "listed debtor") for number in (first, second)]
    page = fran.get("/bank-line?sort=-stored")
    for path, number in zip(paths, (first, second), strict=True):
        said = text_of(fran.sends(f"{path}/place", button(page, "invoice", number)))
        assert "Unplaced money" in said
        assert due_of(office.service, number) == 0


def test_a_part_of_what_is_due_does_not_come_to_it(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Pays A Part")
    [number] = debts(office, customer, 9)
    page = text_of(fran.get(stored(office, fran, "7.77", "pays a part")))
    assert f"It pays £7.77 of invoice {number}" in page
    assert "exactly" not in page


@pytest.mark.sweep
def test_a_place_that_does_not_fit_says_by_how_much_the_nearest_invoice_differs(
    office: BackOfficeSite, fran: Person
) -> None:
    customer = office.service.customer(company="Nearly Right")
    small, large = debts(office, customer, 2, 6)
    due = due_of(office.service, large)
    page = text_of(fran.get(stored(office, fran, due - Decimal("0.30"), "nearly right")))
    assert f"Invoice {large} comes nearest: £{due} is due, £0.30 more than this." in page
    due = due_of(office.service, small)
    page = text_of(fran.get(stored(office, fran, due + Decimal("0.20"), "nearly right")))
    assert f"Invoice {small} comes nearest: £{due} is due, £0.20 less than this." in page


def test_a_line_is_headed_by_what_it_says_of_its_payer(office: BackOfficeSite, fran: Person) -> None:
    path = stored(office, fran, "9.87", "from the aunt", payer="MRS HUDSON")
    page = fran.get(path)
    assert "<h1>MRS HUDSON from the aunt</h1>" in page.text
    assert "MRS HUDSON from the aunt £9.87, 15 Jun 2026 · line 2 of bank.csv" in text_of(page)
    [row] = [part for part in fran.get("/bank-line?sort=-stored").text.split("<tr>") if path in part]
    assert f'<a href="{path}">MRS HUDSON from the aunt</a>' in row.partition("</th>")[0]
    assert "line 2" in row


def test_the_commonest_reason_is_said_once_and_others_beside_their_lines(office: BackOfficeSite, fran: Person) -> None:
    for amount in ("8.81", "8.82", "a dozen"):
        stored(office, fran, amount, "said once")
    page = text_of(fran.get("/bank-line?reference=said+once"))
    assert "2 lines wait because the reference has no number of an invoice." in page
    assert page.count("has no number of an invoice") == 1
    assert page.count("The amount is not pounds and pence") == 1
    assert "Where no place is suggested, nobody owes exactly the amount" in page
    assert "Where no place is suggested" not in text_of(fran.get("/bank-line?state=all&reference=NOTHING"))


def test_the_beginning_of_a_long_name_leads_to_its_customer(office: BackOfficeSite, fran: Person) -> None:
    cut, other = (office.service.customer(company=name) for name in ("Wetherby Learning Trust", "Wetherby Longships"))
    for customer in (cut, other):
        debts(office, customer, 8)
    page = text_of(fran.get(stored(office, fran, "4.44", "FPI WETHERBY LEARNING TR")))
    assert "Wetherby Learning Trust" in page
    assert "Wetherby Longships" not in page


@pytest.mark.sweep
def test_the_number_of_a_paid_invoice_leads_to_its_customer(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Twice For One")
    paid, open_one = debts(office, customer, 1, 12)
    pay_in(office.service, customer, str(due_of(office.service, paid)), paid)
    page = text_of(fran.get(stored(office, fran, "5.55", f"for invoice {paid}")))
    assert "The line has the number of a paid invoice." in page
    assert f"It pays £5.55 of invoice {open_one}" in page
    assert "Place it here" not in page


def test_a_name_that_only_begins_like_the_payers_is_no_suggestion(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="University of London")
    debts(office, customer, 2)
    page = text_of(fran.get(stored(office, fran, "6.66", "UNIVERSITY OF LEEDS FEES")))
    assert "University of London" not in page


def test_the_beginning_of_a_name_alone_has_no_button(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Whitstable Harbour Trust")
    debts(office, customer, 2)
    path = stored(office, fran, "6.67", "FROM WHITSTABLE HARB")
    page = text_of(fran.get(path))
    assert "The line has the beginning of the customer" in page
    assert "Place it here" not in page
    assert f'href="{path}?customer_id={customer.id}"' in fran.get(path).text


def test_a_payers_name_that_the_bank_has_cut_leads_to_its_customer(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Aberystwyth Boat Club")
    debts(office, customer, 2)
    path = stored(office, fran, "6.68", "MONTHLY MONEY", payer="ABERYSTWYTH BOA")
    assert "Aberystwyth Boat Club" in text_of(fran.get(path))


@pytest.mark.sweep
def test_a_whole_name_comes_before_longer_names_that_begin_like_it(office: BackOfficeSite, fran: Person) -> None:
    longer = [f"Northern Wholesale of Town {number}" for number in range(6)]
    for name in [*longer, "Northern Whole"]:
        debts(office, office.service.customer(company=name), 2)
    page = text_of(fran.get(stored(office, fran, "6.69", "NORTHERN WHOLES")))
    assert page.index("The line names the customer") < page.index("Northern Wholesale of Town")


@pytest.mark.sweep
def test_numbers_of_the_payers_name_are_no_invoices(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Has A Number")
    [number] = debts(office, customer, 2)
    page = text_of(fran.get(stored(office, fran, "6.70", "rent", payer=f"UNIT {number} LTD")))
    assert "Has A Number" not in page
    [other] = debts(office, office.service.customer(company="Numbered Beside It"), 2)
    page = text_of(fran.get(stored(office, fran, "6.71", f"for {number} and {other}", payer="UNIT LTD")))
    assert "Has A Number" in page
    assert "The line has the number of an invoice that is due." in page


@pytest.mark.sweep
def test_the_list_says_why_and_has_no_button_for_another_amount(office: BackOfficeSite, fran: Person) -> None:
    customer = office.service.customer(company="Listed Without Button")
    debts(office, customer, 2)
    path = stored(office, fran, "6.72", "listed without button")
    page = fran.get("/bank-line?sort=-stored&reference=listed+without+button")
    assert "The line names the customer." in text_of(page)
    assert f'href="{path}?customer_id={customer.id}"' in page.text
    assert f"{path}/place" not in page.text
