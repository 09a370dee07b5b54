"""Invoices in parts, payments and credit notes together with cancelled, amended and returned units: sums agree."""

from collections.abc import Iterator
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from support.billing import SELLER, credit, due_of, issue_part, pay_in, unallocated
from support.orders import amend, buy, cancel, confirm, create, dispatch, faults_in_the_books, outstanding, read, rows
from support.quotes import price_as_support, request_quote
from support.service import Service
from support.shop import STANDARD, order
from tradecounter.credit_notes.credit_return import receive_and_credit
from tradecounter.credit_notes.queries import fetch_credit_note
from tradecounter.credit_notes.reseller_wire import CreditNote, present_credit_note
from tradecounter.customers.change_account import block_customer
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.privacy.personal_data import erase_customer
from tradecounter.returns.handle_returns import open_return
from tradecounter.returns.wire import Receipt, ReceivedUnits, ReturnedUnits, ReturnRequest

NONE = Decimal(0)


@pytest.fixture(autouse=True)
def _books(shop: Service) -> Iterator[None]:
    yield
    assert faults_in_the_books(shop) == {}


def send_back(shop: Service, placed: dict[str, Any], item: int, units: int) -> list[CreditNote]:
    """Return and restock units, and credit those that are invoiced."""
    name, now = str(placed["order_reference"]), shop.clock.now()
    number = shop.in_transaction(
        lambda tx: open_return(tx, name, ReturnRequest([ReturnedUnits(item, units)], "Faulty"), now)
    )
    receipt = Receipt([ReceivedUnits(item, units)], credit=True)
    received = shop.in_transaction(lambda tx: receive_and_credit(tx, number, receipt, SELLER, now))
    assert received.state == "closed"
    notes = [shop.in_transaction(partial(fetch_credit_note, number=note.number)) for note in received.credit_notes]
    return [present_credit_note(note) for note in notes]


def gross_of(shop: Service, placed: dict[str, Any]) -> Decimal:
    [(gross,)] = rows(shop, "select gross from orders where id = %s", placed["order_id"])
    return Decimal(gross)


def test_an_order_is_invoiced_cancelled_paid_returned_and_credited(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("CABLE", 7)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 2))
    first = issue_part(shop, placed)
    dispatch(shop, placed, (item, 3))
    cancel(shop, placed, "too many", (item, 2))
    assert read(customer, placed)["status"] == "Part invoiced"
    last = issue_part(shop, placed, part=False)
    assert first.gross + last.gross == gross_of(shop, placed) == outstanding(shop, customer)
    assert read(customer, placed)["status"] == "Invoiced"
    pay_in(shop, customer, str(first.gross + last.gross))
    assert read(customer, placed)["status"] == "Completed"
    notes = send_back(shop, placed, item, 3)
    assert [[line.quantity for line in note.lines] for note in notes] == [[2], [1]]
    freed = sum((note.cost_gross for note in notes), NONE)
    assert (unallocated(shop, customer), outstanding(shop, customer)) == (freed, NONE)
    assert read(customer, placed)["status"] == "Completed"


def test_an_order_whose_dispatched_units_are_invoiced_is_invoiced_once_the_rest_is_cancelled(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("CABLE", 3), ("PHONE", 1)])
    cable = placed["items"][0]["id"]
    dispatch(shop, placed, (cable, 3))
    part = issue_part(shop, placed)
    pay_in(shop, customer, "5.00")
    amend(shop, placed, items=[{"sku": "PHONE", "quantity": 1}])
    assert outstanding(shop, customer) == gross_of(shop, placed) - 5
    cancel(shop, placed)
    assert read(customer, placed)["status"] == "Invoiced"
    assert outstanding(shop, customer) == gross_of(shop, placed) - 5 == due_of(shop, part.number)
    assert not issue_part(shop, placed, part=False).new
    credit(shop, part.number, (cable, 1))
    pay_in(shop, customer, str(due_of(shop, part.number)))
    assert (read(customer, placed)["status"], outstanding(shop, customer)) == ("Completed", NONE)


def test_units_that_come_back_before_they_are_invoiced_are_not_invoiced(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("CABLE", 7)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 2))
    first = issue_part(shop, placed)
    dispatch(shop, placed)
    before = outstanding(shop, customer)
    assert send_back(shop, placed, item, 3) == []
    assert outstanding(shop, customer) == gross_of(shop, placed) < before
    last = issue_part(shop, placed, part=False)
    assert first.gross + last.gross == gross_of(shop, placed)
    assert read(customer, placed)["status"] == "Invoiced"
    assert rows(shop, "select quantity from invoice_line where invoice = %s", last.number) == [(2,)]
    [note] = send_back(shop, placed, item, 1)
    assert note.invoice == first.number
    with pytest.raises(DomainError, match="to return"):
        send_back(shop, placed, item, 4)


def test_units_that_were_credited_before_they_came_back_are_not_taken_off_the_order_too(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("CABLE", 5)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 3))
    first = issue_part(shop, placed)
    dispatch(shop, placed)
    credit(shop, first.number, (item, 2))
    gross = gross_of(shop, placed)
    assert send_back(shop, placed, item, 2) == []
    assert gross_of(shop, placed) == gross
    last = issue_part(shop, placed, part=False)
    assert rows(shop, "select quantity from invoice_line where invoice = %s", last.number) == [(2,)]
    assert send_back(shop, placed, item, 1) != []  # the rest is credited as it comes


