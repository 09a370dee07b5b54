"""Invoices in parts, and money on accounts: payments of invoices and of accounts, refunds, reversals, bank files."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from support.billing import due_of, invoiced, issue_part, number_of, pay_in, reverse, unallocated
from support.mail import deliver_mail
from support.orders import at, buy, dispatch, faults_in_the_books, outstanding, read, rows
from support.service import Service
from tradecounter.kit.clock import uk_date
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.payments.bank_file import read_bank_file
from tradecounter.payments.import_payments import import_payments
from tradecounter.payments.wire import PaymentImport

NONE = Decimal(0)
ONE = Decimal("66.60")  # a phone with shipping and VAT


@pytest.fixture(autouse=True)
def _books(shop: Service) -> Any:
    yield
    assert faults_in_the_books(shop) == {}


def import_file(shop: Service, text: str) -> PaymentImport:
    file = read_bank_file(text.encode(), "CSV", uk_date(shop.clock.now()))
    return shop.in_transaction(lambda tx: import_payments(tx, file, shop.clock.now()))


def test_an_order_is_invoiced_in_parts_and_the_last_part_takes_the_pennies(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("CABLE", 7), ("PHONE", 1)])
    cable, phone = placed["items"]
    parts = []
    for units in (1, 2, 4):
        dispatch(shop, placed, (cable["id"], units))
        parts.append(issue_part(shop, placed))
    assert read(customer, placed)["status"] == "Part invoiced"
    assert not issue_part(shop, placed).new
    dispatch(shop, placed, (phone["id"], 1))
    parts.append(issue_part(shop, placed, part=False))
    assert read(customer, placed)["status"] == "Invoiced"
    assert sum(part.gross for part in parts) == outstanding(shop, customer)
    found = rows(
        shop, "select position, quantity, vat from invoice_line where invoice = %s order by 1", parts[0].number
    )
    assert found == [(1, 1, Decimal("0.36")), (2, 1, Decimal("1.17"))]  # the cable, and all of the shipping
    assert rows(shop, "select count(*) from invoice_line where invoice = %s", parts[1].number) == [(1,)]


def test_a_part_needs_dispatched_units(shop: Service) -> None:
    with pytest.raises(DomainError, match=r"nothing of order .* can be invoiced yet") as rejected:
        issue_part(shop, buy(shop.customer()))
    assert rejected.value.kind is Kind.CONFLICT


def test_money_of_an_account_pays_the_oldest_due_invoices_and_the_rest_stays(shop: Service) -> None:
    customer = shop.customer()
    orders = []
    for day in range(3):
        with at(shop, shop.clock.now() - timedelta(days=3 - day)):
            orders.append(invoiced(shop, customer))
    numbers = [number_of(shop, placed) for placed in orders]
    payment = pay_in(shop, customer, "100.00", reference="BACS 1")
    assert [(a.invoice, a.amount) for a in payment.allocations] == [(numbers[0], ONE), (numbers[1], Decimal("33.40"))]
    assert [read(customer, placed)["status"] for placed in orders] == ["Completed", "Invoiced", "Invoiced"]
    pay_in(shop, customer, "110.00")
    assert (outstanding(shop, customer), unallocated(shop, customer)) == (NONE, Decimal("10.20"))


def test_money_on_the_account_pays_the_next_invoice(shop: Service) -> None:
    customer = shop.customer()
    assert pay_in(shop, customer, "50.00").allocations == []
    pay_in(shop, customer, "50.00")
    placed = invoiced(shop, customer)
    assert (due_of(shop, number_of(shop, placed)), outstanding(shop, customer)) == (NONE, NONE)
    assert unallocated(shop, customer) == Decimal("33.40")
    assert read(customer, placed)["status"] == "Completed"
    [(document,)] = rows(shop, "select document from invoice where number = %s", number_of(shop, placed))
    assert (document["due"], document["payment_terms"]) == ("0.00", "Nothing is due.")


def test_a_payment_of_an_invoice_leaves_what_is_not_due_on_the_account(shop: Service) -> None:
    customer = shop.customer()
    number = number_of(shop, invoiced(shop, customer))
    payment = pay_in(shop, customer, "70.00", number)
    assert (due_of(shop, number), unallocated(shop, customer)) == (NONE, Decimal("3.40"))
    assert sum(a.amount for a in payment.allocations) == ONE


def test_a_payment_and_what_it_pays_have_two_decimal_places_however_the_amount_is_written(shop: Service) -> None:
    customer = shop.customer()
    number = number_of(shop, invoiced(shop, customer))
    payment = pay_in(shop, customer, "5", number)
    assert [str(amount) for amount in (payment.amount, payment.allocations[0].amount)] == ["5.00", "5.00"]


def test_a_reversed_payment_is_due_again(shop: Service) -> None:
    customer = shop.customer()
    placed = invoiced(shop, customer)
    payment = pay_in(shop, customer, "70.00", number_of(shop, placed))
    reversed_ = reverse(shop, payment)
    assert reversed_.reversal_reason == "bounced"
    assert (outstanding(shop, customer), unallocated(shop, customer)) == (ONE, NONE)
    assert read(customer, placed)["status"] == "Invoiced"
    with pytest.raises(DomainError, match="already reversed"):
        reverse(shop, payment)


def test_a_refund_gives_back_at_most_what_is_on_the_account(shop: Service) -> None:
    customer = shop.customer()
    payment = pay_in(shop, customer, "50.00")
    with pytest.raises(DomainError, match=r"amount: must be at most £50\.00, which is on the account"):
        pay_in(shop, customer, "50.01", method="refund")
    refund = pay_in(shop, customer, "20.00", method="refund")
    assert unallocated(shop, customer) == 30
    with pytest.raises(DomainError, match="reverse the refund before the payment"):
        reverse(shop, payment)
    reverse(shop, refund)
    assert unallocated(shop, customer) == 50
    reverse(shop, payment)
    assert unallocated(shop, customer) == 0


def test_a_refund_is_of_no_invoice(shop: Service) -> None:
    customer = shop.customer()
    number = number_of(shop, invoiced(shop, customer))
    with pytest.raises(DomainError, match="method: a refund is of an account, not of an invoice"):
        pay_in(shop, customer, "20.00", number, method="refund")


def test_the_same_reference_amount_and_day_is_rejected_without_force(shop: Service) -> None:
    customer = shop.customer()
    first = pay_in(shop, customer, "10.00", reference="R-1")
    with pytest.raises(DomainError, match=rf"payment {first.id} .* has the same reference") as rejected:
        pay_in(shop, customer, "10.00", reference=" r-1 ")
    assert rejected.value.kind is Kind.CONFLICT
    pay_in(shop, customer, "10.00", reference="R-1", force=True)
    pay_in(shop, customer, "10.00", reference="R-2")
    reverse(shop, first)
    assert unallocated(shop, customer) == 20


@pytest.mark.parametrize("amount", ["0", "-1", "1.001", "NaN", "1E+30"])
def test_bad_amounts_are_rejected(shop: Service, amount: str) -> None:
    with pytest.raises(DomainError, match=r"^amount: ") as rejected:
        pay_in(shop, shop.customer(), amount)
    assert rejected.value.kind is Kind.INVALID


def test_a_bank_file_is_placed_by_invoice_numbers(shop: Service) -> None:
    customer, other = shop.customer(), shop.customer()
    number, others = number_of(shop, invoiced(shop, customer)), number_of(shop, invoiced(shop, other))
    text = (
        "Date,Amount,Reference,Balance\r\n"
        f"2026-06-15,66.60,INV{number} THANKS,1\r\n"
        f'16/06/2026,"£1,066.60",{others},2\r\n'
        "2026-06-16,5.00,no number,3\r\n"
        f"2026-06-16,5.00,{number} and {others},3\r\n"
        f"2026-06-16,-5.00,{number},3\r\n"
        f"soon,5.00,{number},3\r\n"
    )
    done = import_file(shop, text)
    assert (done.lines, done.recorded, done.payments_out, done.repeated) == (6, 2, 1, 0)
    assert [(line.line, line.why) for line in done.unplaced] == [
        (4, "the reference has no number of an invoice"),
        (5, f"the reference names invoices of customers {customer.id}, {other.id}"),
        (7, "the date 'soon' is not YYYY-MM-DD, DD/MM/YYYY or DD MMM YYYY"),
    ]
    assert (due_of(shop, number), unallocated(shop, other)) == (NONE, Decimal(1000))
    again = import_file(shop, text)
    assert (again.recorded, again.repeated, again.payments_out) == (0, 2, 1)
    assert [(line.id, line.why) for line in again.unplaced] == [(line.id, line.why) for line in done.unplaced]
    with pytest.raises(DomainError, match="there is no column for the reference"):
        import_file(shop, "date,amount\n")


def test_with_the_setting_the_worker_invoices_each_shipment(shop: Service) -> None:
    placed = buy(shop.customer(), [("PHONE", 2)])
    dispatch(shop, placed, (placed["items"][0]["id"], 1), invoice=True)
    deliver_mail(shop, seller_name="Seller Ltd", seller_address="York", seller_vat_number="GB123456782")
    found = rows(
        shop, "select quantity from invoice_line where invoice = %s order by position", number_of(shop, placed)
    )
    assert found == [(1,), (1,)]  # a phone and the shipping


def test_money_of_an_old_payment_is_found_behind_many_later_ones(shop: Service) -> None:
    customer = shop.customer()
    pay_in(shop, customer, "1000.00")
    rows(
        shop,
        "insert into payment (amount, recorded_at, customer_id, received_on, counts_from, method, reference,"
        " reversed_at, reversal_reason)"
        " select 1, now(), %s, now(), now(), 'cash', 'later', now(), 'a test' from generate_series(1, 120)"
        " returning id",
        customer.id,
    )
    number = number_of(shop, invoiced(shop, customer))
    assert due_of(shop, number) == NONE
    assert unallocated(shop, customer) < 1000
