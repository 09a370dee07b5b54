"""Bank files are imported and rolled back while other work goes on: no deadlock, and no money is lost or doubled."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial

import psycopg
import pytest

from support.billing import SELLER, credit, due_of, invoiced, issue, number_of, pay_in, reverse, unallocated
from support.orders import buy, dispatch, faults_in_the_books, in_parallel, outstanding, rows
from support.service import Service
from support.waiting import wait_for, waiting_for_a_lock
from tradecounter.billing.invoices import issue_invoice
from tradecounter.db.transaction import Transaction
from tradecounter.kit.clock import uk_date
from tradecounter.payments.bank_file import BankFile, read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.roll_back_bank_file import roll_back_bank_file
from tradecounter.payments.wire import PaymentImport, RolledBackFile


@pytest.fixture(autouse=True)
def _books(shop: Service) -> Iterator[None]:
    yield
    assert faults_in_the_books(shop) == {}


def bank_file(shop: Service, *lines: str) -> BankFile:
    """A file of lines with an amount and a reference, received today."""
    today = uk_date(shop.clock.now())
    text = "date,amount,reference\n" + "".join(f"{today},{line}\n" for line in lines)
    return read_bank_file(text.encode(), "CSV", today)


def imported(shop: Service, *lines: str) -> PaymentImport:
    file = bank_file(shop, *lines)
    return shop.in_transaction(lambda tx: import_payments(tx, file, shop.clock.now()))


def rolled_back(shop: Service, done: PaymentImport, *, force: bool = False) -> RolledBackFile:
    file_id = done.id or 0
    return shop.in_transaction(lambda tx: roll_back_bank_file(tx, file_id, shop.clock.now(), force=force))


def test_a_roll_back_locks_the_orders_that_its_money_paid_meanwhile_before_its_lines(shop: Service) -> None:
    """It waits for the account while an invoice takes money of the file from there."""
    customer = shop.customer()
    number = number_of(shop, invoiced(shop, customer))
    later = buy(customer)
    dispatch(shop, later)
    done = imported(shop, f"500.00,INV {number}")
    is_issued, commits = threading.Event(), threading.Event()

    async def issuing(tx: Transaction) -> None:
        await issue_invoice(tx, later["order_reference"], SELLER, shop.clock.now())
        is_issued.set()
        await asyncio.to_thread(commits.wait, 30)

    def is_locked() -> bool:
        with psycopg.connect(shop.database_url) as third:
            try:
                third.execute("select from orders where id = %s for update nowait", [later["order_id"]])
            except psycopg.errors.LockNotAvailable:
                return True
            return False

    with ThreadPoolExecutor(2) as threads, psycopg.connect(shop.database_url) as other:
        other.execute("select from bank_line where bank_file_id = %s for update", [done.id])
        issued = threads.submit(shop.in_transaction, issuing)
        assert is_issued.wait(30)
        rolling_back = threads.submit(rolled_back, shop, done)
        waiting_for_a_lock(shop.database_url)
        commits.set()
        issued.result(timeout=30)
        wait_for(is_locked, seconds=30)
        other.commit()
        assert len(rolling_back.result(timeout=30).reversed) == 1
    assert due_of(shop, number_of(shop, later)) == Decimal("66.60")


def test_a_file_and_the_roll_back_of_its_lines_lock_the_lines_in_one_order(shop: Service) -> None:
    lines = [f"7.00,nobody {number}" for number in range(6)]
    done = imported(shop, *lines)
    ids = [line.id or 0 for line in done.unplaced]
    [(first,)] = rows(shop, "select id from bank_line where id = any(%s) order by identity limit 1", ids)
    assert first != min(ids), "a line of a higher id comes first"
    with ThreadPoolExecutor(2) as threads, psycopg.connect(shop.database_url) as other:
        other.execute("select from bank_line where id = %s for update", [first])
        importing = threads.submit(imported, shop, *lines)
        waiting_for_a_lock(shop.database_url)
        rolling_back = threads.submit(rolled_back, shop, done)
        waiting_for_a_lock(shop.database_url, processes=2)
        other.commit()
        assert [len(importing.result(timeout=30).unplaced), rolling_back.result(timeout=30).kept] == [len(lines), []]


@pytest.mark.sweep
def test_files_at_once_with_all_other_work_on_money_lose_none(shop: Service) -> None:
    customers = [shop.customer() for _ in range(3)]
    placed = [invoiced(shop, customer) for customer in customers for _ in range(4)]
    numbers = [number_of(shop, order) for order in placed]
    dispatched = [buy(customer) for customer in customers]
    for order in dispatched:
        dispatch(shop, order)
    lines = [f"{20 + number % 7}.00,INV {number}" for number in numbers] + ["9.00,nobody", f"300.00,INV {numbers[0]}"]
    first = imported(shop, *lines)
    bounced = [pay_in(shop, customer, "10.00") for customer in customers]
    more = [f"{30 + number % 5}.00,INV {number}" for number in reversed(numbers)]
    calls: list[Callable[[], object]] = [partial(imported, shop, *lines, *more), partial(imported, shop, *more, *lines)]
    calls += [partial(rolled_back, shop, first, force=True), partial(imported, shop, *reversed(lines))]
    calls += [partial(issue, shop, order) for order in dispatched]
    calls += [partial(reverse, shop, payment) for payment in bounced]
    calls += [partial(credit, shop, number, amount="11.00") for number in numbers[1::3]]
    calls += [partial(pay_in, shop, customer, "15.00") for customer in customers]
    calls += [partial(buy, customer) for customer in customers]
    in_parallel(calls)
    for customer in customers:
        [(received,)] = rows(
            shop,
            "select sum(amount) from payment where customer_id = %s and reversed_at is null",
            customer.id,
        )
        [(confirmed,)] = rows(
            shop, "select sum(gross - credited) from orders where customer_id = %s and state = 'confirmed'", customer.id
        )
        assert outstanding(shop, customer) - unallocated(shop, customer) == confirmed - received
