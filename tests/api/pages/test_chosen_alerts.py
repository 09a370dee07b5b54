"""Users choose e-mails: each parcel, invoices that are due soon, changed prices of a list."""

import re
from datetime import timedelta
from email.message import EmailMessage
from functools import partial

import psycopg
import pytest

from support.billing import due_of, invoiced, number_of, pay_in
from support.mail import deliver_mail, drain_to, html, let_time_pass, plain
from support.orders import at, buy, dispatch, sell
from support.pages import Person, customer_user, text_of
from support.service import Customer, Service
from tradecounter.alerts.tell_users import tell_of_due_invoices, tell_of_prices
from tradecounter.edge.permissions import UserRole

ALERTS = "/account/alert"


def to(person: Person, mails: list[EmailMessage]) -> list[EmailMessage]:
    """The mails to a person."""
    return [mail for mail in mails if person.email in {address.addr_spec for address in mail["To"].addresses}]


def listed(person: Person, *skus: str, shared: str = "") -> str:
    """The id of a new list of a person."""
    fields = {"once": "", "name": f"List of {skus[0]}", "lines": "\n".join(f"{sku} 1" for sku in skus)}
    answer = person.send("/account/list/new", fields | ({"shared": shared} if shared else {}))
    return str(answer.headers["Location"]).rpartition("/")[2]


def test_a_user_who_wants_it_is_told_of_each_parcel_of_the_company(shop: Service, customer: Customer) -> None:
    wants, does_not = customer_user(shop, customer.id, "buyer"), customer_user(shop, customer.id, "buyer")
    assert "Your choice is saved." in text_of(wants.sends(f"{ALERTS}/choose", {"dispatched": "true"}))
    placed = buy(customer)
    dispatch(shop, placed, tracking_number="ALERT-1")
    mails = deliver_mail(shop)
    [mail] = to(wants, mails)
    assert placed["order_reference"] in mail["Subject"]
    assert "ALERT-1" in plain(mail)
    assert to(does_not, mails) == []
    wants.sends(f"{ALERTS}/choose", {})
    dispatch(shop, buy(customer))
    assert to(wants, deliver_mail(shop)) == []


@pytest.mark.sweep
def test_who_gets_the_orders_mail_anyway_is_told_once(shop: Service, customer: Customer) -> None:
    wants = customer_user(shop, customer.id, "buyer")
    wants.sends(f"{ALERTS}/choose", {"dispatched": "true"})
    placed = buy(customer, order_notifications={"email_address": wants.email})
    dispatch(shop, placed)
    assert len([mail for mail in to(wants, deliver_mail(shop)) if "dispatched" in mail["Subject"]]) == 1


@pytest.mark.sweep
def test_an_invoice_that_is_due_soon_is_in_one_mail(shop: Service, customer: Customer) -> None:
    wants = customer_user(shop, customer.id, "accounts")
    placed = invoiced(shop, customer, ("PHONE", 1))
    wants.sends(f"{ALERTS}/choose", {"invoices_due": "true", "dispatched": "true"})
    number = number_of(shop, placed)
    seen = []
    for days in range(40):
        now = shop.clock.now() + timedelta(days=days)
        shop.in_transaction(partial(tell_of_due_invoices, now=now))
        with at(shop, now):
            seen += [(days, mail) for mail in to(wants, deliver_mail(shop)) if "due by" in mail["Subject"]]
    [(_, mail)] = seen
    assert f"Invoice {number} is due by" in mail["Subject"]
    assert str(number) in plain(mail)
    assert "/account/alert" in html(mail)


