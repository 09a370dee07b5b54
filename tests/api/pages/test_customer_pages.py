"""The staff's pages of customers: the list, one customer, its settings, prices, statement and logs."""

from decimal import Decimal
from typing import Any
from unicodedata import normalize

import pytest

from support.backoffice import BackOfficeSite
from support.billing import issue
from support.events import number_events
from support.orders import buy, dispatch, rows, sell
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Customer

HOME = ("", "/order", "/price", "/access", "/address", "/statement", "/webhook", "/event", "/history")
CONTACT = {"email_address": "new@shop.example", "first_name": "Ada", "last_name": "Lovelace"}


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(company="Bright & <Sons>", price_list=None)


@pytest.fixture(scope="module")
def support(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "support")


@pytest.fixture(scope="module")
def finance(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "finance")


def test_customers_are_found_by_name_address_number_and_user(office: BackOfficeSite, sam: Person) -> None:
    found = office.service.customer(company="Zebra Phones")
    other = office.service.customer(company="Yak Cables")
    for query in ("zebra", str(found.id)):
        shown = text_of(sam.get(f"/customer?query={query}"))
        assert "Zebra Phones" in shown
        assert "Yak Cables" not in shown
    [(email,)] = rows(office.service, "select email_address from customer where id = %s", other.id)
    assert "Yak Cables" in text_of(sam.get("/customer", params={"query": email.upper()}))
    assert "No customer matches" in text_of(sam.get("/customer?query=nobody-has-this"))


def test_customers_are_sorted_filtered_and_paged(office: BackOfficeSite, sam: Person) -> None:
    office.service.must_load("price-list", [{"price_list": "paged", "sku": "PHONE", "single_unit_cost": 9}])
    made = {office.service.customer(company=f"Paged {n % 7}", price_list="paged").id for n in range(55)}
    for sort in ("name", "-name", "added", "-limit"):
        seen: list[str] = []
        address = f"/customer?price_list=paged&sort={sort}"
        while address:
            page = sam.get(address).text
            seen += [part.split('"')[0] for part in page.split('<a href="/customer/')[1:] if part[0].isdigit()]
            following = page.split('rel="next" href="')[1:]
            address = following[0].split('"')[0].replace("&amp;", "&") if following else ""
        assert sorted(map(int, seen)) == sorted(made)
    file = sam.get("/customer?price_list=paged&format=csv").text.splitlines()
    assert file[0].startswith("id,company,first_name")
    assert len(file) == 56
    assert "No customer matches" in text_of(sam.get("/customer?price_list=paged&state=blocked"))
    wrong = sam.get("/customer?state=odd")
    assert wrong.status_code == 400
    assert 'aria-invalid="true"' in wrong.text


def test_each_page_of_a_customer_is_shown_and_escapes_markup(sam: Person, customer: Customer) -> None:
    for end in HOME:
        page = sam.get(f"/customer/{customer.id}{end}")
        assert page.status_code == 200, end
        assert "Bright &amp; &lt;Sons&gt;" in page.text
        assert "<Sons>" not in page.text
        assert f'<a href="/customer/{customer.id}{end}" aria-current="page">' in page.text
    for number in ("999999999", "odd"):
        assert sam.get(f"/customer/{number}").status_code == 404


