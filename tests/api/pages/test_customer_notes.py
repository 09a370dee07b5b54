"""Staff note what they know of a customer: people, promises to pay, and everything in one timeline."""

import re
from datetime import timedelta

import pytest

from support.backoffice import BackOfficeSite
from support.billing import due_of, invoiced, number_of, pay_in
from support.events import number_events
from support.orders import at, buy, create, rows
from support.pages import Person, fields_of, staff_member, text_of
from support.service import Customer, Service
from tradecounter.kit.clock import uk_date


@pytest.fixture
def support(office: BackOfficeSite) -> Person:
    """A member of the staff who talks with customers."""
    return staff_member(office.service, office.url, "support")


def test_a_note_is_in_the_timeline_beside_what_happened(shop: Service, customer: Customer, support: Person) -> None:
    placed = buy(customer)
    number_events(shop)
    page = support.sends(f"/customer/{customer.id}/note", {"once": "", "text": "Wants <b>black</b> cables\nnext time"})
    shown = text_of(page)
    assert "The note is added." in shown
    assert "Wants <b>black</b> cables next time" in shown
    assert "<b>black</b>" not in page.text
    assert f">{placed['order_reference']}</a>" in support.get(f"/customer/{customer.id}/timeline").text
    assert rows(shop, "select action from audit_entry where subject = %s", f"customer/{customer.id}")[-1] == (
        "customer.note",
    )


def test_a_timeline_says_who_did_what(shop: Service, office: BackOfficeSite) -> None:
    customer = shop.customer(company="Told In Words")
    placed = buy(customer)
    sam = staff_member(shop, office.url, "administrator", name="Sam Teller")
    path = f"/order/{placed['order_reference']}/dispatch"
    sam.sends(path, fields_of(sam.get(path)))
    number_events(shop)
    page = sam.get(f"/customer/{customer.id}/timeline")
    text = text_of(page)
    assert re.search(rf"staff\d+@reseller.example dispatched order {placed['order_reference']}", text)
    for internal in ("order.", "{", "order_id"):
        assert internal not in text.partition("Timeline of")[2]
    order = text_of(sam.get(f"/order/{placed['order_reference']}"))
    assert "dispatched units" in order
    assert "placed the order" in order


def test_a_timeline_names_an_order_that_is_not_confirmed_by_its_customers_reference(
    shop: Service, customer: Customer, support: Person
) -> None:
    code = create(customer, customer_reference="PO-TIMELINE")["confirmation_code"]
    number_events(shop)
    page = support.get(f"/customer/{customer.id}/timeline")
    assert ">PO-TIMELINE</a>" in page.text
    assert code[:8] not in text_of(page)


@pytest.mark.sweep
def test_pages_of_a_timeline_have_each_happening_once(customer: Customer, support: Person) -> None:
    for number in range(60):
        support.sends(f"/customer/{customer.id}/note", {"once": "", "text": f"Note {number:02}."})
    first = support.get(f"/customer/{customer.id}/timeline")
    link = first.text.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")
    both = text_of(first) + text_of(support.get(link))
    assert [both.count(f"Note {number:02}.") for number in range(60)] == [1] * 60


def row_of(person: Person, customer: Customer) -> str:
    """A customer's row in the list of debtors."""
    parts = person.get("/money?sort=-due").text.split("<tr>")
    [row] = [part for part in parts if f"/customer/{customer.id}/" in part]
    return row


def test_a_promise_to_pay_is_in_the_list_of_debtors(shop: Service, office: BackOfficeSite, customer: Customer) -> None:
    finance = staff_member(shop, office.url, "finance")
    invoiced(shop, customer, ("PHONE", 1))
    today = uk_date(shop.clock.now())
    for days, note in ((3, ""), (9, "Waits for its own customer")):
        fields = {"once": str(days), "text": note, "promised_on": str(today + timedelta(days=days))}
        finance.sends(f"/customer/{customer.id}/note", fields)
    row = row_of(finance, customer)
    assert f'Promised by <time datetime="{today + timedelta(days=9)}">' in row
    assert "Promised to pay." in text_of(finance.get(f"/customer/{customer.id}/timeline"))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": ""}, "Note"),
        ({"text": "x" * 2001}, "Note"),
        ({"text": "a", "promised_on": "2020-01-01"}, "is in the past"),
        ({"text": "a", "promised_on": "soon"}, "Promised to pay by"),
    ],
)
def test_a_wrong_note_is_not_added(customer: Customer, support: Person, fields: dict[str, str], said: str) -> None:
    answer = support.send(f"/customer/{customer.id}/note", {"once": "", **fields})
    assert answer.status_code == 400
    assert said.lower() in text_of(answer).lower()


