"""E-mails about orders: their recipients and their content, in text and in HTML."""

from datetime import timedelta
from email.message import EmailMessage
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from support.billing import invoiced, issue, number_of
from support.mail import deliver_mail, html, internal_id, jobs, message_id, plain, send_for, shown
from support.orders import buy, create, dispatch, read, rows, sell
from support.quotes import price_as_support, request_quote
from support.service import MORNING, Service
from support.shop import ADDRESS, order
from tradecounter.db.jobs import queue
from tradecounter.db.transaction import Transaction
from tradecounter.shipments.wire import Serial

BUYER = "buying@harbour.example"
CONTACT: dict[str, Any] = {"order_notifications": {"email_address": BUYER, "phone_number": "01130000000"}}


def assert_shows(mail: EmailMessage, *facts: str) -> None:
    """Check that text and HTML both contain all the facts."""
    for text in (" ".join(plain(mail).split()), shown(mail)):
        assert [fact for fact in facts if fact not in text] == []


@pytest.mark.spec("6 Events", "an order's contact gets its e-mails")
def test_the_contact_gets_a_mail_when_an_order_is_confirmed(shop: Service) -> None:
    buyer = shop.customer(email_address="account@harbour.example")
    placed = buy(buyer, [("PHONE", 6), ("CABLE", 2)], customer_reference="PO-77", **CONTACT)
    [mail] = deliver_mail(shop)
    assert mail["To"] == BUYER
    assert mail["From"] == "Tradecounter <tradecounter@localhost>"
    assert mail["Reply-To"] == "support@localhost"
    assert mail["Subject"] == f"Order {placed['order_reference']} confirmed (your reference PO-77)"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["Message-ID"] == message_id(shop, f"order-confirmed-{internal_id(shop, placed)}")
    assert parsedate_to_datetime(mail["Date"]) == MORNING
    assert mail.get_content_type() == "multipart/alternative"
    assert_shows(
        mail,
        placed["order_reference"], "PO-77", "6", "PHONE", "Product PHONE", "£45.00", "£270.00", "CABLE", "£3.98",
        "£273.98", "Slowpost Standard", "16 June 2026", "Ada Example 1 Test Street Leeds LS1 1AA United Kingdom",
        "16 June 2026, 09:00 (UK time)",
        "£338.50", "Example Reseller Ltd",
    )  # fmt: skip
    assert jobs(shop) == []


def test_the_mail_of_a_confirmation_names_the_id_that_the_api_shows(shop: Service) -> None:
    buyer = shop.customer()
    create(buyer)  # takes an id, but no number
    placed = buy(buyer, **CONTACT)
    [mail] = deliver_mail(shop)
    order_id = read(buyer, placed)["id"]
    assert not placed["order_reference"].endswith(f"{order_id}")
    assert_shows(mail, f"{placed['order_reference']} (id {order_id})")


def test_dates_and_times_do_not_break_across_lines(shop: Service) -> None:
    buy(shop.customer(), **CONTACT)
    [mail] = deliver_mail(shop)
    assert "16\u00a0June\u00a02026, 09:00\u00a0(UK\u00a0time)" in html(mail)


def test_an_order_without_a_contact_sends_no_mail(shop: Service) -> None:
    buy(shop.customer())
    buy(shop.customer(), order_notifications={"phone_number": "01130000000"})
    assert deliver_mail(shop) == []
    assert jobs(shop) == []


def test_a_rolled_back_change_sends_no_mail(shop: Service) -> None:
    order_id = internal_id(shop, create(shop.customer(), **CONTACT))

    async def queue_and_roll_back(tx: Transaction) -> None:
        queue(tx, "mail_order_confirmed", order_id=order_id)
        tx.set_rollback()

    shop.in_transaction(queue_and_roll_back)
    poor = shop.customer(credit="1.00")
    rejected = poor.post("/order", order(auto_confirm=True, shipping_method={"id": 11}, **CONTACT))
    assert rejected.status_code == 402
    assert jobs(shop) == []
    assert deliver_mail(shop) == []


def test_a_back_ordered_order_has_an_unknown_date(shop: Service) -> None:
    buy(shop.customer(), [(sell(shop, "SCARCE"), 2)], **CONTACT)
    [mail] = deliver_mail(shop)
    assert_shows(mail, "not known yet")


