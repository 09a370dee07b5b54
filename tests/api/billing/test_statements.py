"""Statements, debtors and reminders."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from support.billing import SELLER, credit, invoiced, number_of, pay_in, pdf_text, reverse
from support.mail import deliver_mail
from support.orders import at, rows, uk
from support.service import Customer, Service
from tradecounter.billing.account_statement import (
    AccountStatement,
    StatementPeriod,
    print_statement,
    read_statement,
    recent_days,
    statement_csv,
)
from tradecounter.billing.debtors import read_debtors, remind_of_invoices
from tradecounter.kit.errors import DomainError


@pytest.fixture(scope="module")
def buyer(shop: Service) -> Customer:
    """Four invoices over 66.60, due on 1, 11 and 31 March and 30 April, of which some is credited and paid."""
    customer = shop.customer(term_days=0, accounts_email="pay@statement.example", company="Statement plc")
    numbers = {}
    for day in (date(2026, 3, 1), date(2026, 3, 11), date(2026, 3, 31), date(2026, 4, 30)):
        with at(shop, uk(day.year, day.month, day.day, 12)):
            numbers[day] = number_of(shop, invoiced(shop, customer, customer_reference=f"=PO-{day}"))
    with at(shop, uk(2026, 4, 2, 9)):
        bounced = pay_in(shop, customer, "66.60", numbers[date(2026, 3, 1)], reference="BACS 1")
        pay_in(shop, customer, "20.00", numbers[date(2026, 3, 11)], received_on=date(2026, 3, 20))
    with at(shop, uk(2026, 4, 5, 9)):
        reverse(shop, bounced)
        credit(shop, numbers[date(2026, 3, 31)], amount="10.00")
    return customer


def statement(shop: Service, customer: Customer, since: date | None, until: date) -> AccountStatement:
    now = shop.clock.now()
    return shop.in_transaction(lambda tx: read_statement(tx, customer.id, since, until, now))


def ages(found: AccountStatement) -> list[str]:
    return [str(getattr(found.ageing, name)) for name in found.ageing.__struct_fields__]


def test_a_statement_has_balances_entries_and_ages(shop: Service, buyer: Customer) -> None:
    found = statement(shop, buyer, date(2026, 3, 11), date(2026, 4, 5))
    assert found.opening_balance == Decimal("66.60")
    assert [(entry.kind, str(entry.debit - entry.credit), str(entry.balance)) for entry in found.entries] == [
        ("invoice", "66.60", "133.20"),
        ("payment", "-20.00", "113.20"),
        ("invoice", "66.60", "179.80"),
        ("payment", "-66.60", "113.20"),
        ("credit_note", "-12.00", "101.20"),
        ("reversal", "66.60", "167.80"),
    ]
    assert ages(found) == ["0.00", "101.20", "66.60", "0.00", "0.00"]
    assert (str(found.closing_balance), str(found.unallocated)) == ("167.80", "0.00")


@pytest.mark.parametrize("until", [date(2026, 3, 1), date(2026, 3, 25), date(2026, 4, 3), date(2026, 7, 31)])
def test_ages_and_the_account_come_to_the_closing_balance_on_any_day(
    shop: Service, buyer: Customer, until: date
) -> None:
    found = statement(shop, buyer, None, until)
    total = sum((getattr(found.ageing, name) for name in found.ageing.__struct_fields__), Decimal(0))
    assert total - found.unallocated == found.closing_balance
    assert found.opening_balance == 0
    assert found.entries[0].kind == "invoice"


def test_an_invoice_that_was_paid_twice_for_some_days_was_not_due_and_the_rest_was_on_the_account(
    shop: Service,
) -> None:
    customer = shop.customer()
    with at(shop, uk(2026, 3, 2, 9)):
        number = number_of(shop, invoiced(shop, customer))
        bounced = pay_in(shop, customer, "66.60", number)
    with at(shop, uk(2026, 3, 6, 9)):
        reverse(shop, bounced)
        pay_in(shop, customer, "66.60", number, received_on=date(2026, 3, 4))
    found = statement(shop, customer, None, date(2026, 3, 5))
    assert (ages(found), str(found.unallocated), str(found.closing_balance)) == (["0.00"] * 5, "66.60", "-66.60")


def test_a_statement_continues_where_the_last_one_ended(shop: Service, buyer: Customer) -> None:
    first = statement(shop, buyer, None, date(2026, 3, 31))
    second = statement(shop, buyer, date(2026, 4, 1), date(2026, 6, 1))
    assert second.opening_balance == first.closing_balance
    with pytest.raises(DomainError, match=r"^from: must not be after 2026-03-31$"):
        statement(shop, buyer, date(2026, 4, 1), date(2026, 3, 31))


def test_a_statement_without_a_first_day_begins_with_the_earliest_entry(shop: Service) -> None:
    customer = shop.customer()
    for day in (8, 5):  # the invoice of the 5th has the later number, as in the demo
        with at(shop, uk(2026, 3, day, 9)):
            invoiced(shop, customer)
    found = statement(shop, customer, None, date(2026, 3, 9))
    assert (found.since, len(found.entries)) == (date(2026, 3, 5), 2)
    assert statement(shop, customer, None, date(2026, 3, 4)).since == date(2026, 3, 4)


def test_pages_and_mails_without_a_first_day_have_the_last_twelve_months() -> None:
    now = uk(2026, 6, 1)
    assert recent_days(StatementPeriod(), now) == (date(2025, 6, 1), date(2026, 6, 1))
    assert recent_days(StatementPeriod(until="2026-03-31"), now) == (date(2025, 3, 31), date(2026, 3, 31))
    assert recent_days(StatementPeriod(since="2020-01-01"), now) == (date(2020, 1, 1), date(2026, 6, 1))
    assert recent_days(StatementPeriod(until="0001-02-01"), now) == (date.min, date(1, 2, 1))


def test_csv_and_pdf_show_the_same(shop: Service, buyer: Customer) -> None:
    found = statement(shop, buyer, date(2026, 3, 11), date(2026, 4, 5))
    lines = statement_csv(found).splitlines()
    assert lines[1] == "2026-03-11,opening_balance,,,,,66.60"
    assert lines[-1] == "2026-04-05,closing_balance,,,,,167.80"
    assert len(lines) == 9
    hostile = replace(found, entries=[replace(found.entries[0], description='=1+1,"x"')])
    assert ',"\'=1+1,""x""",' in statement_csv(hostile).splitlines()[2]
    text = pdf_text(print_statement(found, "Statement plc", SELLER, shop.clock.now())).replace("\u00a0", " ")
    for shown in (
        "STATEMENT",
        "Statement plc",
        "Closing balance £167.80",
        "Reversed payment",
        "1 TO 30 DAYS",
        "£101.20",
    ):
        assert shown in text, shown


