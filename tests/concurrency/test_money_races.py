"""Invoices, payments and credit notes at the same moment: the books agree, and nothing is paid or credited twice."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from typing import Any, LiteralString

import psycopg
import pytest

from support.billing import SELLER, credit, due_of, invoiced, issue_part, number_of, pay_in, unallocated
from support.orders import buy, cancel, dispatch, faults_in_the_books, in_parallel, outstanding, rows
from support.service import Service
from support.waiting import waiting_for_a_lock
from tradecounter.credit_notes.credit_return import receive_and_credit
from tradecounter.credit_notes.reseller_wire import IssuedCreditNote
from tradecounter.kit.errors import DomainError
from tradecounter.returns.handle_returns import open_return
from tradecounter.returns.wire import Receipt, ReceivedUnits, ReturnedUnits, ReturnRequest


@pytest.fixture(autouse=True)
def _books(shop: Service) -> Any:
    yield
    assert faults_in_the_books(shop) == {}


def tried(call: Callable[[], object]) -> bool:
    try:
        call()
    except DomainError:
        return False
    return True


_GROSS: LiteralString = "select gross from invoice where order_id = %s"


def opened(shop: Service, placed: dict[str, Any], *items: tuple[int, int]) -> str:
    name, now = str(placed["order_reference"]), shop.clock.now()
    request = ReturnRequest([ReturnedUnits(*units) for units in items], "Faulty")
    return shop.in_transaction(lambda tx: open_return(tx, name, request, now))


def credited(shop: Service, number: str, *items: tuple[int, int]) -> list[IssuedCreditNote]:
    receipt, now = Receipt([ReceivedUnits(*units) for units in items], credit=True), shop.clock.now()
    return shop.in_transaction(lambda tx: receive_and_credit(tx, number, receipt, SELLER, now)).credit_notes


def test_payments_of_the_account_and_of_its_invoices_at_once_lose_no_money(shop: Service) -> None:
    customer = shop.customer()
    numbers = [number_of(shop, invoiced(shop, customer)) for _ in range(3)]
    calls: list[Callable[[], object]] = [partial(pay_in, shop, customer, "40.00") for _ in range(4)]
    calls += [partial(pay_in, shop, customer, "30.00", number) for number in reversed(numbers)]
    in_parallel(calls)
    assert outstanding(shop, customer) == sum(due_of(shop, number) for number in numbers)
    assert outstanding(shop, customer) - unallocated(shop, customer) == 3 * Decimal("66.60") - 250


@pytest.mark.sweep
def test_a_payment_and_a_credit_note_at_once_leave_the_rest_on_the_account(shop: Service) -> None:
    customer = shop.customer()
    number = number_of(shop, invoiced(shop, customer))
    calls: list[Callable[[], object]] = [partial(pay_in, shop, customer, "66.60", number)]
    calls.append(partial(credit, shop, number, amount="55.50"))
    in_parallel(calls)
    assert (outstanding(shop, customer), unallocated(shop, customer)) == (Decimal(0), Decimal("66.60"))


def test_credit_notes_at_once_never_exceed_the_invoice(shop: Service) -> None:
    number = number_of(shop, invoiced(shop, shop.customer()))
    calls = [partial(tried, partial(credit, shop, number, amount="20.00")) for _ in range(5)]
    assert in_parallel(calls).count(True) == 2


def test_parts_invoiced_at_once_contain_each_unit_once(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("PHONE", 3)])
    dispatch(shop, placed, (placed["items"][0]["id"], 2))
    issued = in_parallel([partial(issue_part, shop, placed) for _ in range(4)])
    assert [invoice.new for invoice in issued].count(True) == 1
    found = rows(shop, "select quantity from invoice_line where invoice = %s and line_id is not null", issued[0].number)
    assert found == [(2,)]


def test_an_invoice_and_a_payment_at_once_use_the_money_once(shop: Service) -> None:
    customer = shop.customer()
    placed = [buy(customer) for _ in range(3)]
    for order in placed:
        dispatch(shop, order)
    calls: list[Callable[[], object]] = [partial(issue_part, shop, order) for order in placed]
    calls += [partial(pay_in, shop, customer, "50.00") for _ in range(3)]
    in_parallel(calls)
    assert outstanding(shop, customer) - unallocated(shop, customer) == 3 * Decimal("66.60") - 150


@pytest.mark.sweep
def test_a_return_invoices_payments_and_a_cancellation_at_once_agree(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(3):
        placed = buy(customer, [("PHONE", 4)])
        item = placed["items"][0]["id"]
        dispatch(shop, placed, (item, 2))
        issue_part(shop, placed)
        dispatch(shop, placed, (item, 1))
        returns = [opened(shop, placed, (item, 1)) for _ in range(3)]
        calls: list[Callable[[], object]] = [partial(credited, shop, number, (item, 1)) for number in returns]
        calls += [partial(issue_part, shop, placed), partial(pay_in, shop, customer, "50.00")]
        calls.append(partial(cancel, shop, placed))
        in_parallel(calls)
        issue_part(shop, placed, part=False)
        invoiced_gross = sum(gross for (gross,) in rows(shop, _GROSS, placed["order_id"]))
        assert [(invoiced_gross,)] == rows(shop, "select gross from orders where id = %s", placed["order_id"])


@pytest.mark.sweep
def test_a_return_that_is_credited_locks_no_stock_while_it_waits_for_the_accounts_credit(shop: Service) -> None:
    """A confirmation locks the credit first, then stock: the other way round, they would wait for each other."""
    customer = shop.customer()
    placed = invoiced(shop, customer)
    item = placed["items"][0]["id"]
    number = opened(shop, placed, (item, 1))
    with ThreadPoolExecutor(1) as threads, psycopg.connect(shop.database_url) as confirmation:
        confirmation.execute("select from credit_exposure where customer_id = %s for update", [customer.id])
        receiving = threads.submit(credited, shop, number, (item, 1))
        waiting_for_a_lock(shop.database_url)
        confirmation.execute("select from stock_level for update nowait")
        confirmation.commit()
        assert len(receiving.result(timeout=30)) == 1
