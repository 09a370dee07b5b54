"""Issuing invoices (specification, invoice): conditions, dates, amounts and effects."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import psycopg
import pytest

from support.billing import SELLER, invoice_text, invoiced, issue
from support.orders import at, buy, cancel, create, dispatch, outstanding, read, rows, sell, uk
from support.service import Service
from support.shop import ADDRESS, EUROPE, GERMAN_ADDRESS, NEXT_DAY
from tradecounter.billing.invoices import issue_invoice
from tradecounter.billing.queries.invoices import next_invoice_number
from tradecounter.customers.queries.accounts import edit_account
from tradecounter.customers.settings import CustomerChange
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError, Kind


def stored(shop: Service, placed: dict[str, Any]) -> dict[str, Any]:

    [(document,)] = rows(
        shop,
        "select document from invoice i join orders o on o.id = i.order_id where o.id = %s",
        placed["order_id"],
    )
    found: dict[str, Any] = document
    return found


def jobs(shop: Service, placed: dict[str, Any]) -> list[str]:
    """Return the queued jobs about an order's invoice."""
    found = rows(
        shop,
        "select task_name from procrastinate_jobs j join orders o on o.id = (j.args->>'order_id')::bigint"
        " where o.id = %s and task_name like '%%invoice%%' order by task_name",
        placed["order_id"],
    )
    return [name for (name,) in found]


def error_of(shop: Service, reference: str) -> DomainError:
    with pytest.raises(DomainError) as rejected:
        shop.in_transaction(lambda tx: issue_invoice(tx, reference, SELLER, shop.clock.now()))
    return rejected.value


def test_the_document_contains_the_whole_order(shop: Service) -> None:
    customer = shop.customer(company="Buyer plc", term_days=14)
    billing = {**ADDRESS, "company_name": "Buyer plc", "tax_number": "GB1", "street_two": "Floor 2", "state": "Yorks"}
    placed = invoiced(
        shop, customer, ("PHONE", 5), ("CABLE", 2), ("PHONE", 1), billing_address=billing, customer_reference="PO-9"
    )
    document = stored(shop, placed)
    assert document == {
        "number": document["number"],
        "issued_on": "2026-06-16",
        "supplied_on": "2026-06-16",
        "due_on": "2026-06-30",
        "seller": {
            "name": "Seller & Sons Ltd",
            "address": ["7 Sales Street", "York", "YO1 7HH", "United Kingdom"],
            "tax_number": "GB123456782",
        },
        "customer_id": customer.id,
        "customer": {
            "name": "Buyer plc",
            "address": ["Ada Example", "1 Test Street", "Floor 2", "Leeds", "Yorks", "LS1 1AA", "United Kingdom"],
            "tax_number": "GB1",
        },
        "delivery": {"name": "Ada Example", "address": ["1 Test Street", "Leeds", "LS1 1AA", "United Kingdom"]},
        "order_reference": placed["order_reference"],
        "customer_reference": "PO-9",
        "lines": [
            _line("PHONE", "Product PHONE", 5, "45.00", "225.00", "45.00"),
            _line("CABLE", "Product CABLE", 2, "1.99", "3.98", "0.80"),
            _line("PHONE", "Product PHONE", 1, "50.00", "50.00", "10.00"),
            _line("", "Shipping: Slowpost Standard", 1, "8.10", "8.10", "1.62"),
        ],
        "vat_totals": [{"rate": "20.00", "net": "287.08", "vat": "57.42"}],
        "net": "287.08",
        "vat": "57.42",
        "gross": "344.50",
        "due": "344.50",
        "payment_terms": "Payment is due within 14 days of the invoice date, by 30 June 2026.",
        "notes": [],
    }
    assert Decimal(document["gross"]) == outstanding(shop, customer)


def _line(sku: str, description: str, quantity: int, unit: str, net: str, vat: str) -> dict[str, Any]:
    return {
        "sku": sku,
        "description": description,
        "quantity": quantity,
        "unit_price": unit,
        "vat_rate": "20.00",
        "net": net,
        "vat": vat,
        "parts": [],
        "serial_numbers": [],
    }