def test_people_are_kept_and_found_by_phone(customer: Customer, support: Person) -> None:
    path = f"/customer/{customer.id}/contact-person"
    ada = {"name": "Ada <Byron>", "task": "Invoices", "phone": "020 7946 0123", "email": "ada@made.example"}
    page = support.sends(f"{path}/new", {"once": "", **ada})
    assert "Ada <Byron>" in text_of(page)
    assert 'href="tel:02079460123"' in page.text
    found = support.get("/search?q=%2B44 20 79460123")
    assert found.headers["Location"].endswith(f"/customer/{customer.id}")
    number = page.text.partition(f"{path}/")[2].partition('"')[0]
    changed = fields_of(support.get(f"{path}/{number}")) | {"phone": "0161 496 0999"}
    assert "0161 496 0999" in text_of(support.sends(f"{path}/{number}", changed))
    assert "Ada" not in text_of(support.sends(f"{path}/{number}/remove"))
    assert support.get(f"{path}/{number}").status_code == 404


def test_another_customers_contact_is_not_found(shop: Service, customer: Customer, support: Person) -> None:
    path = f"/customer/{customer.id}/contact-person"
    page = support.sends(f"{path}/new", {"once": "", "name": "Their Own"})
    number = page.text.partition(f"{path}/")[2].partition('"')[0]
    other = f"/customer/{shop.customer().id}/contact-person/{number}"
    assert support.get(other).status_code == 404
    assert support.send(other, {"once": "", "name": "Stolen"}).status_code == 404
    assert support.send(f"{other}/remove").status_code == 404


@pytest.mark.parametrize(
    "fields", [{"name": ""}, {"name": "A", "email": "no address"}, {"name": "A", "phone": "1" * 201}]
)
def test_a_wrong_contact_is_not_kept(customer: Customer, support: Person, fields: dict[str, str]) -> None:
    assert support.send(f"/customer/{customer.id}/contact-person/new", {"once": "", **fields}).status_code == 400


def test_a_promise_is_not_shown_for_invoices_of_after_it(
    shop: Service, office: BackOfficeSite, customer: Customer
) -> None:
    finance = staff_member(shop, office.url, "finance")
    placed = invoiced(shop, customer, ("PHONE", 1))
    promised = {"once": "", "text": "", "promised_on": str(uk_date(shop.clock.now()) + timedelta(days=3))}
    finance.sends(f"/customer/{customer.id}/note", promised)
    assert "Promised by" in row_of(finance, customer)
    pay_in(shop, customer, str(due_of(shop, number_of(shop, placed))), number_of(shop, placed))
    with at(shop, shop.clock.now() + timedelta(days=1)):
        invoiced(shop, customer, ("PHONE", 1))
    assert "Promised by" not in row_of(finance, customer)


def test_the_audit_log_has_no_text_of_notes_and_contacts(shop: Service, customer: Customer, support: Person) -> None:
    support.sends(f"/customer/{customer.id}/note", {"once": "", "text": "Her mother is ill."})
    contact = {"once": "", "name": "Ada Private", "phone": "020 7946 0001", "email": "ada@private.example"}
    support.sends(f"/customer/{customer.id}/contact-person/new", contact)
    [(contact_id,)] = rows(shop, "select id from customer_contact where customer_id = %s", customer.id)
    support.sends(f"/customer/{customer.id}/contact-person/{contact_id}", contact | {"once": "x", "name": "Ada Secret"})
    support.sends(f"/customer/{customer.id}/contact-person/{contact_id}/remove", {"once": ""})
    entries = rows(
        shop,
        "select action, before::text || after::text from audit_entry where subject = %s and action like 'customer.%%'",
        f"customer/{customer.id}",
    )
    kept = {action: text for action, text in entries if action.endswith(("note", "contact"))}
    assert list(kept) == ["customer.note", "customer.add_contact", "customer.change_contact", "customer.remove_contact"]
    assert not [text for text in kept.values() if "ill" in text or "Ada" in text or "7946" in text]
    assert '"changed": ["name"]' in kept["customer.change_contact"]
