"""Pages and quick lines read the numbers that people type as all other doors do.

Commands are in `tests/cli/test_numbers_in_options.py`, files and bodies in
`tests/api/backoffice/test_numbers_in_files.py`. A door for which a number is out of range, or which has more rules,
gets only the rows that it can take.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import invoiced, number_of
from support.orders import buy, rows, sell
from support.pages import Person, customer_user, fields_of, text_of
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS
from support.typed_numbers import (
    AMOUNTS,
    PERCENTAGES,
    SIGNED_COUNTS,
    UNSIGNED_COUNTS,
    WEIGHTS,
    Outcome,
    Typed,
    errors_on,
    expected,
    right,
    said,
    wrong,
)


def stored(service: Service, query: Any, *values: Any) -> Decimal:
    [(found,)] = rows(service, query, *values)
    return Decimal(found)


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    seller = {
        "seller_name": "Trade & Sons",
        "seller_address": "7 Sales Street, York",
        "seller_vat_number": "GB123456782",
    }
    with backoffice_of(shop, **seller) as running:
        yield running


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer(credit="900000000.00")


@pytest.fixture(scope="module")
def cables(office: BackOfficeSite) -> str:
    return sell(office.service, "CABLES", "900000", available=1_000_000)


def test_the_table_has_eighty_inputs_and_more() -> None:
    assert len({typed.text for table in (AMOUNTS, PERCENTAGES, UNSIGNED_COUNTS, WEIGHTS) for typed in table}) >= 80


# Amounts.

_LARGEST_PRICE = Decimal(1_000_000)


@pytest.mark.sweep
def test_the_page_of_payments_reads_amounts(office: BackOfficeSite, sam: Person, customer: Customer) -> None:
    def read(number: int, typed: Typed) -> Outcome:
        form = {"customer_id": str(customer.id), "amount": typed.text, "reference": f"typed {number}"}
        shown = sam.send("/payment/new", form)
        response = sam.send("/payment/new", form | sam.shown(shown))
        if response.status_code != 303:
            return said(response, "amount")
        return stored(office.service, "select amount from payment where reference = %s", form["reference"])

    assert [read(n, typed) for n, typed in enumerate(AMOUNTS)] == [expected(typed) for typed in AMOUNTS]


@pytest.mark.sweep
def test_the_page_of_credit_notes_reads_amounts(
    office: BackOfficeSite, sam: Person, customer: Customer, cables: str
) -> None:
    service = office.service
    number = number_of(service, invoiced(service, customer, (cables, 5)))
    taken = [Typed("£12.50", Decimal("12.5")), Typed("1,234", Decimal(1234))]  # a credit note takes its time

    def read(typed: Typed) -> Outcome:
        path, form = f"/invoice/{number}/credit-note", {"amount": typed.text, "reason": "typed"}
        response = sam.send(path, form | sam.shown(sam.send(path, form)))
        if response.status_code != 303:
            return said(response, "amount")
        return stored(service, "select net from credit_note where invoice = %s order by number desc limit 1", number)

    table = [*wrong(AMOUNTS), *taken]
    assert [read(typed) for typed in table] == [expected(typed) for typed in table]


@pytest.mark.sweep
def test_the_page_of_credit_terms_reads_amounts(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer()

    def read(typed: Typed) -> Outcome:
        form = {"credit_limit": typed.text, "term_days": "30"}
        response = sam.send(f"/customer/{customer.id}/credit-terms", form)
        if response.status_code != 303:
            return said(response, "credit_limit")
        return stored(office.service, "select credit_limit from customer where id = %s", customer.id)

    assert [read(typed) for typed in AMOUNTS] == [expected(typed) for typed in AMOUNTS]


@pytest.mark.sweep
def test_the_desk_of_quotes_reads_amounts(office: BackOfficeSite, sam: Person, customer: Customer, cables: str) -> None:
    quote = request_quote(customer, [(cables, 1)])
    path = f"/quote/{quote['confirmation_code']}/price"

    def read(typed: Typed) -> Outcome:
        form = {"items-0-sku": cables, "items-0-price": typed.text, "force": "true"}
        response = sam.send(path, form)
        if response.status_code != 303:
            return said(response, "items-0-price")
        return stored(
            office.service,
            "select unit_cost from order_line l join orders o on o.id = l.order_id where o.confirmation_code = %s",
            quote["confirmation_code"],
        )

    table = [t for t in AMOUNTS if not t.text.endswith("%") and (t.number is None or t.number <= _LARGEST_PRICE)]
    assert [read(typed) for typed in table] == [expected(typed) for typed in table]


# Percentages.


@pytest.mark.sweep
def test_the_page_of_a_customers_terms_reads_percentages(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer()

    def read(typed: Typed) -> Outcome:
        response = sam.send(f"/customer/{customer.id}/trade-terms", {"discount": typed.text})
        if response.status_code != 303:
            return said(response, "discount")
        return stored(office.service, "select discount from customer where id = %s", customer.id)

    assert [read(typed) for typed in PERCENTAGES] == [expected(typed) for typed in PERCENTAGES]


@pytest.mark.sweep
def test_the_desk_of_quotes_reads_percentages(
    office: BackOfficeSite, sam: Person, customer: Customer, cables: str
) -> None:
    quote = request_quote(customer, [(cables, 1)])
    path = f"/quote/{quote['confirmation_code']}/price"

    def read(form: dict[str, str], field: str) -> Outcome:
        response = sam.send(path, {"items-0-sku": cables, "force": "true"} | form)
        if response.status_code != 303:
            return said(response, field)
        cost = stored(
            office.service,
            "select unit_cost from order_line l join orders o on o.id = l.order_id where o.confirmation_code = %s",
            quote["confirmation_code"],
        )
        return 100 - cost * 100 / 900_000

    for_all = [read({"discount": typed.text}, "discount") for typed in PERCENTAGES]
    assert for_all == [expected(typed) for typed in PERCENTAGES]
    signed = [typed for typed in PERCENTAGES if typed.text.strip().endswith("%")]
    assert [read({"items-0-price": t.text}, "items-0-price") for t in signed] == [expected(t) for t in signed]


# Counts.


def units(service: Service, code: str) -> list[Decimal]:
    found = rows(
        service,
        "select quantity from order_line l join orders o on o.id = l.order_id where o.confirmation_code = %s"
        " order by position",
        code,
    )
    return [Decimal(count) for (count,) in found]


def counted(table: Sequence[Typed], sku: str) -> dict[str, str]:
    return {
        f"items-{number}-{name}": value
        for number, typed in enumerate(table)
        for name, value in (("sku", sku), ("quantity", typed.text))
    }


def problems_of(table: Sequence[Typed]) -> dict[str, str]:
    return {f"items-{number}-quantity": typed.message for number, typed in enumerate(table)}


@pytest.fixture(scope="module")
def pennies(office: BackOfficeSite) -> str:
    return sell(office.service, "PENNIES", "0.01", available=10_000_000, weight_kg="0")


def test_the_accounts_form_of_an_order_reads_counts(office: BackOfficeSite, customer: Customer, pennies: str) -> None:
    buyer = customer_user(office.service, customer.id)
    address = {f"shipping_address-{name}": value for name, value in ADDRESS.items()}
    form = {"customer_reference": "TYPED", "do": "order", "billing_address-id": "same", **address}
    rejected = wrong(UNSIGNED_COUNTS)
    assert errors_on(buyer.send("/account/new-order", form | counted(rejected, pennies))) == problems_of(rejected)
    for typed in right(UNSIGNED_COUNTS):  # in orders of their own: lines of one SKU are added up
        response = buyer.send("/account/new-order", form | counted([typed], pennies))
        assert response.status_code == 303, response.text
        assert units(office.service, response.headers["Location"].rpartition("/")[2]) == [typed.number]


def test_the_back_offices_form_of_an_order_reads_counts(
    office: BackOfficeSite, sam: Person, customer: Customer, pennies: str
) -> None:
    address = {f"shipping_address-{name}": value for name, value in ADDRESS.items()}
    form = {"customer_reference": "TYPED", "do": "order", "billing_address-id": "same", **address}
    path = f"/order/new/{customer.id}"
    rejected = wrong(UNSIGNED_COUNTS)
    assert errors_on(sam.send(path, form | counted(rejected, pennies))) == problems_of(rejected)
    for typed in right(UNSIGNED_COUNTS):  # in orders of their own: rows of one SKU are added up
        response = sam.send(path, form | counted([typed], pennies))
        assert response.status_code == 303, typed
        assert units(office.service, response.headers["Location"].split("/")[-2]) == [typed.number]


def as_lines(table: Iterable[Typed], sku: str, separator: str) -> list[str]:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows((sku, typed.text) for typed in table)
    return text.getvalue().splitlines()


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_pasted_lines_read_counts(office: BackOfficeSite, customer: Customer, pennies: str, separator: str) -> None:
    table = [typed if separator == "," else typed.between_semicolons for typed in UNSIGNED_COUNTS]
    buyer = customer_user(office.service, customer.id)
    for typed, line in zip(table, as_lines(table, pennies, separator), strict=True):
        response = buyer.send("/account/new-order", {"list": line, "do": "add"})
        if typed.number is None:
            assert f"must end with a whole number of units: {typed.message}" in text_of(response)
        else:
            assert Decimal(fields_of(response)["items-0-quantity"]) == typed.number


def test_a_thousands_comma_in_a_pasted_line_is_no_separator(sam: Person, customer: Customer, pennies: str) -> None:
    said = text_of(sam.send(f"/order/new/{customer.id}", {"list": f"{pennies},1,000"}))
    assert f"Line 1 '{pennies},1,000' has 3 cells, and only 2 have a heading" in said


@pytest.mark.sweep
def test_the_forms_of_orders_read_counts(office: BackOfficeSite, sam: Person, customer: Customer, pennies: str) -> None:
    service = office.service
    placed = buy(customer, [(pennies, 10_000)])
    path, item = f"/order/{placed['order_reference']}", str(placed["items"][0]["id"])
    rejected = wrong(UNSIGNED_COUNTS)

    def send(action: str, table: Sequence[Typed], **more: str) -> httpx2.Response:
        form = {f"items-{n}-id": item for n in range(len(table))} | more
        return sam.send(f"{path}/{action}", form | {f"items-{n}-quantity": typed.text for n, typed in enumerate(table)})

    def count(column: str) -> Decimal:
        return stored(service, "select to_jsonb(l)->>%s from order_line l where id = %s", column, int(item))

    for action, reason in (("cancel", {"reason": "typed"}), ("dispatch", {})):
        assert errors_on(send(action, rejected, **reason)) == problems_of(rejected)
    thousand = [Typed("1,000", Decimal(1000))]
    seen = fields_of(send("cancel", thousand, reason="typed"))["seen"]
    assert send("cancel", thousand, reason="typed", seen=seen).status_code == 303
    assert count("cancelled") == 1000
    assert send("dispatch", thousand).status_code == 303
    assert count("dispatched") == 1000
    assert errors_on(send("return", rejected, reason="typed")) == problems_of(rejected)
    assert send("return", thousand, reason="typed").status_code == 303
    assert stored(service, "select quantity from return_line where line_id = %s", int(item)) == 1000


@pytest.mark.sweep
def test_the_form_that_adjusts_stock_reads_counts(office: BackOfficeSite, sam: Person) -> None:
    sku = sell(office.service, "ADJUSTED", available=500_000)

    def read(typed: Typed) -> Outcome:
        before = stored(office.service, _AVAILABLE, sku)
        response = sam.send("/stock-adjustment", {"sku": sku, "reason": "typed", "change": typed.text})
        if response.status_code != 303:
            return said(response, "change")
        return stored(office.service, _AVAILABLE, sku) - before

    assert [read(typed) for typed in SIGNED_COUNTS] == [expected(typed) for typed in SIGNED_COUNTS]


_AVAILABLE = "select available from stock_level s join product p on p.id = s.product_id where p.sku = %s"