def test_a_resent_mail_is_identical(shop: Service) -> None:
    placed = buy(shop.customer(), **CONTACT)
    [first] = deliver_mail(shop)
    shop.clock.advance(timedelta(hours=3))
    [second] = send_for(shop, "mail_order_confirmed", order_id=internal_id(shop, placed))
    shop.clock.set(MORNING)
    assert first["Message-ID"] == second["Message-ID"]
    assert (plain(first), html(first)) == (plain(second), html(second))


def test_a_shipment_mail_shows_serial_numbers_and_remaining_items(shop: Service) -> None:
    buyer = shop.customer()
    placed = buy(buyer, [("PHONE", 3), ("CABLE", 2)], **CONTACT)
    deliver_mail(shop)
    phone, cable = (item["id"] for item in read(buyer, placed)["items"])
    numbered = Serial(phone, "SN-1", "00:11:22:33:44:55", "PROV-9")
    dispatch(shop, placed, (phone, 1), (cable, 2), tracking_number="TRACK-1", serials=[numbered])
    shop.clock.advance(timedelta(hours=1))
    dispatch(shop, placed, (phone, 2), serials=[Serial(phone, "SN-2"), Serial(phone, "SN-3")])
    mail, last = deliver_mail(shop)
    shop.clock.set(MORNING)
    order_id = internal_id(shop, placed)
    assert mail["To"] == BUYER
    assert [mail["Message-ID"], last["Message-ID"]] == [
        message_id(shop, f"order-dispatched-{order_id}-{shipment}")
        for (shipment,) in rows(shop, "select id from shipment where order_id = %s order by id", order_id)
    ]
    assert [mail["Subject"], last["Subject"]] == [
        f"Order {placed['order_reference']} {what} (your reference PO-1)" for what in ("part dispatched", "dispatched")
    ]
    assert_shows(
        mail,
        "Part of your order", placed["order_reference"], "TRACK-1", "PHONE", "SN-1", "00:11:22:33:44:55", "PROV-9",
        "CABLE", "To be dispatched", "Slowpost Standard", "Ada Example 1 Test Street Leeds LS1 1AA United Kingdom",
    )  # fmt: skip
    for line in ("  1 x PHONE  Product", "  2 x CABLE  Product", "To be dispatched:\n  2 x PHONE  Product"):
        assert line in plain(mail)
    assert "Product PHONE PHONE serial number SN-1, MAC address 00:11:22:33:44:55, provisioned as PROV-9 1 " in shown(
        mail
    )
    assert "To be dispatched Product PHONE PHONE 2 " in shown(mail)
    assert_shows(last, "Your order", "SN-2", "SN-3", "This completes the order")
    assert "Tracking" not in plain(last)
    assert "SN-1" not in plain(last)


@pytest.mark.spec("6 Events", "the accounts address receives copies of invoices")
def test_an_invoice_goes_to_the_contact_and_a_copy_to_the_accounts_address(shop: Service) -> None:
    buyer = shop.customer(accounts_email="accounts@harbour.example")
    placed = buy(buyer, [("PHONE", 1)], customer_reference="PO-9", **CONTACT)
    dispatch(shop, placed)
    deliver_mail(shop)
    number = issue(shop, placed).number
    copy, invoice = deliver_mail(shop)
    assert (invoice["To"], copy["To"]) == (BUYER, "accounts@harbour.example")
    assert invoice["Message-ID"] == message_id(shop, f"order-invoiced-{number}")
    assert copy["Message-ID"] == message_id(shop, f"invoice-copy-{number}")
    for mail in (invoice, copy):
        assert mail["Subject"] == f"Invoice {number} for order {placed['order_reference']} (your reference PO-9)"
        assert_shows(mail, str(number), placed["order_reference"], "£66.60", "16 July 2026")
        [pdf] = mail.iter_attachments()
        assert (pdf.get_filename(), pdf.get_content_type()) == (f"invoice-{number}.pdf", "application/pdf")
        assert pdf.get_content() == buyer.get(f"/order/{placed['order_reference']}/invoice").content
    assert "A copy of invoice" in plain(copy)
    assert "Copy of invoice" in shown(copy)


def test_without_an_accounts_address_there_is_no_copy(shop: Service) -> None:
    placed = invoiced(shop, shop.customer())
    invoice = {"order_id": internal_id(shop, placed), "number": number_of(shop, placed)}
    assert deliver_mail(shop) == []
    assert send_for(shop, "mail_invoice_copy", **invoice) == []  # the address existed when the job was queued
    assert send_for(shop, "mail_order_invoiced", **invoice) == []
    assert jobs(shop) == []


