"""`order invoice`, `order pay`, and what `order show` says of them."""

import json
from typing import Any

import pytest

from support.billing import invoice_text
from support.command_line import Forker, Program
from support.orders import buy, dispatch, rows
from support.service import Customer, Service
from tradecounter.db.installation import mark_as_demo

pytestmark = pytest.mark.sweep  # seconds for each of its stories

SELLER = {
    "TRADECOUNTER_SELLER_NAME": "Trade & Sons",
    "TRADECOUNTER_SELLER_ADDRESS": "7 Sales Street, York , ,YO1 7HH",
    "TRADECOUNTER_SELLER_VAT_NUMBER": "GB123456782",
}


@pytest.fixture(scope="module")
def tradecounter(shop: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    return Program(tmp_path_factory.mktemp("billing"), shop.database_url, forker)


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def placed(shop: Service, customer: Customer) -> dict[str, Any]:
    """A dispatched order."""
    found = buy(customer)
    dispatch(shop, found)
    return found


def test_issuing_an_invoice_again_prints_the_same_number(
    tradecounter: Program, customer: Customer, placed: dict[str, Any]
) -> None:
    reference = placed["order_reference"]
    issued = tradecounter.json("order", "invoice", reference, **SELLER)
    assert issued == {"number": issued["number"], "order_reference": reference, "gross": 66.60}
    assert tradecounter.json("order", "invoice", str(placed["order_id"]), **SELLER) == issued
    again = tradecounter.text("order", "invoice", reference)
    assert again == f"invoice {issued['number']} of order {reference} over £66.60 was issued before\n"
    assert "Trade & Sons 7 Sales Street, York, YO1 7HH" in invoice_text(customer, placed)
    assert "VAT number GB123456782" in invoice_text(customer, placed)


def test_amounts_keep_their_pence(tradecounter: Program, placed: dict[str, Any]) -> None:
    assert '"gross":66.60}' in tradecounter.run("order", "invoice", placed["order_reference"], "--json", **SELLER).out


def test_an_invoice_of_the_example_seller_is_rejected(tradecounter: Program, placed: dict[str, Any]) -> None:
    reference, name = placed["order_reference"], {"TRADECOUNTER_SELLER_NAME": "Trade & Sons"}
    assert tradecounter.error("order", "invoice", reference, **name) == (
        "the document would show the built-in example seller, and documents never change: set "
        "TRADECOUNTER_SELLER_ADDRESS, TRADECOUNTER_SELLER_VAT_NUMBER first"
    )
    tradecounter.json("order", "invoice", reference, **SELLER)
    assert "was issued before" in tradecounter.text("order", "invoice", reference)


def test_a_demo_issues_invoices_of_the_example_seller(
    shop: Service, tradecounter: Program, placed: dict[str, Any]
) -> None:
    shop.in_transaction(mark_as_demo)
    done = tradecounter.run("order", "invoice", placed["order_reference"], "--json")
    rows(shop, "update installation set demo = false returning 1")
    assert done.status == 0
    assert done.document["gross"] == 66.60
    assert done.err.startswith("warning: the invoice shows built-in examples of TRADECOUNTER_SELLER_NAME, ")


def test_an_invoice_shows_the_seller_from_the_settings(
    tradecounter: Program, customer: Customer, placed: dict[str, Any]
) -> None:
    details = {
        "TRADECOUNTER_SELLER_EMAIL": "sales@trade.example",
        "TRADECOUNTER_SELLER_PHONE": "01904 496 0000",
        "TRADECOUNTER_SELLER_COMPANY_NUMBER": "01234567",
        "TRADECOUNTER_SELLER_REGISTERED_OFFICE": "8 Office Row, York",
        "TRADECOUNTER_SELLER_BANK": "Trade Bank | Sort code 20-00-00|Account 12345678",
    }
    tradecounter.json("order", "invoice", placed["order_reference"], **SELLER, **details)
    text = invoice_text(customer, placed)
    for stated in (
        "01904 496 0000 · sales@trade.example",
        "Company number 01234567 · Registered office: 8 Office Row, York",
        "PAY TO Trade Bank Sort code 20-00-00 Account 12345678",
    ):
        assert stated in text
    error = tradecounter.error(
        "order", "invoice", placed["order_reference"], **SELLER, TRADECOUNTER_SELLER_LOGO="missing.png"
    )
    assert error == "TRADECOUNTER_SELLER_LOGO: missing.png cannot be read: No such file or directory"


def test_an_order_that_cannot_be_invoiced_is_rejected(tradecounter: Program, customer: Customer) -> None:
    reference = buy(customer)["order_reference"]
    assert tradecounter.error("order", "invoice", reference, **SELLER) == (
        "an invoice is issued once the whole order is dispatched; still to be dispatched: 1 of 1 PHONE"
    )
    assert tradecounter.error("order", "invoice", "NONE-1") == "order NONE-1 not found"


def test_a_payment_prints_the_row_of_the_credit_overview(
    tradecounter: Program, customer: Customer, placed: dict[str, Any]
) -> None:
    reference = placed["order_reference"]
    assert "has no invoice yet" in tradecounter.error("order", "pay", reference, "10")
    tradecounter.json("order", "invoice", reference, **SELLER)
    for _ in range(2):
        said = tradecounter.text("order", "pay", reference, "60", "--dry-run")
        assert said.startswith(f"£60.00 of £66.60 would be paid of {reference}; £6.60 would be due by ")
    row = tradecounter.json("order", "pay", reference, "60.00")
    assert row == customer.get("/customer/credit").json()["outstanding_orders"][0]
    assert (row["total_paid"], row["total_due"], row["order_reference"]) == (60.00, 6.60, reference)
    error = tradecounter.error("order", "pay", reference, "6.61")
    assert error == "amount: must be at most £6.60, which is due"
    assert tradecounter.text("order", "pay", reference, "0.10") == (
        f"£60.10 of £66.60 is paid of {reference}; £6.50 is due by {row['due_on'][:10]}\n"
    )
    assert tradecounter.text("order", "pay", reference, "6.50") == (
        f"£66.60 of £66.60 is paid of {reference}; it is paid in full\n"
    )
    assert "paid in full" in tradecounter.error("order", "pay", reference, "1")


@pytest.mark.parametrize("amount", ["ten", "", "12,50", "1_0", "NaN", "Infinity", "1e99"])
def test_an_invalid_amount_is_a_usage_error(tradecounter: Program, placed: dict[str, Any], amount: str) -> None:
    assert "is not an amount in pounds" in tradecounter.misused("order", "pay", placed["order_reference"], amount)


@pytest.mark.parametrize("amount", ["0", "1,000", "£66.61"])
def test_an_amount_that_cannot_be_paid_is_rejected(tradecounter: Program, placed: dict[str, Any], amount: str) -> None:
    tradecounter.run("order", "invoice", placed["order_reference"], **SELLER)
    assert tradecounter.error("order", "pay", placed["order_reference"], amount).startswith("amount: must be")


def test_an_order_is_shown_with_its_invoice_and_payments(tradecounter: Program, placed: dict[str, Any]) -> None:
    reference = placed["order_reference"]

    def shown() -> tuple[Any, ...]:
        found = json.loads(tradecounter.run("order", "show", reference, "--json").out)
        return found["status"], found["invoice"], found["paid"], found["due"]

    assert shown() == ("Dispatched", None, 0, 66.60)
    number = tradecounter.json("order", "invoice", reference, **SELLER)["number"]
    tradecounter.json("order", "pay", reference, "6.60")
    assert shown() == ("Invoiced", number, 6.60, 60.00)
    tradecounter.json("order", "pay", reference, "60")
    assert shown() == ("Completed", number, 66.60, 0)
    completed = tradecounter.json("order", "list", "--status", "completed")
    assert (reference, number) in [(found["order_reference"], found["invoice"]) for found in completed]
    [row] = [line for line in tradecounter.text("order", "list").splitlines() if line.startswith(f"{reference} ")]
    assert row.split()[-1] == str(number)