def test_an_invoice_without_a_company_names_the_contact_person(shop: Service) -> None:
    placed = invoiced(shop, shop.customer(first_name="Bo", last_name="Bare"))
    assert stored(shop, placed)["customer"]["name"] == "Bo Bare"


def test_an_order_with_undispatched_units_is_rejected_with_a_list_of_them(shop: Service) -> None:
    placed = buy(shop.customer(), [("PHONE", 2), ("CABLE", 3)])
    rejected = error_of(shop, placed["order_reference"])
    assert rejected.kind is Kind.CONFLICT
    assert rejected.message.endswith("still to be dispatched: 2 of 2 PHONE, 3 of 3 CABLE")
    phones, _cables = placed["items"]
    dispatch(shop, placed, (phones["id"], 2))
    assert error_of(shop, placed["order_reference"]).message.endswith("still to be dispatched: 3 of 3 CABLE")
    dispatch(shop, placed)
    assert issue(shop, placed).new


def test_the_time_of_supply_is_the_last_dispatch(shop: Service) -> None:
    placed = buy(shop.customer(), [("PHONE", 1), ("CABLE", 1)])
    for item, moment in zip(placed["items"], (uk(2026, 6, 18, 12), uk(2026, 6, 20, 12)), strict=True):
        with at(shop, moment):
            dispatch(shop, placed, (item["id"], 1))
    with at(shop, uk(2026, 7, 1, 9)):
        issue(shop, placed)
    document = stored(shop, placed)
    assert (document["supplied_on"], document["issued_on"], document["due_on"]) == (
        "2026-06-20",
        "2026-07-01",
        "2026-07-31",
    )


@pytest.mark.parametrize(
    ("moment", "issued_on", "due_on"),
    [
        pytest.param(datetime(2026, 7, 1, 23, 30, tzinfo=UTC), "2026-07-02", "2026-08-01", id="late in summer"),
        pytest.param(datetime(2026, 12, 1, 23, 30, tzinfo=UTC), "2026-12-01", "2026-12-31", id="late in winter"),
        pytest.param(datetime(2026, 10, 1, 9, tzinfo=UTC), "2026-10-01", "2026-10-31", id="over the end of summer"),
    ],
)
def test_dates_are_uk_dates(shop: Service, moment: datetime, issued_on: str, due_on: str) -> None:
    with at(shop, moment):
        placed = invoiced(shop, shop.customer(term_days=30))
        document = stored(shop, placed)
    assert (document["issued_on"], document["supplied_on"], document["due_on"]) == (issued_on, issued_on, due_on)


def test_issuing_again_returns_the_existing_invoice(shop: Service) -> None:
    customer = shop.customer(accounts_email="pay@x.example")
    placed = invoiced(shop, customer)
    first = rows(shop, "select number, issued_at from invoice order by number desc limit 1")
    with at(shop, uk(2026, 8, 1)):
        again = issue(shop, placed)
    assert (again.number, again.new) == (first[0][0], False)
    assert again.gross == outstanding(shop, customer)
    assert rows(shop, "select number, issued_at from invoice order by number desc limit 1") == first
    assert jobs(shop, placed) == ["mail_invoice_copy", "mail_order_invoiced"]


def test_an_order_is_named_by_its_reference_or_its_id(shop: Service) -> None:
    placed = invoiced(shop, shop.customer())
    again = shop.in_transaction(lambda tx: issue_invoice(tx, str(placed["order_id"]), SELLER, shop.clock.now()))
    assert again.order_reference == placed["order_reference"]


def test_unknown_pending_and_cancelled_orders_are_rejected(shop: Service) -> None:
    customer = shop.customer()
    assert error_of(shop, "NONE-1").kind is Kind.NOT_FOUND
    pending = error_of(shop, create(customer)["confirmation_code"])
    assert pending.kind is Kind.CONFLICT
    assert "not confirmed" in pending.message
    placed = buy(customer)
    cancel(shop, placed)
    cancelled = error_of(shop, placed["order_reference"])
    assert cancelled.kind is Kind.CONFLICT
    assert "cancelled" in cancelled.message