def test_the_first_page_shows_credit_orders_and_terms(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer(credit="500.00", company="Overview Ltd")
    placed = buy(customer, [("CABLE", 10)])
    shown = text_of(sam.get(f"/customer/{customer.id}"))
    for part in ("£500.00 Credit limit", "Available", str(placed["order_reference"]), "30 days", "Overview Ltd"):
        assert part in shown
    orders = sam.get(f"/customer/{customer.id}/order")
    assert str(placed["order_reference"]) in orders.text
    file = sam.get(f"/customer/{customer.id}/order?format=csv").text
    assert str(placed["order_reference"]) in file


def test_a_contact_is_changed_and_an_emptied_field_becomes_empty(
    office: BackOfficeSite, support: Person, sam: Person
) -> None:
    customer = office.service.customer(company="Old Name", accounts_email="pay@old.example")
    path = f"/customer/{customer.id}/contact"
    fields = fields_of(support.get(path))
    assert (fields["company"], fields["accounts_email"]) == ("Old Name", "pay@old.example")
    page = support.sends(path, fields | {"company": "New Name", "accounts_email": "", "order_mails": "true"})
    assert "The contact is changed." in text_of(page)
    statement = "select company, accounts_email, order_mails from customer where id = %s"
    assert rows(office.service, statement, customer.id) == [("New Name", None, True)]
    wrong = support.send(path, fields | {"email_address": "nothing", "first_name": ""})
    assert wrong.status_code == 400
    for part in ('value="nothing"', "form-email_address-error", "form-first_name-error"):
        assert part in wrong.text
    history = text_of(sam.get(f"/customer/{customer.id}/history"))
    assert "Customer: edit" in history
    assert "Company: Old Name → New Name" in history


def test_credit_terms_are_set_and_removed(office: BackOfficeSite, finance: Person) -> None:
    customer = office.service.customer(credit=None)
    path = f"/customer/{customer.id}/credit-terms"
    page = finance.sends(path, {"credit_limit": "£1,250.50", "term_days": "14"})
    assert "£1,250.50" in text_of(page)
    assert "14 days" in text_of(page)
    half = finance.send(path, {"credit_limit": "100", "term_days": ""})
    assert half.status_code == 400
    assert 'role="alert"' in half.text
    assert "No credit" in text_of(finance.sends(path, {"credit_limit": "", "term_days": ""}))


def test_terms_of_trade_are_the_administrators(office: BackOfficeSite, sam: Person, support: Person) -> None:
    customer = office.service.customer()
    path = f"/customer/{customer.id}/trade-terms"
    fields = {"price_list": "", "discount": "2.5", "packing": "plain", "shipping_method": "12", "trade_account": "true"}
    shown = text_of(sam.sends(path, fields))
    for part in ("2.5%", "plain", "Fastvan Next day"):
        assert part in shown
    too_much = sam.send(path, fields | {"discount": "101"})
    assert too_much.status_code == 400
    assert "form-discount-error" in too_much.text
    assert support.get(path).status_code == 403
    assert support.send(path, fields).status_code == 403
    assert "/trade-terms" not in support.get(f"/customer/{customer.id}").text


def test_roles_see_and_do_what_is_theirs(office: BackOfficeSite, support: Person, finance: Person) -> None:
    customer = office.service.customer()
    path = f"/customer/{customer.id}"
    own, others = support.get(path).text, finance.get(path).text
    for end, by_support in (("/contact", True), ("/credit-terms", False), ("/block", False)):
        assert (f"{path}{end}" in own, f"{path}{end}" in others) == (by_support, not by_support)
        other = finance if by_support else support
        assert other.get(f"{path}{end}").status_code == 403
        assert other.send(f"{path}{end}", CONTACT).status_code == 403
    for role in ("warehouse", "catalogue"):
        nobody = staff_member(office.service, office.url, role)
        for end in HOME:
            assert nobody.get(f"{path}{end}").status_code == 403
        assert nobody.get("/customer").status_code == 403


def test_support_adds_a_customer_without_terms(office: BackOfficeSite, support: Person) -> None:
    page = support.get("/customer/new")
    assert "credit_limit" not in page.text
    assert "discount" not in page.text
    added = support.sends("/customer/new", fields_of(page) | CONTACT)
    assert "The customer is added." in text_of(added)
    statement = "select discount, credit_limit, order_mails from customer where email_key = %s"
    assert rows(office.service, statement, CONTACT["email_address"]) == [(Decimal(0), None, True)]
    again = support.send("/customer/new", CONTACT)
    assert again.status_code == 409
    assert "another customer" in text_of(again)
    for more in ({"discount": "50"}, {"credit_limit": "1000", "term_days": "30"}):
        assert support.send("/customer/new", CONTACT | {"email_address": "x@shop.example"} | more).status_code == 403


def test_an_administrator_adds_a_customer_with_terms(sam: Person) -> None:
    fields = fields_of(sam.get("/customer/new")) | CONTACT
    fields |= {"email_address": "full@shop.example", "credit_limit": "700", "term_days": "7", "discount": "5"}
    shown = text_of(sam.sends("/customer/new", fields))
    assert "£700.00" in shown
    assert "5%" in shown


def test_customers_are_found_by_accented_names_in_any_case(office: BackOfficeSite, sam: Person) -> None:
    name = "\N{LATIN CAPITAL LETTER E WITH ACUTE}lan & \N{GREEK CAPITAL LETTER OMEGA}mega"
    customer = office.service.customer(company=name, first_name="\N{LATIN CAPITAL LETTER E WITH ACUTE}va")
    for typed in (name, name.lower(), name.upper(), normalize("NFD", name.lower())):
        assert name in text_of(sam.get("/customer", params={"query": typed})), typed
        assert sam.get("/search", params={"q": typed}).headers["location"] == f"/customer/{customer.id}", typed
    found = sam.get("/search", params={"q": f"{name.lower().split()[-1]} \N{LATIN SMALL LETTER E WITH ACUTE}va"})
    assert f"/customer/{customer.id}" in found.text + found.headers.get("location", "")


@pytest.mark.parametrize("letter", ["\u0130", "\u1e9e", "\u01c5", "\u03a3", "\u03c2"])
def test_a_customer_is_found_by_its_name_as_it_is_stored(office: BackOfficeSite, sam: Person, letter: str) -> None:
    """These letters have no capital or small form of one letter, or several small ones."""
    name = f"Ko{letter} Net{letter} {ord(letter)}"
    customer = office.service.customer(company=name)
    assert name in text_of(sam.get("/customer", params={"query": name}))
    assert sam.get("/search", params={"q": name}).headers["location"] == f"/customer/{customer.id}"


def test_names_with_accents_are_found_as_they_are_written(office: BackOfficeSite, sam: Person) -> None:
    service, name = office.service, "\N{LATIN CAPITAL LETTER E WITH ACUTE}lan"
    customer, sku = service.customer(company=f"{name} & Co"), sell(service, "ACCENTED", name=f"{name} phone")
    service.must_load("contract-prices", [{"customer_id": customer.id, "sku": sku, "single_unit_cost": 8}])
    for typed in (name, normalize("NFD", name), f"{name[0]}LAN"):
        assert f"{name} & Co" in text_of(sam.get("/customer", params={"query": typed}))
        assert "ACCENTED" in text_of(sam.get(f"/customer/{customer.id}/price", params={"query": typed}))


def test_contract_prices_are_listed_and_a_price_is_explained(office: BackOfficeSite, sam: Person) -> None:
    service, customer = office.service, office.service.customer(discount=Decimal(10))
    sku, other = sell(service, "DEAL/1", 100), sell(service, "PLAIN", 50)
    day = {"valid_from": "2030-01-01", "valid_until": "2030-12-31"}
    prices: list[dict[str, Any]] = [{"single_unit_cost": 80}, {"single_unit_cost": 70, **day}]
    service.must_load("contract-prices", [{"customer_id": customer.id, "sku": sku, **price} for price in prices])
    path = f"/customer/{customer.id}/price"
    shown = text_of(sam.get(path))
    for part in ("DEAL/1", "£80.00", "£70.00", "Not yet", "Valid"):
        assert part.lower() in shown.lower()
    why = sam.get(path, params={"sku": sku.lower(), "quantity": "3"})
    assert "£80.00 each" in text_of(why)
    assert "together £240.00" in text_of(why)
    assert why.text.count('class="applied"') == 1
    reasons = text_of(why).split("£80.00 each")[1]
    assert reasons.index("Contract price") < reasons.index("Price list default")
    assert "£45.00 each" in text_of(sam.get(path, params={"sku": other}))
    unknown = sam.get(path, params={"sku": "NO-SUCH"})
    assert unknown.status_code == 404
    assert "does not exist" in text_of(unknown)
    assert sam.get(path, params={"sku": sku, "quantity": "0"}).status_code == 400
    file = sam.get(f"{path}?format=csv").text
    assert file.splitlines()[0].startswith("customer_id,sku,single_unit_cost")
    assert len(file.splitlines()) == 3
    assert "No contract price matches" in text_of(sam.get(f"{path}?query=none"))


def test_the_statement_is_shown_and_is_a_file(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer(company="Statement Ltd")
    placed = buy(customer, [("PHONE", 1)])
    dispatch(office.service, placed)
    issue(office.service, placed)
    path = f"/customer/{customer.id}/statement"
    shown = text_of(sam.get(path))
    for part in ("Opening balance", "Invoice", "Closing balance", "1 to 30 days"):
        assert part in shown
    for form, media_type in (("csv", "text/csv"), ("pdf", "application/pdf"), ("json", "application/json")):
        file = sam.get(f"{path}?format={form}&from=2026-01-01&to=2026-12-31")
        assert file.status_code == 200
        assert file.headers["Content-Type"].startswith(media_type)
    wrong = sam.get(f"{path}?from=2026-12-31&to=2026-01-01")
    assert wrong.status_code == 400
    assert "form-from-error" in wrong.text
    warehouse = staff_member(office.service, office.url, "warehouse")
    assert warehouse.get(path).status_code == 403


def test_events_are_listed_latest_first(office: BackOfficeSite, sam: Person) -> None:
    customer, other = office.service.customer(), office.service.customer()
    placed = buy(customer, [("CABLE", 1)])
    buy(other, [("CABLE", 1)], customer_reference="NOT-THEIRS")
    dispatch(office.service, placed)
    number_events(office.service)
    page = sam.get(f"/customer/{customer.id}/event").text
    assert page.index("order.dispatched") < page.index("order.confirmed")
    assert "NOT-THEIRS" not in page
    assert "order.dispatched" in sam.get(f"/customer/{customer.id}/event?format=csv").text