def test_an_invoice_is_not_in_the_mail_of_the_next_days_invoice(shop: Service, customer: Customer) -> None:
    wants = customer_user(shop, customer.id, "accounts")
    wants.sends(f"{ALERTS}/choose", {"invoices_due": "true"})
    numbers = []
    for days in range(2):
        with at(shop, shop.clock.now() + timedelta(days=days)):
            numbers.append(number_of(shop, invoiced(shop, customer, ("PHONE", 1))))
    deliver_mail(shop)
    for days in range(27, 30):
        shop.in_transaction(partial(tell_of_due_invoices, now=shop.clock.now() + timedelta(days=days)))
    with at(shop, shop.clock.now() + timedelta(days=31)):
        told = [plain(mail) for mail in to(wants, deliver_mail(shop))]
    assert [[number for number in numbers if f"Invoice {number}" in text] for text in told] == [[n] for n in numbers]


@pytest.mark.parametrize("late", [False, True])
def test_an_invoice_that_is_due_before_those_told_of_is_told_once_too(shop: Service, *, late: bool) -> None:
    customer = shop.customer(term_days=2)
    wants = customer_user(shop, customer.id, "accounts")
    wants.sends(f"{ALERTS}/choose", {"invoices_due": "true"})
    numbers, told = [], []
    for _ in range(3):
        numbers.append(number_of(shop, invoiced(shop, customer, ("PHONE", 1))))
        for _ in range(2):
            shop.in_transaction(partial(tell_of_due_invoices, now=shop.clock.now()))
            if not late:
                told += to(wants, deliver_mail(shop))
    told += to(wants, deliver_mail(shop))
    named = [[number for number in numbers if f"Invoice {number}" in plain(mail)] for mail in told]
    assert sorted(named) == [[number] for number in numbers]
    assert len({mail["Message-ID"] for mail in told}) == len(numbers)


@pytest.mark.sweep
def test_a_paid_invoice_is_not_due(shop: Service, customer: Customer) -> None:
    wants = customer_user(shop, customer.id, "accounts")
    wants.sends(f"{ALERTS}/choose", {"invoices_due": "true"})
    placed = invoiced(shop, customer, ("PHONE", 1))
    number = number_of(shop, placed)
    pay_in(shop, customer, str(due_of(shop, number)), number)
    deliver_mail(shop)
    later = shop.clock.now() + timedelta(days=35)
    shop.in_transaction(lambda tx: tell_of_due_invoices(tx, later))
    assert to(wants, deliver_mail(shop)) == []


@pytest.mark.sweep
def test_changed_prices_of_a_list_are_told_once_a_day(shop: Service, buyer: Person) -> None:
    first, second, third = (sell(shop, f"FOLLOWED-{n}", 10, name=f"Followed <{n}>") for n in range(3))
    list_id = listed(buyer, first, second)
    assert "at most once a day" in text_of(buyer.sends(f"{ALERTS}/prices", {"list": list_id}))
    shop.must_load("price-list", [{"price_list": "default", "sku": first, "single_unit_cost": "12.50"}])
    tomorrow = shop.clock.now() + timedelta(days=1)
    for now in (shop.clock.now(), tomorrow, tomorrow):
        shop.in_transaction(partial(tell_of_prices, now=now))
    [mail] = to(buyer, deliver_mail(shop))
    assert mail["Subject"] == f"Prices have changed: List of {first}"
    assert "£10.00 before, £12.50 now" in plain(mail)
    assert "Followed &lt;0&gt;" in html(mail)
    assert second not in plain(mail)
    lines = f"{first} 1\n{third} 1"
    buyer.sends(f"/account/list/{list_id}/change", {"once": "", "name": "Changed", "lines": lines})
    shop.in_transaction(lambda tx: tell_of_prices(tx, tomorrow + timedelta(days=1)))
    assert to(buyer, deliver_mail(shop)) == []  # a line that came or went is no change of a price


