"""The rules of billing: totals per rate, remaining units, terms, payable amounts."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tradecounter.billing.invoice_document import InvoiceLine, VatTotal
from tradecounter.billing.rules import invoice_state, payment_terms, require_all_dispatched, require_payable, vat_totals
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.money import percentage
from tradecounter.orders.lines import OrderLine

PENCE = st.decimals(min_value=0, max_value=100_000, places=2)
RATES = st.sampled_from([Decimal("20.00"), Decimal("5.00"), Decimal("0.00")])


def ordered(sku: str, quantity: int, dispatched: int) -> OrderLine:
    return OrderLine(id=1, order_id=1, product_id=1, sku=sku, name="", quantity=quantity, dispatched=dispatched)


def line(unit: Decimal, quantity: int, rate: Decimal) -> InvoiceLine:
    net = unit * quantity
    return InvoiceLine("SKU", "Thing", quantity, unit, rate, net, percentage(net, rate))


@given(st.lists(st.builds(line, PENCE, st.integers(1, 1000), RATES)))
def test_each_rate_has_one_total(lines: list[InvoiceLine]) -> None:
    totals = vat_totals(lines)
    assert [total.rate for total in totals] == sorted({line.vat_rate for line in lines}, reverse=True)
    for total in totals:
        at_rate = [line for line in lines if line.vat_rate == total.rate]
        assert total.net == sum(line.net for line in at_rate)
        assert total.vat == sum(line.vat for line in at_rate)
    assert sum(t.net + t.vat for t in totals) == sum(line.net + line.vat for line in lines)


def test_equal_rates_with_different_decimals_have_one_total() -> None:
    lines = [line(Decimal(10), 1, Decimal("20.00")), line(Decimal(5), 1, Decimal(20))]
    assert vat_totals(lines) == [VatTotal(Decimal(20), Decimal(15), Decimal("3.00"))]


def test_a_completely_dispatched_order_may_be_invoiced() -> None:
    require_all_dispatched([ordered("A", 1, 1), ordered("B", 5, 5)])


def test_the_error_lists_the_remaining_units() -> None:
    with pytest.raises(DomainError, match=r"still to be dispatched: 3 of 5 A, 1 of 1 C$") as error:
        require_all_dispatched([ordered("A", 5, 2), ordered("B", 2, 2), ordered("C", 1, 0)])
    assert error.value.kind is Kind.CONFLICT


def test_the_error_lists_the_first_remaining_lines_and_counts_the_others() -> None:
    with pytest.raises(DomainError, match=r"1 of 1 P3, 1 of 1 P4 and 495 more$"):
        require_all_dispatched([ordered(f"P{number}", 1, 0) for number in range(500)])


@pytest.mark.parametrize(
    ("term_days", "due", "words"),
    [
        (30, "12.00", "Payment is due within 30 days of the invoice date, by 1 July 2026."),
        (1, "12.00", "Payment is due within 1 day of the invoice date, by 1 July 2026."),
        (0, "12.00", "Payment is due on the invoice date, 1 July 2026."),
        (30, "0.00", "Nothing is due."),
    ],
)
def test_payment_terms_contain_the_due_date(term_days: int, due: str, words: str) -> None:
    assert payment_terms(term_days, date(2026, 7, 1), Decimal(due)) == words


@pytest.mark.parametrize("amount", ["0.01", "66.59", "66.60", "66.600", "1E+1"])
def test_any_whole_pence_up_to_the_amount_due_can_be_paid(amount: str) -> None:
    require_payable(Decimal(amount), Decimal("66.60"))


@pytest.mark.parametrize(
    ("amount", "reason"),
    [
        ("66.61", "at most £66.60, which is due"),
        ("1E+999999", "at most £66.60, which is due"),
        ("0", "more than 0"),
        ("-0.01", "more than 0"),
        ("-1E+999999", "more than 0"),
        ("NaN", "more than 0"),
        ("sNaN", "more than 0"),
        ("Infinity", "more than 0"),
        ("-Infinity", "more than 0"),
        ("10.005", "two decimal places"),
        ("1E-999999", "two decimal places"),
    ],
)
def test_other_amounts_are_rejected(amount: str, reason: str) -> None:
    with pytest.raises(DomainError, match=f"^amount: .*{reason}") as raised:
        require_payable(Decimal(amount), Decimal("66.60"))
    assert raised.value.kind is Kind.INVALID


def test_an_order_paid_in_full_accepts_no_payment() -> None:
    with pytest.raises(DomainError, match=r"^amount: nothing is due: the order is paid in full$"):
        require_payable(Decimal("0.01"), Decimal("0.00"))


@pytest.mark.parametrize(
    ("due", "paid", "credited", "late", "state"),
    [
        ("10", "0", "0", 0, "due"),
        ("10", "0", "5", 0, "due"),
        ("10", "5", "0", 0, "part paid"),
        ("10", "5", "0", 1, "overdue"),
        ("0", "10", "0", 1, "paid"),
        ("0", "5", "5", 1, "paid"),
        ("0", "0", "10", 1, "credited"),
    ],
)
def test_the_state_of_an_invoice(due: str, paid: str, credited: str, late: int, state: str) -> None:
    due_at = datetime(2026, 3, 1, tzinfo=UTC)
    now = due_at + timedelta(seconds=late)
    assert invoice_state(Decimal(due), Decimal(paid), Decimal(credited), due_at, now) == state
