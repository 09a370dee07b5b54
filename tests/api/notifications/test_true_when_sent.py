"""An e-mail shows the state when it is sent; the order and the account determine its recipients."""

from collections.abc import Iterator
from datetime import timedelta
from email.message import EmailMessage
from typing import Any

import pytest

from support.billing import invoiced, pay, pay_in, reverse
from support.mail import (
    deliver_mail,
    forget_jobs,
    html,
    internal_id,
    jobs,
    mail_server,
    message_id,
    plain,
    running_worker,
    send_for,
    shown,
)
from support.orders import at, buy, cancel, confirm, create, dispatch, rows
from support.quotes import price_as_support, request_quote
from support.service import MORNING, Service
from support.waiting import wait_for
from tradecounter.quotes.handle_quotes import remind_of_quotes

BUYER = "buying@harbour.example"
OWNER = "owner@harbour.example"
CONTACT: dict[str, Any] = {"order_notifications": {"email_address": BUYER}}


@pytest.fixture(autouse=True)
def no_jobs(shop: Service) -> Iterator[None]:
    yield
    forget_jobs(shop)
    rows(shop, "delete from order_line where order_id in (select id from orders where state = 'pending') returning 1")
    rows(shop, "delete from orders where state = 'pending' returning 1")


def subjects(mails: list[EmailMessage]) -> list[str]:
    return [mail["Subject"] for mail in mails]


def remind(shop: Service) -> int:
    return shop.in_transaction(lambda tx: remind_of_quotes(tx, shop.clock.now()))


def test_an_order_cancelled_before_its_mail_gets_no_confirmation(shop: Service) -> None:
    placed = buy(shop.customer(), [("PHONE", 2)], customer_reference="PO-3", **CONTACT)
    cancel(shop, placed, "You asked us to.")
    [mail] = deliver_mail(shop)
    assert mail["To"] == BUYER
    assert mail["Subject"] == f"Order {placed['order_reference']} cancelled (your reference PO-3)"
    assert mail["Message-ID"] == message_id(shop, f"order-cancelled-{internal_id(shop, placed)}")
    for text in (" ".join(plain(mail).split()), shown(mail)):
        for fact in ("You asked us to.", "16 June 2026, 09:00 (UK time)", "PHONE", "£100.00", "nothing to pay"):
            assert fact in text
    assert jobs(shop) == []


@pytest.mark.sweep
@pytest.mark.parametrize(("kind", "name", "ended"), [("order", "Order", "cancelled"), ("quote", "Quote", "declined")])
def test_the_mail_of_a_cancelled_pending_order_has_the_customers_reference(
    shop: Service, kind: str, name: str, ended: str
) -> None:
    make = create if kind == "order" else request_quote
    placed = make(shop.customer(), customer_reference="PO-4", **CONTACT)
    cancel(shop, placed)
    [mail] = [mail for mail in deliver_mail(shop) if mail["To"] == BUYER]
    assert mail["Subject"] == f"{name} {ended} (your reference PO-4)"
    assert f"Your {kind} is {ended}" in plain(mail)


@pytest.mark.sweep
def test_the_accounts_address_gets_the_mails_of_orders_without_a_contact(shop: Service) -> None:
    customer = shop.customer(email_address=OWNER, order_mails=True)
    buy(customer)
    buy(customer, order_notifications={"phone_number": "01130000000"})
    buy(customer, **CONTACT)
    assert [mail["To"] for mail in deliver_mail(shop)] == [OWNER, OWNER, BUYER]


@pytest.mark.sweep
def test_an_account_without_order_mails_gets_only_quote_prices(shop: Service) -> None:
    customer = shop.customer(email_address="quiet@harbour.example", order_mails=False)
    placed = invoiced(shop, customer)
    pay(shop, placed, "66.60")
    cancel(shop, buy(customer))
    quote = request_quote(customer)
    assert [mail["To"] for mail in deliver_mail(shop)] == ["support@localhost"]
    price_as_support(shop, quote, ("PHONE", "40"))
    with at(shop, MORNING + timedelta(days=6, hours=1)):
        assert remind(shop) == 1
        assert subjects(deliver_mail(shop)) == ["Your quote PO-1 is priced"]


