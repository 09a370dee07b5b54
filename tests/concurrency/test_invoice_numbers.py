"""Invoices issued and paid concurrently: no gap in the numbers, one invoice per order, no overpayment."""

from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest

from support.billing import SELLER, invoiced, issue, pay
from support.orders import buy, dispatch, in_parallel, outstanding, read, rows
from support.service import Service
from tradecounter.billing.invoices import issue_invoice
from tradecounter.db.transaction import Transaction
from tradecounter.kit.errors import DomainError


@pytest.mark.sweep
def test_invoice_numbers_have_no_gap_when_attempts_fail(shop: Service) -> None:
    customer = shop.customer()
    placed = [buy(customer) for _ in range(20)]
    for order in placed:
        dispatch(shop, order)
    [(before,)] = rows(shop, "select last from invoice_number")

    async def fail(tx: Transaction, reference: str) -> None:
        await issue_invoice(tx, reference, SELLER, shop.clock.now())
        raise LookupError("after the number was taken")

    def failing(reference: str) -> None:
        with pytest.raises(LookupError):
            shop.in_transaction(lambda tx: fail(tx, reference))

    calls: list[Callable[[], object]] = [partial(issue, shop, order) for order in placed]
    for number, order in enumerate(placed[:10]):
        calls.insert(number * 3, partial(failing, order["order_reference"]))
    in_parallel(calls)

    found = rows(shop, "select number from invoice where number > %s order by number", before)
    assert [number for (number,) in found] == list(range(before + 1, before + 21))
    assert rows(shop, "select last from invoice_number") == [(before + 20,)]


def test_an_order_invoiced_many_times_concurrently_has_one_invoice(own_shop: Service) -> None:
    placed = buy(own_shop.customer(accounts_email="pay@x.example"))
    dispatch(own_shop, placed)
    issued = in_parallel([partial(issue, own_shop, placed)] * 8)
    assert len({invoice.number for invoice in issued}) == 1
    assert [invoice.new for invoice in issued].count(True) == 1
    assert rows(own_shop, "select count(*) from procrastinate_jobs where task_name = 'mail_invoice_copy'") == [(1,)]


def test_concurrent_payments_never_exceed_what_is_due(own_shop: Service) -> None:
    customer = own_shop.customer()
    placed = invoiced(own_shop, customer)

    def try_to_pay() -> bool:
        try:
            pay(own_shop, placed, "10.00")
        except DomainError:
            return False
        return True

    assert in_parallel([try_to_pay] * 12).count(True) == 6
    assert outstanding(own_shop, customer) == Decimal("6.60")
    pay(own_shop, placed, "6.60")
    assert read(customer, placed)["status"] == "Completed"
    total = rows(own_shop, "select sum(amount) from payment")
    assert total == [(Decimal("66.60"),)]


def test_concurrent_payments_and_orders_keep_the_books_consistent(shop: Service) -> None:
    customer = shop.customer()
    placed = [invoiced(shop, customer) for _ in range(6)]
    calls: list[Callable[[], object]] = [partial(pay, shop, order, "66.60") for order in placed]
    calls += [partial(buy, customer) for _ in range(6)]
    in_parallel(calls)
    assert outstanding(shop, customer) == 6 * Decimal("66.60")
