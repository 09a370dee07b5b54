"""Invoices, payments and credit notes at the same moment: the books agree, and nothing is paid or credited twice."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from support.billing import credit, due_of, invoiced, issue_part, number_of, pay_in, unallocated
from support.orders import buy, dispatch, faults_in_the_books, in_parallel, outstanding, rows
from support.service import Service
from tradecounter.kit.errors import DomainError


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


def test_payments_of_the_account_and_of_its_invoices_at_once_lose_no_money(shop: Service) -> None:
    customer = shop.customer()
    numbers = [number_of(shop, invoiced(shop, customer)) for _ in range(3)]
    calls: list[Callable[[], object]] = [partial(pay_in, shop, customer, "40.00") for _ in range(4)]
    calls += [partial(pay_in, shop, customer, "30.00", number) for number in reversed(numbers)]
    in_parallel(calls)
    assert outstanding(shop, customer) == sum(due_of(shop, number) for number in numbers)
    assert outstanding(shop, customer) - unallocated(shop, customer) == 3 * Decimal("66.60") - 250


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