@pytest.mark.sweep
def test_a_quote_request_is_acknowledged_unless_it_is_already_priced(shop: Service) -> None:
    customer = shop.customer(email_address="ack@harbour.example", order_mails=True)
    quote = request_quote(customer, [("PHONE", 6)], customer_reference="PO-8", **CONTACT)
    [mail] = [mail for mail in deliver_mail(shop) if "support" not in mail["To"]]
    assert mail["To"] == f"{BUYER}, ack@harbour.example"
    assert mail["Subject"] == "We have your request for a quote (your reference PO-8)"
    assert mail["Message-ID"] == message_id(shop, f"quote-received-{internal_id(shop, quote)}")
    assert quote["confirmation_code"] in plain(mail)
    assert quote["confirmation_code"] in html(mail)
    priced = request_quote(customer, customer_reference="PO-9")
    price_as_support(shop, priced, ("PHONE", "40"))
    assert subjects(deliver_mail(shop)) == ["Your quote PO-9 is priced"]


@pytest.mark.sweep
@pytest.mark.parametrize("end", ["confirmed", "cancelled", "expired"])
def test_a_price_that_can_no_longer_be_accepted_is_not_sent(shop: Service, end: str) -> None:
    customer = shop.customer(order_mails=True)
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "40"))
    moment = MORNING
    if end == "confirmed":
        assert confirm(customer, quote).status_code == 200
    elif end == "cancelled":
        cancel(shop, quote)
    else:
        moment += timedelta(days=8)
    with at(shop, moment):
        found = subjects(deliver_mail(shop))
    assert not [subject for subject in found if "priced" in subject]
    assert jobs(shop) == []


@pytest.mark.sweep
def test_a_quote_has_one_reminder_a_day_before_it_expires(shop: Service) -> None:
    quote = request_quote(shop.customer(), customer_reference="PO-5", **CONTACT)
    price_as_support(shop, quote, ("PHONE", "40"))
    deliver_mail(shop)
    with at(shop, MORNING + timedelta(days=6, seconds=-1)):
        assert remind(shop) == 0
    with at(shop, MORNING + timedelta(days=6)):
        assert (remind(shop), remind(shop)) == (1, 0)
        [mail] = deliver_mail(shop)
    assert mail["To"] == BUYER
    assert mail["Subject"] == "Your quote PO-5 is about to expire"
    assert mail["Message-ID"] == message_id(shop, f"quote-expiring-{internal_id(shop, quote)}-1")
    for text in (plain(mail), shown(mail)):
        assert "23 June 2026, 09:00 (UK time)" in text
        assert "eply to this e-mail" in text
        assert f"PUT /order/{quote['confirmation_code']}" in text


@pytest.mark.sweep
def test_a_quote_priced_again_has_one_reminder_of_its_latest_price(shop: Service) -> None:
    quote = request_quote(shop.customer(), **CONTACT)
    price_as_support(shop, quote, ("PHONE", "40"))
    with at(shop, MORNING + timedelta(days=6, hours=2)):
        assert remind(shop) == 1
        price_as_support(shop, quote, ("PHONE", "39"))
        assert [s for s in subjects(deliver_mail(shop)) if "expire" in s] == []
        assert remind(shop) == 0
    with at(shop, MORNING + timedelta(days=12, hours=3)):
        assert remind(shop) == 1
        assert subjects(deliver_mail(shop)) == ["Your quote PO-1 is about to expire"]


@pytest.mark.parametrize("end", ["confirmed", "cancelled", "unpriced"])
def test_quotes_that_cannot_be_accepted_have_no_reminder(shop: Service, end: str) -> None:
    customer = shop.customer()
    quote = request_quote(customer, **CONTACT)
    if end != "unpriced":
        price_as_support(shop, quote, ("PHONE", "40"))
    if end == "confirmed":
        assert confirm(customer, quote).status_code == 200
    elif end == "cancelled":
        cancel(shop, quote)
    with at(shop, MORNING + timedelta(days=6, hours=1)):
        assert remind(shop) == 0


@pytest.mark.sweep
def test_several_workers_send_one_reminder(shop: Service) -> None:
    quotes = [request_quote(shop.customer(), customer_reference=f"PO-{number}", **CONTACT) for number in range(5)]
    for quote in quotes:
        price_as_support(shop, quote, ("PHONE", "40"))
    forget_jobs(shop)
    with (
        mail_server() as inbox,
        at(shop, MORNING + timedelta(days=6, hours=1)),
        running_worker(shop, inbox.url),
        running_worker(shop, inbox.url),
    ):
        assert sum(remind(shop) for _ in range(3)) == 5
        wait_for(lambda: not jobs(shop))
    assert sorted(subjects(inbox.mails)) == [f"Your quote PO-{number} is about to expire" for number in range(5)]