def test_a_rejected_attempt_uses_no_invoice_number(shop: Service) -> None:
    [(before,)] = rows(shop, "select last from invoice_number")
    error_of(shop, buy(shop.customer())["order_reference"])
    assert rows(shop, "select last from invoice_number") == [(before,)]

    async def fail(tx: Transaction) -> None:
        assert await next_invoice_number(tx) == before + 1
        raise DomainError(Kind.INVALID, "a later step fails")

    with pytest.raises(DomainError, match="a later step"):
        shop.in_transaction(fail)
    placed = invoiced(shop, shop.customer())
    assert stored(shop, placed)["number"] == before + 1


def test_issuing_sets_the_status_and_queues_the_accounts_copy(shop: Service) -> None:
    for accounts_email, queued in ((None, []), ("pay@b.example", ["mail_invoice_copy"])):
        customer = shop.customer(accounts_email=accounts_email)
        placed = invoiced(shop, customer)
        assert jobs(shop, placed) == [*queued, "mail_order_invoiced"]
        assert read(customer, placed)["status"] == "Invoiced"


def test_an_order_that_costs_nothing_is_completed_by_its_invoice(shop: Service) -> None:
    customer = shop.customer()
    shop.must_load("contract-prices", [{"customer_id": customer.id, "sku": "PHONE", "single_unit_cost": 0}])
    shop.must_load("shipping-methods", [{"id": NEXT_DAY, "base_cost_net": 0}])
    placed = invoiced(shop, customer, method=NEXT_DAY)
    shop.must_load("shipping-methods", [{"id": NEXT_DAY, "base_cost_net": 10}])
    assert read(customer, placed)["status"] == "Completed"
    assert stored(shop, placed)["payment_terms"] == "Nothing is due."
    assert "Amount due £0.00" in invoice_text(customer, placed)


def test_an_export_says_that_no_vat_is_charged(shop: Service) -> None:
    customer = shop.customer()
    placed = invoiced(shop, customer, method=EUROPE, shipping_address=GERMAN_ADDRESS)
    text = invoice_text(customer, placed)
    assert "No UK VAT is charged: the goods were exported from the United Kingdom." in text
    assert "Product PHONE 1 £50.00 0% £50.00 £0.00" in text
    assert "VAT at 0% £0.00" in text
    assert "Germany" in text
    assert "exported" not in invoice_text(customer, invoiced(shop, customer))


def test_components_are_shown_below_their_bundle_and_do_not_delay_the_invoice(shop: Service) -> None:
    customer = shop.customer()
    sell(shop, "HANDSET", name="Handset")
    sell(shop, "BUNDLE", 30, available=5, components=[{"sku": "HANDSET", "quantity": 3}])
    placed = buy(customer, [("BUNDLE", 2)])
    dispatch(shop, placed)
    issue(shop, placed)
    document = stored(shop, placed)
    assert [line["sku"] for line in document["lines"]] == ["BUNDLE", ""]
    assert document["lines"][0]["parts"] == [
        {"sku": "HANDSET", "description": "Handset", "quantity": 6, "serial_numbers": []}
    ]
    assert "6 of HANDSET Handset" in invoice_text(customer, placed)


def test_an_invoice_cannot_be_changed_or_deleted(shop: Service) -> None:
    placed = invoiced(shop, shop.customer())
    number = stored(shop, placed)["number"]
    statements = [
        Statement("update invoice set gross = 0 where number = :number"),
        Statement("update invoice set pdf = '' where number = :number"),
        Statement("delete from invoice where number = :number"),
    ]
    for statement in statements:
        with pytest.raises(psycopg.errors.RaiseException, match="an invoice never changes"):
            shop.in_transaction(lambda tx, change=statement: tx.execute(change, number=number))  # type: ignore[misc]


def test_an_invoice_never_changes_after_it_is_issued(shop: Service) -> None:
    customer = shop.customer(company="Before Ltd")
    placed = invoiced(shop, customer)
    before = customer.get(f"/order/{placed['order_id']}/invoice").content
    shop.in_transaction(lambda tx: edit_account(tx, customer.id, CustomerChange(company="After Ltd", term_days=90)))
    shop.must_load("products", [{"sku": "PHONE", "name": "Renamed"}])
    assert customer.get(f"/order/{placed['order_id']}/invoice").content == before
    shop.must_load("products", [{"sku": "PHONE", "name": "Product PHONE"}])