def test_what_came_back_whole_is_invoiced_with_its_shipping_only(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("CABLE", 2)])
    dispatch(shop, placed)
    assert send_back(shop, placed, placed["items"][0]["id"], 2) == []
    issued = issue_part(shop, placed, part=False)
    assert issued.gross == outstanding(shop, customer) == gross_of(shop, placed)
    assert rows(shop, "select line_id from invoice_line where invoice = %s", issued.number) == [(None,)]


def test_what_came_back_whole_is_completed_by_an_invoice_over_nothing_when_its_shipping_was_free(shop: Service) -> None:
    customer = shop.customer()
    quote = request_quote(customer, [("CABLE", 2)])
    price_as_support(shop, quote, carriage=[(STANDARD, "0")])
    placed = confirm(customer, quote).json()
    dispatch(shop, placed)
    assert send_back(shop, placed, placed["items"][0]["id"], 2) == []
    assert read(customer, placed)["status"] == "Dispatched"
    issued = issue_part(shop, placed, part=False)
    assert issued.gross == outstanding(shop, customer) == gross_of(shop, placed) == NONE
    assert read(customer, placed)["status"] == "Completed"
    assert customer.get("/invoice").json()[0]["cost_gross"] == 0
    erased = shop.in_transaction(lambda tx: erase_customer(tx, customer.id, shop.clock.now()))
    assert erased.id == customer.id


@pytest.mark.parametrize("paid", [[], [("PHONE", "20")]])
def test_units_that_cost_nothing_come_back_without_a_credit_note(shop: Service, paid: list[tuple[str, str]]) -> None:
    customer = shop.customer()
    quote = request_quote(customer, [("CABLE", 2), *((sku, 1) for sku, _ in paid)])
    price_as_support(shop, quote, ("CABLE", "0"), *paid, carriage=[(STANDARD, "5")])
    placed = confirm(customer, quote).json()
    dispatch(shop, placed)
    issue_part(shop, placed, part=False)
    items = [item["id"] for item in placed["items"]]
    for units in (1, 1):
        assert send_back(shop, placed, items[0], units) == []
    notes = [note for item in items[1:] for note in send_back(shop, placed, item, 1)]
    assert [note.cost_net for note in notes] == [Decimal(cost) for _, cost in paid]


def test_free_units_are_credited_with_others_and_taken_off_when_they_come_back_later(
    shop: Service,
) -> None:
    customer = shop.customer()
    quote = request_quote(customer, [("CABLE", 4), ("PHONE", 2)])
    price_as_support(shop, quote, ("CABLE", "0"), ("PHONE", "20"), carriage=[(STANDARD, "5")])
    placed = confirm(customer, quote).json()
    free, paid = [item["id"] for item in placed["items"]]
    dispatch(shop, placed, (free, 1), (paid, 1))
    issue_part(shop, placed)
    name, now = str(placed["order_reference"]), shop.clock.now()
    both = ReturnRequest([ReturnedUnits(free, 1), ReturnedUnits(paid, 1)], "Faulty")
    number = shop.in_transaction(lambda tx: open_return(tx, name, both, now))
    receipt = Receipt([ReceivedUnits(free, 1), ReceivedUnits(paid, 1)], credit=True)
    received = shop.in_transaction(lambda tx: receive_and_credit(tx, number, receipt, SELLER, now))
    assert received.state == "closed"
    assert [item.credited for item in received.items] == [1, 1]
    dispatch(shop, placed, (free, 3), (paid, 1))
    assert send_back(shop, placed, free, 1) == []
    last = issue_part(shop, placed, part=False)
    units = rows(shop, "select quantity from invoice_line where invoice = %s and line_id = %s", last.number, free)
    assert units == [(2,)]


def test_a_blocked_customer_neither_orders_nor_adds_to_its_orders(shop: Service) -> None:
    customer = shop.customer()
    placed, pending = buy(customer, [("CABLE", 2)]), create(customer)
    quote = request_quote(customer)
    price_as_support(shop, quote)
    shop.in_transaction(lambda tx: block_customer(tx, customer.id, "does not pay", shop.clock.now()))
    # The key may still be cached, as it is in other processes for up to five seconds.
    for response in (
        customer.post("/order", order([("CABLE", 1)])),
        customer.post("/quote", order([("CABLE", 1)])),
        confirm(customer, pending),
        confirm(customer, quote),
    ):
        assert response.status_code in {401, 409}, response.text
        assert response.status_code == 401 or "the account is blocked" in response.json()["message"]
    with pytest.raises(DomainError, match="the account is blocked") as error:
        amend(shop, placed, items=[{"sku": "PHONE", "quantity": 1}])
    assert error.value.kind is Kind.CONFLICT
    amend(shop, placed, items=[{"id": placed["items"][0]["id"], "quantity": 1}])
    dispatch(shop, placed)
    issue_part(shop, placed, part=False)
