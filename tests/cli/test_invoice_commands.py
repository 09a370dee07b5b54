"""`tradecounter invoice`: lists and shows what was issued, writes its PDF file, and sends it once more."""

from datetime import timedelta
from typing import Any

import pytest

from support.billing import invoiced, pay, pdf_text
from support.command_line import Forker, Program
from support.mail import deliver_mail
from support.orders import at, buy
from support.service import MORNING, Customer, Service

Lookup = dict[str, dict[str, Any]]

CONTACT, ACCOUNTS = "contact@buyer.example", "accounts@buyer.example"


@pytest.fixture(scope="module")
def tradecounter(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("invoices"), shop.database_url, forker)


@pytest.fixture(scope="module")
def buyer(shop: Service) -> Customer:
    return shop.customer(accounts_email=ACCOUNTS)


@pytest.fixture(scope="module")
def other(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture(scope="module")
def orders(shop: Service, buyer: Customer, other: Customer) -> Lookup:
    """Orders over 66.60, invoiced a day after each other: paid, paid in part, and another customer's."""
    placed = {}
    for day, (name, customer, values) in enumerate(
        (
            ("paid", buyer, {}),
            ("part", buyer, {"order_notifications": {"email_address": CONTACT}}),
            ("other", other, {}),
        )
    ):
        with at(shop, MORNING + timedelta(days=day)):
            placed[name] = invoiced(shop, customer, **values)
    pay(shop, placed["paid"], "66.60")
    pay(shop, placed["part"], "10.00")
    return placed


@pytest.fixture(scope="module")
def numbers(tradecounter: Program, orders: Lookup) -> dict[str, str]:
    """The invoices' numbers by the orders' names."""
    found = {name: tradecounter.json("order", "show", order["order_reference"]) for name, order in orders.items()}
    return {name: str(order["invoice"]) for name, order in found.items()}


def listed(tradecounter: Program, orders: Lookup, *options: str) -> list[str]:
    """The names of the orders whose invoices `invoice list` finds, in its order."""
    names = {order["order_reference"]: name for name, order in orders.items()}
    return [names[found["order_reference"]] for found in tradecounter.json("invoice", "list", *options)]


def test_invoices_are_listed_latest_first_and_can_be_filtered(
    tradecounter: Program, orders: Lookup, buyer: Customer
) -> None:
    assert listed(tradecounter, orders) == ["other", "part", "paid"]
    assert listed(tradecounter, orders, "--limit", "1") == ["other"]
    assert listed(tradecounter, orders, "--customer", str(buyer.id)) == ["part", "paid"]
    assert listed(tradecounter, orders, "--unpaid") == ["other", "part"]
    day = (MORNING + timedelta(days=1)).date().isoformat()
    assert listed(tradecounter, orders, "--from", day) == ["other", "part"]
    assert listed(tradecounter, orders, "--from", day, "--to", day) == ["part"]
    assert tradecounter.error("invoice", "list", "--customer", "999") == "customer 999 not found"


def test_overdue_invoices_are_unpaid_and_past_their_due_date(
    tradecounter: Program, orders: Lookup, shop: Service
) -> None:
    late = shop.customer(term_days=0)
    with at(shop, MORNING - timedelta(days=900)):
        orders = {**orders, "late": invoiced(shop, late)}
    overdue = listed(tradecounter, orders, "--overdue", "--customer", str(late.id))
    assert overdue == ["late"]
    pay(shop, orders["late"], "66.60")
    assert listed(tradecounter, orders, "--overdue", "--customer", str(late.id)) == []


def test_an_invoice_is_shown_with_its_lines(
    tradecounter: Program, orders: Lookup, numbers: dict[str, str], buyer: Customer
) -> None:
    shown = tradecounter.json("invoice", "show", numbers["part"])
    lines = shown.pop("lines")
    assert shown == {
        "number": int(numbers["part"]),
        "order_reference": orders["part"]["order_reference"],
        "customer_id": buyer.id,
        "issued_on": "2026-06-17",
        "tax_point": "2026-06-17",
        "due_on": "2026-07-17",
        "cost_net": 55.50,
        "cost_tax": 11.10,
        "cost_gross": 66.60,
        "paid": 10.00,
        "credited": 0.00,
        "due": 56.60,
        "customer_reference": orders["part"]["customer_reference"],
        "state": "overdue",  # long ago, by the clock of the commands
    }
    assert [(line["item_id"], line["sku"], line["cost_net"], line["cost_tax"]) for line in lines] == [
        (orders["part"]["items"][0]["id"], "PHONE", 50.00, 10.00),
        (None, None, 5.50, 1.10),
    ]
    assert lines[1]["description"] == "Shipping: Slowpost Standard"
    text = tradecounter.text("invoice", "show", numbers["part"])
    assert "Slowpost Standard" in text
    assert "cost_gross          66.60\n" in text


def test_the_pdf_file_equals_the_apis(
    tradecounter: Program, orders: Lookup, numbers: dict[str, str], buyer: Customer
) -> None:
    pdf = buyer.get(f"/order/{orders['part']['order_reference']}/invoice").content
    number = numbers["part"]
    written = tradecounter.json("invoice", "pdf", number)
    assert written == {"number": int(number), "file": f"invoice-{number}.pdf", "bytes": len(pdf)}
    assert (tradecounter.folder / f"invoice-{number}.pdf").read_bytes() == pdf
    assert tradecounter.text("invoice", "pdf", number, "-o", "x.pdf") == f"invoice {number} is in x.pdf\n"
    assert (tradecounter.folder / "x.pdf").read_bytes() == pdf
    done = tradecounter.run("invoice", "pdf", number, "--output", "-")
    assert (done.status, done.output) == (0, pdf)
    assert f"{number}" in pdf_text(done.output)
    assert tradecounter.error("invoice", "pdf", number, "-o", "none/x.pdf") == (
        "none/x.pdf cannot be written: No such file or directory"
    )
    assert "both write to standard output" in tradecounter.misused("invoice", "pdf", number, "-o", "-", "--json")


def test_resending_an_invoice_sends_a_new_email_to_the_same_recipients(
    tradecounter: Program, numbers: dict[str, str], shop: Service
) -> None:
    first = {mail["To"]: mail for mail in deliver_mail(shop) if f"Invoice {numbers['part']}" in mail["Subject"]}
    assert first.keys() == {CONTACT, ACCOUNTS}
    resent = tradecounter.json("invoice", "resend", numbers["part"])
    assert (resent["number"], resent["recipients"]) == (int(numbers["part"]), [CONTACT, ACCOUNTS])
    again = {mail["To"]: mail for mail in deliver_mail(shop)}
    assert again.keys() == first.keys()
    for to, mail in again.items():
        assert mail["Subject"] == first[to]["Subject"]
        assert mail["Message-ID"] != first[to]["Message-ID"]
        [attached] = mail.iter_attachments()
        assert attached.get_filename() == f"invoice-{numbers['part']}.pdf"
    text = tradecounter.text("invoice", "resend", numbers["paid"])
    assert text.endswith(f" to {ACCOUNTS}\n")
    assert [mail["To"] for mail in deliver_mail(shop)] == [ACCOUNTS]


def test_an_invoice_without_recipients_is_not_sent(
    tradecounter: Program, numbers: dict[str, str], other: Customer
) -> None:
    error = tradecounter.error("invoice", "resend", numbers["other"])
    assert error == (
        f"invoice {numbers['other']} has no recipients: the order has no contact e-mail address, and customer "
        f"{other.id} has neither accounts_email nor order_mails: set one of them"
    )


@pytest.mark.parametrize("command", ["show", "pdf", "resend"])
def test_an_unknown_invoice_is_rejected(tradecounter: Program, orders: Lookup, command: str) -> None:
    assert orders
    assert tradecounter.error("invoice", command, "99", "--json") == "invoice 99 not found"
    assert not (tradecounter.folder / "invoice-99.pdf").exists()


def test_an_order_that_is_not_invoiced_is_not_listed(tradecounter: Program, shop: Service) -> None:
    buyer = shop.customer()
    buy(buyer)
    assert tradecounter.json("invoice", "list", "--customer", str(buyer.id)) == []
    assert tradecounter.text("invoice", "list", "--customer", str(buyer.id)) == "nothing found\n"