@pytest.mark.sweep
def test_a_payment_mail_goes_to_the_accounts_address_with_the_remaining_debt(shop: Service) -> None:
    customer = shop.customer(accounts_email="accounts@harbour.example")
    placed = invoiced(shop, customer, customer_reference="PO-6", **CONTACT)
    deliver_mail(shop)
    pay(shop, placed, "60.00")
    [mail] = deliver_mail(shop)
    [(number, payment)] = rows(
        shop, "select invoice, payment_id from allocation where invoice = (select max(number) from invoice)"
    )
    assert mail["To"] == "accounts@harbour.example"
    assert mail["Subject"] == f"Payment received for invoice {number} (your reference PO-6)"
    assert mail["Message-ID"] == message_id(shop, f"payment-received-{payment}")
    for text in (plain(mail), shown(mail)):
        for fact in ("£60.00", "£66.60", "Amount due", "£6.60", "16 July 2026"):
            assert fact in text
    pay_in(shop, customer, "10.60", number)
    [last] = deliver_mail(shop)
    assert "Paid in full" in plain(last)
    assert "16 July 2026" not in plain(last)
    for text in (plain(last), shown(last)):
        assert "£4.00" in text, "what is more than is due"


@pytest.mark.sweep
def test_without_an_accounts_address_a_payment_mail_goes_to_the_contact(shop: Service) -> None:
    placed = invoiced(shop, shop.customer(), **CONTACT)
    pay(shop, placed, "66.60")
    mails = deliver_mail(shop)
    assert [mail["To"] for mail in mails if "Payment" in mail["Subject"]] == [BUYER]


def test_no_receipt_is_sent_for_a_payment_that_is_reversed_before(shop: Service) -> None:
    reverse(shop, pay_in(shop, shop.customer(), "66.60"))
    assert deliver_mail(shop) == []
    assert jobs(shop) == []


@pytest.mark.sweep
def test_the_mail_of_a_paid_invoice_requests_no_payment(shop: Service) -> None:
    placed = invoiced(shop, shop.customer(), **CONTACT)
    pay(shop, placed, "66.60")
    [mail] = [mail for mail in deliver_mail(shop) if mail["Subject"].startswith("Invoice")]
    assert "Nothing left to pay" in plain(mail)
    assert "Due date" not in plain(mail)


@pytest.mark.sweep
def test_a_shipment_has_a_link_where_its_method_has_a_tracking_page(shop: Service) -> None:
    shop.must_load("shipping-methods", [{"id": 11, "tracking_url": "https://track.example/p?n={tracking_number}&x=1"}])
    try:
        placed = buy(shop.customer(), **CONTACT)
        deliver_mail(shop)
        dispatch(shop, placed, tracking_number='A/1 "<b>')
        [mail] = deliver_mail(shop)
    finally:
        shop.must_load("shipping-methods", [{"id": 11, "tracking_url": None}])
    assert "https://track.example/p?n=A%2F1%20%22%3Cb%3E&x=1" in plain(mail)
    assert 'href="https://track.example/p?n=A%2F1%20%22%3Cb%3E&amp;x=1"' in html(mail)
    placed = buy(shop.customer(), **CONTACT)
    dispatch(shop, placed, tracking_number="A1")
    [*_, plainly] = deliver_mail(shop)
    assert 'href="http' not in html(plainly)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("job", "ids"),
    [
        ("mail_quote_received", {"order_id": 999_999}),
        ("mail_quote_expiring", {"order_id": 999_999, "pricing": 1}),
        ("mail_order_cancelled", {"order_id": 999_999}),
        ("mail_order_expected_date", {"order_id": 999_999, "changed": 1}),
        ("mail_payment_received", {"payment_id": 999_999}),
    ],
)
def test_a_job_about_a_missing_record_fails_and_is_kept(shop: Service, job: str, ids: dict[str, int]) -> None:
    assert send_for(shop, job, **ids) == []
    assert jobs(shop) == [(job, "failed", 1)]


@pytest.mark.sweep
def test_message_ids_differ_between_installations(shop: Service) -> None:
    placed = buy(shop.customer(), **CONTACT)
    [here] = deliver_mail(shop)
    [(before,)] = rows(shop, "select id from installation")
    rows(shop, "update installation set id = gen_random_uuid() returning id")
    [there] = send_for(shop, "mail_order_confirmed", order_id=internal_id(shop, placed))
    rows(shop, "update installation set id = %s returning id", before)
    assert here["Message-ID"] != there["Message-ID"]
    assert (plain(here), html(here)) == (plain(there), html(there))
