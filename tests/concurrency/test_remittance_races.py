"""Bank files and people place announced payments at the same moment: a remittance has one payment, a line too."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from typing import TypeVar

import psycopg
import pytest

from support.billing import due_of, invoiced, number_of
from support.orders import faults_in_the_books, rows
from support.service import Customer, Service
from support.waiting import waiting_for_a_lock
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.payments.bank_file import read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.place_bank_line import Placement, place_bank_line
from tradecounter.payments.remittances import PaidInvoices, announce_payment, withdraw_remittance
from tradecounter.payments.wire import PaymentImport


@pytest.fixture(autouse=True)
def _books(shop: Service) -> Iterator[None]:
    yield
    assert faults_in_the_books(shop) == {}


def bank(shop: Service, line: str) -> PaymentImport:
    """What comes of a bank file with one line of 20 pounds."""
    today = uk_date(shop.clock.now())
    file = read_bank_file(f"date,amount,payee,reference\n{today},20.00,{line}\n".encode(), "CSV", today)
    return shop.in_transaction(lambda tx: import_payments(tx, file, shop.clock.now()))


def tell(shop: Service, customer: Customer, reference: str) -> tuple[int, int]:
    """An invoice of more than 20 pounds, and the remittance that announces 20 pounds of it."""
    number = number_of(shop, invoiced(shop, customer))
    paid = PaidInvoices(invoices=[number], amount=Decimal(20), reference=reference)
    told = shop.in_transaction(lambda tx: announce_payment(tx, customer.id, None, paid, shop.clock.now()))
    return number, told.id


def payments_of(shop: Service, customer: Customer) -> int:
    return len(rows(shop, "select from payment where customer_id = %s and reversed_at is null", customer.id))


Result = TypeVar("Result")


@contextmanager
def account_locked(shop: Service, customer: Customer) -> Iterator[None]:
    """Another transaction has the account's money locked."""
    with psycopg.connect(shop.database_url) as other:
        other.execute(
            "insert into account_balance (customer_id) values (%s)"
            " on conflict (customer_id) do update set customer_id = excluded.customer_id",
            [customer.id],
        )
        yield
        other.commit()


def after_the_lock(
    shop: Service,
    customer: Customer,
    calls: Sequence[Callable[[], Result]],
    between: Callable[[], object] | None = None,
) -> list[Result]:
    """The results of calls that have all read the database before the first has locked the account."""
    with ThreadPoolExecutor(len(calls)) as threads:
        with account_locked(shop, customer):
            running = [threads.submit(call) for call in calls]
            waiting_for_a_lock(shop.database_url, processes=len(calls))
            if between is not None:
                between()
        return [each.result(timeout=30) for each in running]


def test_two_bank_files_at_once_pay_a_remittance_once(shop: Service) -> None:
    customer = shop.customer()
    number, _ = tell(shop, customer, "Payment run 881")
    due = due_of(shop, number)
    files = [partial(bank, shop, f"{payer},PAYMENT RUN 881") for payer in ("First branch", "Second branch")]
    first, second = sorted(after_the_lock(shop, customer, files), key=lambda done: -done.recorded)
    assert (first.recorded, second.recorded) == (1, 0)
    assert [line.why for line in second.unplaced] == [
        f"customer {customer.id} announced this payment, but it has since arrived or been withdrawn"
    ]
    assert (payments_of(shop, customer), due_of(shop, number)) == (1, due - 20)


def test_a_remittance_that_is_taken_back_before_the_lock_places_no_money(shop: Service) -> None:
    customer = shop.customer()
    _, remittance_id = tell(shop, customer, "Payment run 882")

    def take_back() -> None:
        shop.in_transaction(lambda tx: withdraw_remittance(tx, customer.id, remittance_id, shop.clock.now()))

    [done] = after_the_lock(shop, customer, [partial(bank, shop, "A branch,PAYMENT RUN 882")], take_back)
    assert done.recorded == 0
    assert "been withdrawn" in done.unplaced[0].why
    assert payments_of(shop, customer) == 0


def test_a_person_and_a_bank_file_at_once_place_a_line_once(shop: Service) -> None:
    customer = shop.customer()
    [waiting] = bank(shop, "Some branch,PAYMENT RUN 883").unplaced
    number, _ = tell(shop, customer, "Payment run 883")
    due = due_of(shop, number)
    line_id, placement = waiting.id or 0, Placement(customer_id=customer.id)

    def by_hand() -> int:
        try:
            shop.in_transaction(lambda tx: place_bank_line(tx, line_id, placement, shop.clock.now()))
        except DomainError as error:
            if error.kind is not Kind.CONFLICT:
                raise
            return 0
        return 1

    def by_file() -> int:
        return bank(shop, "Some branch,PAYMENT RUN 883").recorded

    assert sum(after_the_lock(shop, customer, [by_hand, by_file])) == 1
    assert (payments_of(shop, customer), due_of(shop, number)) == (1, due - 20)