def test_debtors_are_listed_with_ages(shop: Service, buyer: Customer) -> None:
    found = shop.in_transaction(lambda tx: read_debtors(tx, uk(2026, 6, 16, 9)))
    [debtor] = [debtor for debtor in found if debtor.customer_id == buyer.id]
    assert (debtor.name, str(debtor.due), str(debtor.overdue)) == ("Statement plc", "234.40", "234.40")
    assert str(debtor.ageing.over_90) == "113.20"


@pytest.mark.sweep
def test_a_reminder_leaves_when_a_uk_day_begins_also_after_the_clocks_change(shop: Service) -> None:
    customer = shop.customer(term_days=0)
    with at(shop, uk(2026, 10, 23, 9)):
        autumn = number_of(shop, invoiced(shop, customer))
    with at(shop, uk(2026, 3, 27, 9)):
        spring = number_of(shop, invoiced(shop, customer))

    def reminded(moment: datetime) -> list[int]:
        shop.in_transaction(lambda tx: remind_of_invoices(tx, moment, [7]))
        mine = "select invoice from invoice_reminder where invoice = any(%s) order by reminded_at"
        return [invoice for (invoice,) in rows(shop, mine, [autumn, spring])]

    assert reminded(uk(2026, 4, 2, 23, 30)) == []
    assert reminded(uk(2026, 4, 3, 0, 30)) == [spring]
    assert reminded(uk(2026, 10, 29, 23, 30)) == [spring]
    assert reminded(uk(2026, 10, 30, 0, 30)) == [spring, autumn]


@pytest.mark.sweep
def test_reminders_are_sent_once_for_each_stage(shop: Service) -> None:
    customer = shop.customer(term_days=0, accounts_email="late@reminded.example")
    with at(shop, uk(2026, 5, 1, 9)):
        number = number_of(shop, invoiced(shop, customer))

    def mails(moment: datetime) -> list[Any]:
        shop.in_transaction(lambda tx: remind_of_invoices(tx, moment, [7, 14]))
        return [m for m in deliver_mail(shop) if m["Subject"].startswith(f"Invoice {number} is overdue")]

    assert mails(uk(2026, 5, 7, 12)) == []
    [first] = mails(uk(2026, 5, 8, 12))
    assert first["To"] == "late@reminded.example"
    assert mails(uk(2026, 5, 9, 12)) == []
    assert len(mails(uk(2026, 5, 20, 12))) == 1
    pay_in(shop, customer, "66.60", number)
    assert mails(uk(2026, 5, 20, 12) + timedelta(days=99)) == []
