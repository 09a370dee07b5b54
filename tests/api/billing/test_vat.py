"""The VAT of a period: to the penny what its invoices and credit notes come to."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.billing import credit, issue_part, number_of
from support.fuzzed import fuzzed
from support.orders import at, buy, dispatch, faults_in_the_books, rows, sell, uk
from support.service import Customer, Service
from support.shop import ADDRESS, EUROPE, GERMAN_ADDRESS, STANDARD
from tradecounter.billing.vat_report import VatReport, quarters, read_vat_report
from tradecounter.kit.errors import DomainError

ABROAD = {"shipping_address": GERMAN_ADDRESS, "method": EUROPE}
AT_HOME = {"shipping_address": ADDRESS, "method": STANDARD}


@pytest.fixture(scope="module")
def buyer(shop: Service) -> Customer:
    """A customer of a shop that sells a product at an odd price."""
    sell(shop, "ODD", "0.37", available=100_000, weight_kg="0.01")
    return shop.customer()


def report(shop: Service, since: date | None = None, until: date | None = None) -> VatReport:
    now = shop.clock.now()
    return shop.in_transaction(lambda tx: read_vat_report(tx, since, until, now))


def invoice(shop: Service, buyer: Customer, units: int, supplied: datetime, issued: datetime, **where: Any) -> int:
    """The number of an invoice of some units that leave at one moment and are invoiced at another."""
    placed = buy(buyer, [("ODD", units)], **(where or AT_HOME))
    with at(shop, supplied):
        dispatch(shop, placed)
    with at(shop, issued):
        issue_part(shop, placed)
    return number_of(shop, placed)


def summed(shop: Service, since: date, until: date) -> dict[tuple[str, str, Decimal], list[Decimal]]:
    """What the documents of a period say themselves: number, net and VAT by kind, delivery and rate."""
    found: dict[tuple[str, str, Decimal], list[Decimal]] = {}
    documents = [("invoice", "supplied_on", 1, document) for (document,) in rows(shop, "select document from invoice")]
    notes = rows(shop, "select n.document, i.document from credit_note n join invoice i on i.number = n.invoice")
    documents += [("credit_note", "issued_on", -1, note | {"notes": of["notes"]}) for note, of in notes]
    for kind, day, sign, document in documents:
        if not since <= date.fromisoformat(document[day]) <= until:
            continue
        for line in document["lines"]:
            key = (kind, "export" if document["notes"] else "domestic", Decimal(str(line["vat_rate"])))
            total = found.setdefault(key, [Decimal(0)] * 3)
            total[1] += sign * Decimal(str(line["net"]))
            total[2] += sign * Decimal(str(line["vat"]))
        total[0] += 1
    return found


MOMENTS = st.integers(0, 40 * 24 * 60).map(lambda minutes: timedelta(minutes=minutes))
SALES = st.tuples(st.integers(1, 40), st.booleans(), MOMENTS, MOMENTS, st.none() | st.integers(1, 300), MOMENTS)


@pytest.mark.sweep
@fuzzed(12)
@given(st.lists(SALES, min_size=1, max_size=4), st.tuples(st.integers(0, 45), st.integers(0, 45)).map(sorted))
def test_figures_of_any_period_are_the_sums_of_its_documents(
    shop: Service, buyer: Customer, sales: list[Any], days: list[int]
) -> None:
    begin = shop.clock.now()
    for units, abroad, sent, billed, pence, back in sales:
        where = ABROAD if abroad else AT_HOME
        number = invoice(shop, buyer, units, begin + sent, begin + sent + billed, **where)
        if pence is not None:
            [(net,)] = rows(shop, "select net from invoice where number = %s", number)
            with at(shop, begin + sent + billed + back):
                credit(shop, number, amount=str(min(net, Decimal(pence) / 100)))
    assert faults_in_the_books(shop) == {}
    since, until = (begin.date() + timedelta(days=day) for day in days)
    found, expected = report(shop, since, until), summed(shop, since, until)
    lines = {(str(each.kind), str(each.supply), each.tax_rate): each for each in found.lines}
    assert {key: [each.documents, each.cost_net, each.cost_tax] for key, each in lines.items()} == expected
    assert found.cost_net == sum((total[1] for total in expected.values()), Decimal(0))
    assert found.box_1 == found.cost_tax == sum((total[2] for total in expected.values()), Decimal(0))
    assert found.box_6 == int(found.cost_net)
    assert found.documents == sum(total[0] for total in expected.values())
    assert all(each.cost_gross == each.cost_net + each.cost_tax for each in found.lines)


def test_an_invoice_counts_on_the_uk_day_of_its_supply_and_a_credit_note_on_that_of_its_issue(
    shop: Service, buyer: Customer
) -> None:
    number = invoice(shop, buyer, 10, uk(2028, 9, 30, 23, 59), uk(2028, 10, 5, 9))
    with at(shop, uk(2028, 10, 1, 0, 30)):  # 30 September in UTC
        credit(shop, number, amount="1.00")
    [supplied] = report(shop, date(2028, 9, 30), date(2028, 9, 30)).lines
    [credited] = report(shop, date(2028, 10, 1), date(2028, 10, 1)).lines
    assert (supplied.kind, supplied.cost_net > 0) == ("invoice", True)
    assert (credited.kind, credited.cost_net, credited.cost_tax) == ("credit_note", Decimal(-1), Decimal("-0.20"))
    assert report(shop, date(2028, 10, 2), date(2028, 12, 31)).lines == []


def test_an_export_has_no_vat_and_counts_among_the_sales(shop: Service, buyer: Customer) -> None:
    number = invoice(shop, buyer, 10, uk(2029, 2, 1, 9), uk(2029, 2, 1, 9), **ABROAD)
    with at(shop, uk(2029, 2, 2, 9)):
        credit(shop, number, amount="0.75")
    found = report(shop, date(2029, 1, 1), date(2029, 3, 31))
    assert [(each.kind, each.supply, int(each.tax_rate)) for each in found.lines] == [
        ("invoice", "export", 0),
        ("credit_note", "export", 0),
    ]
    assert (str(found.lines[1].cost_tax), str(found.box_1)) == ("0.00", "0.00")  # without a minus
    assert found.cost_net == found.cost_gross > found.box_6 > 0


def test_without_days_it_is_the_last_whole_quarter(shop: Service) -> None:
    def days(moment: datetime, since: date | None = None, until: date | None = None) -> tuple[date, date]:
        with at(shop, moment):
            found = report(shop, since, until)
        return found.since, found.until

    assert days(uk(2026, 6, 30, 23, 59)) == (date(2026, 1, 1), date(2026, 3, 31))
    assert days(uk(2026, 7, 1, 0, 0)) == (date(2026, 4, 1), date(2026, 6, 30))
    assert days(uk(2026, 1, 1, 0, 0)) == (date(2025, 10, 1), date(2025, 12, 31))
    assert days(uk(2026, 6, 16, 9), since=date(2026, 6, 1)) == (date(2026, 6, 1), date(2026, 6, 16))
    assert days(uk(2026, 6, 16, 9), until=date(2026, 5, 20)) == (date(2026, 4, 1), date(2026, 5, 20))
    assert days(uk(2026, 6, 16, 9), until=date.max) == (date(9999, 10, 1), date.max)
    with pytest.raises(DomainError, match="must not be after 2026-05-20"):
        report(shop, date(2026, 5, 21), date(2026, 5, 20))


@pytest.mark.parametrize(
    ("like", "first", "last"),
    [
        (None, date(2026, 10, 1), date(2026, 12, 31)),
        (date(2026, 3, 30), date(2026, 10, 1), date(2026, 12, 31)),
        (date(2026, 1, 31), date(2026, 11, 1), date(2027, 1, 31)),
        (date(2024, 2, 29), date(2026, 9, 1), date(2026, 11, 30)),
        (date.max, date(2026, 10, 1), date(2026, 12, 31)),
    ],
)
def test_quarters_end_in_the_months_of_one_that_was_chosen(like: date | None, first: date, last: date) -> None:
    found = quarters(date(2026, 11, 30), like)
    assert (found[0], len(found)) == ((first, last), 4)
    assert all(later[0] - earlier[1] == timedelta(days=1) for later, earlier in pairwise(found))