def test_support_gets_a_mail_with_everything_needed_to_price_a_quote(shop: Service) -> None:
    buyer = shop.customer(
        email_address="Ada@harbour.example", first_name="Ada", last_name="Buyer", company="Harbour & Sons"
    )
    sku = sell(shop, "ODD 'SKU' #1", "12.50", available=7)
    placed = request_quote(
        buyer,
        [("PHONE", 6), (sku, 2), (sku, 1)],
        customer_reference="PO-5",
        external_customer_id="END-3",
        shipping_address={**ADDRESS, "contact_number": "0113 496 0000"},
        courier_notifications={"email_address": "door@harbour.example"},
        **CONTACT,
    )
    [mail] = [mail for mail in deliver_mail(shop) if mail["To"] == "support@localhost"]
    code = placed["confirmation_code"]
    assert mail["To"] == "support@localhost"
    assert mail["Reply-To"] == "Ada@harbour.example"
    assert mail["Subject"] == f"Quote to price: {code}, Harbour & Sons"
    facts = [
        code, "Ada Buyer", f"(id {buyer.id})", "Ada@harbour.example", "PO-5", "END-3", BUYER, "01130000000",
        "door@harbour.example", "0113 496 0000", "1 Test Street Leeds LS1 1AA United Kingdom", "Slowpost Standard",
        "Fastvan", "£45.00", "£270.00", "£12.50", "£25.00", ", 7 in stock", "Harbour & Sons", "Shipping weight 9 kg",
        f"tradecounter quote confirm {code}",
    ]  # fmt: skip
    assert_shows(mail, *facts)
    assert "Harbour &amp; Sons" in html(mail)
    command = """--item PHONE=UNIT_COST --item 'ODD '"'"'SKU'"'"' #1=UNIT_COST' --note TEXT"""
    assert f"  tradecounter quote price {code} {command}\n" in plain(mail)


@pytest.mark.spec("6 Events", "the customer gets an e-mail when a quote is priced")
def test_the_contact_and_the_account_get_a_mail_when_a_quote_is_priced(shop: Service) -> None:
    buyer = shop.customer(email_address="owner@harbour.example")
    placed = request_quote(buyer, [("PHONE", 6)], customer_reference="PO-6", **CONTACT)
    deliver_mail(shop)
    price_as_support(shop, placed, ("PHONE", "40"), note="Better from 10.\nAsk for Eve.")
    [mail] = deliver_mail(shop)
    assert mail["To"] == f"{BUYER}, owner@harbour.example"
    assert mail["Message-ID"] == message_id(shop, f"quote-priced-{internal_id(shop, placed)}-1")
    assert_shows(
        mail, placed["confirmation_code"], "PO-6", "£40.00", "£240.00", "Better from 10.", "Ask for Eve.",
        "23 June 2026, 09:00 (UK time)", f"PUT /order/{placed['confirmation_code']}", '{"shipping_method": {"id": 11}}',
    )  # fmt: skip
    assert "replaces" not in plain(mail)


def test_only_the_latest_pricing_of_a_quote_is_mailed(shop: Service) -> None:
    buyer = shop.customer(email_address=BUYER.upper())
    placed = request_quote(buyer, **CONTACT)  # the same address in another case gets one e-mail
    deliver_mail(shop)
    price_as_support(shop, placed, ("PHONE", "41"))
    price_as_support(shop, placed, ("PHONE", "42"))
    [mail] = deliver_mail(shop)
    assert mail["To"] == BUYER.upper()
    assert mail["Message-ID"] == message_id(shop, f"quote-priced-{internal_id(shop, placed)}-2")
    assert_shows(mail, "£42.00")
    assert_shows(mail, "This price replaces the earlier one.")
    assert jobs(shop) == []


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(
    ("job", "ids"),
    [
        ("mail_quote_requested", {"order_id": 999_999}),
        ("mail_quote_priced", {"order_id": 999_999, "pricing": 1}),
        ("mail_order_confirmed", {"order_id": 999_999}),
        ("mail_order_dispatched", {"order_id": 1, "shipment_id": 999_999}),
        ("mail_order_invoiced", {"order_id": 999_999, "number": 999_999}),
        ("mail_invoice_copy", {"order_id": 999_999, "number": 999_999}),
    ],
)
def test_a_job_about_a_missing_record_fails_and_is_kept(own_shop: Service, job: str, ids: dict[str, int]) -> None:
    assert send_for(own_shop, job, **ids) == []
    assert jobs(own_shop) == [(job, "failed", 1)]