def test_changed_prices_of_each_day_are_told_once_while_the_mail_server_is_away_for_days(
    shop: Service, buyer: Person
) -> None:
    sku = sell(shop, "FOLLOWED-LATE", 10)
    buyer.sends(f"{ALERTS}/prices", {"list": listed(buyer, sku)})
    for days, price in ((1, "12.50"), (2, "13"), (3, "13"), (4, "12.50")):
        shop.must_load("price-list", [{"price_list": "default", "sku": sku, "single_unit_cost": price}])
        shop.in_transaction(partial(tell_of_prices, now=shop.clock.now() + timedelta(days=days)))
        drain_to(shop, "smtp+plain://127.0.0.1:1")
    told = []
    for _ in range(4):
        let_time_pass(shop)
        told += [plain(mail) for mail in to(buyer, deliver_mail(shop))]
    assert [re.findall("£.* now", text) for text in told] == [
        ["£10.00 before, £12.50 now"],
        ["£12.50 before, £13.00 now"],
        ["£13.00 before, £12.50 now"],
    ]


@pytest.mark.sweep
def test_changed_prices_that_an_earlier_version_has_found_are_told(shop: Service, buyer: Person) -> None:
    sku = sell(shop, "FOLLOWED-BEFORE", 10)
    buyer.sends(f"{ALERTS}/prices", {"list": listed(buyer, sku)})
    shop.must_load("price-list", [{"price_list": "default", "sku": sku, "single_unit_cost": "12.50"}])
    shop.in_transaction(partial(tell_of_prices, now=shop.clock.now() + timedelta(days=1)))
    with psycopg.connect(shop.database_url) as database:
        database.execute("""
            update price_alert set changes = (select value from jsonb_each(changes) order by key desc limit 1)
            where changes <> '{}'
        """)
    [mail] = to(buyer, deliver_mail(shop))
    assert "£10.00 before, £12.50 now" in plain(mail)


@pytest.mark.sweep
def test_a_list_is_followed_until_it_ends(shop: Service, buyer: Person, customer: Customer) -> None:
    sku = sell(shop, "FOLLOWED-END", 10)
    list_id = listed(buyer, sku)
    buyer.sends(f"{ALERTS}/prices", {"list": list_id})
    assert f"List of {sku}" in text_of(buyer.get(ALERTS))
    other = customer_user(shop, customer.id, "buyer")
    assert other.send(f"{ALERTS}/prices", {"once": "", "list": list_id}).status_code == 404
    assert other.send(f"{ALERTS}/prices/{list_id}/end").status_code == 404
    buyer.sends(f"{ALERTS}/prices/{list_id}/end", {})
    shop.must_load("price-list", [{"price_list": "default", "sku": sku, "single_unit_cost": "11"}])
    shop.in_transaction(lambda tx: tell_of_prices(tx, shop.clock.now() + timedelta(days=1)))
    assert to(buyer, deliver_mail(shop)) == []


@pytest.mark.sweep
def test_a_shared_list_that_became_a_colleagues_own_tells_neither_prices_nor_its_name(
    shop: Service, customer: Customer
) -> None:
    owner, colleague = customer_user(shop, customer.id, "buyer"), customer_user(shop, customer.id, "buyer")
    sku = sell(shop, "FOLLOWED-OWN", 10)
    list_id = listed(owner, sku, shared="true")
    colleague.sends(f"{ALERTS}/prices", {"list": list_id})
    owner.sends(f"/account/list/{list_id}/change", {"once": "", "name": "Mine", "lines": f"{sku} 1"})
    assert "Mine" not in text_of(colleague.get(ALERTS))
    shop.must_load("price-list", [{"price_list": "default", "sku": sku, "single_unit_cost": "11"}])
    shop.in_transaction(lambda tx: tell_of_prices(tx, shop.clock.now() + timedelta(days=1)))
    assert to(colleague, deliver_mail(shop)) == []


@pytest.mark.parametrize(
    ("role", "shown", "hidden"), [("buyer", "Each parcel", "within"), ("accounts", "within", "Each parcel")]
)
def test_each_role_is_offered_its_own_mails(
    shop: Service, customer: Customer, role: UserRole, shown: str, hidden: str
) -> None:
    person = customer_user(shop, customer.id, role)
    page = text_of(person.get(ALERTS))
    assert shown in page
    assert hidden not in page
