"""Every door through which numbers come reads them alike: pages, the API, commands, files and quick lines.

A door for which a number is out of range, or which has more rules, gets only the rows that it can take.
"""

import csv
import html
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Any

import httpx2
import pytest
from typer._click.exceptions import UsageError
from typer.main import get_command

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import invoiced, number_of
from support.orders import buy, rows, sell
from support.pages import Person, customer_user, fields_of
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, product
from support.typed_numbers import (
    AMOUNTS,
    JSON_AMOUNTS,
    PERCENTAGES,
    SIGNED_COUNTS,
    UNSIGNED_COUNTS,
    WEIGHTS,
    Typed,
)
from tradecounter.cli.main import app

_PROBLEM = re.compile(r'<li><a href="#(?:form|order)-([^"]+)">[^<]*</a> (.*?)</li>')

Outcome = Decimal | str


def expected(typed: Typed) -> Outcome:
    return typed.message if typed.number is None else typed.number


def wrong(table: Iterable[Typed]) -> list[Typed]:
    return [typed for typed in table if typed.number is None]


def right(table: Iterable[Typed]) -> list[Typed]:
    return [typed for typed in table if typed.number is not None]


def errors_on(response: httpx2.Response) -> dict[str, str]:
    """The errors of a page's form by field."""
    return {name: html.unescape(problem) for name, problem in _PROBLEM.findall(response.text)}


def stored(service: Service, query: Any, *values: Any) -> Decimal:
    [(found,)] = rows(service, query, *values)
    return Decimal(found)


def said(response: httpx2.Response, field: str) -> str:
    """What is wrong with a form's field; fails if the form was taken or other fields are wrong."""
    assert response.status_code == 400, response.text
    found = errors_on(response)
    assert list(found) == [field], found
    return found[field]


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


def test_the_page_of_payments_reads_amounts(office: BackOfficeSite, sam: Person, customer: Customer) -> None:
    def read(number: int, typed: Typed) -> Outcome:
        form = {"customer_id": str(customer.id), "amount": typed.text, "reference": f"typed {number}"}
        shown = sam.send("/payment/new", form)
        response = sam.send("/payment/new", form | sam.shown(shown))
        if response.status_code != 303:
            return said(response, "amount")
        return stored(office.service, "select amount from payment where reference = %s", form["reference"])

    assert [read(n, typed) for n, typed in enumerate(AMOUNTS)] == [expected(typed) for typed in AMOUNTS]


def test_the_api_of_payments_reads_amounts(office: BackOfficeSite, customer: Customer) -> None:
    finance = office.caller()

    def read(number: int, typed: Typed) -> Outcome:
        body = f'{{"customer_id": {customer.id}, "amount": {typed.text}, "reference": "sent {number}"}}'
        response = finance.post("/api/payment", content=body, headers={"Content-Type": "application/json"})
        if response.is_success:
            return Decimal(str(response.json()["amount"]))
        [error] = response.json()["errors"]
        assert (response.status_code, error["field"]) == (400, "amount")
        return str(error["message"])

    assert [read(n, typed) for n, typed in enumerate(JSON_AMOUNTS)] == [expected(typed) for typed in JSON_AMOUNTS]


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


def test_the_page_of_credit_terms_reads_amounts(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer()

    def read(typed: Typed) -> Outcome:
        form = {"credit_limit": typed.text, "term_days": "30"}
        response = sam.send(f"/customer/{customer.id}/credit-terms", form)
        if response.status_code != 303:
            return said(response, "credit_limit")
        return stored(office.service, "select credit_limit from customer where id = %s", customer.id)

    assert [read(typed) for typed in AMOUNTS] == [expected(typed) for typed in AMOUNTS]


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


def test_the_page_of_a_customers_terms_reads_percentages(office: BackOfficeSite, sam: Person) -> None:
    customer = office.service.customer()

    def read(typed: Typed) -> Outcome:
        response = sam.send(f"/customer/{customer.id}/trade-terms", {"discount": typed.text})
        if response.status_code != 303:
            return said(response, "discount")
        return stored(office.service, "select discount from customer where id = %s", customer.id)

    assert [read(typed) for typed in PERCENTAGES] == [expected(typed) for typed in PERCENTAGES]


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
    refused = wrong(UNSIGNED_COUNTS)
    assert errors_on(buyer.send("/account/new-order", form | counted(refused, pennies))) == problems_of(refused)
    taken = right(UNSIGNED_COUNTS)
    response = buyer.send("/account/new-order", form | counted(taken, pennies))
    assert response.status_code == 303, response.text
    assert units(office.service, response.headers["Location"].rpartition("/")[2]) == [typed.number for typed in taken]


def test_the_back_offices_form_of_an_order_reads_counts(
    office: BackOfficeSite, sam: Person, customer: Customer, pennies: str
) -> None:
    address = {f"shipping_address-{name}": value for name, value in ADDRESS.items()}
    form = {"customer_reference": "TYPED", "address": "new", "billing": "same", **address}
    path = f"/order/new/{customer.id}"
    refused = wrong(UNSIGNED_COUNTS)
    assert errors_on(sam.send(path, form | counted(refused, pennies))) == problems_of(refused)
    taken = right(UNSIGNED_COUNTS)
    response = sam.send(path, form | counted(taken, pennies))
    assert response.status_code == 303, response.text
    assert units(office.service, response.headers["Location"].split("/")[-2]) == [typed.number for typed in taken]


def as_lines(table: Iterable[Typed], sku: str, separator: str) -> list[str]:
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows((sku, typed.text) for typed in table)
    return text.getvalue().splitlines()


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_pasted_lines_read_counts(office: BackOfficeSite, customer: Customer, pennies: str, separator: str) -> None:
    table = [typed if separator == "," else typed.between_semicolons for typed in UNSIGNED_COUNTS]
    buyer = customer_user(office.service, customer.id)
    for typed, line in zip(table, as_lines(table, pennies, separator), strict=True):
        response = buyer.send("/account/new-order", {"list": line, "do": "add"})
        if typed.number is None:
            assert errors_on(response)["list"].endswith(f"must end with a whole number of units: {typed.message}")
        else:
            assert Decimal(fields_of(response)["items-0-quantity"]) == typed.number


def test_quick_lines_of_the_back_office_read_counts(sam: Person, customer: Customer, pennies: str) -> None:
    refused = wrong(UNSIGNED_COUNTS)
    for typed, line in zip(refused, as_lines(refused, pennies, ","), strict=True):
        problem = said(sam.send(f"/order/new/{customer.id}", {"lines": line}), "lines")
        assert problem.endswith(f"must end with a whole number of units: {typed.message}")
    taken = right(UNSIGNED_COUNTS)
    lines = "\n".join(as_lines(taken, pennies, ","))
    shown = fields_of(sam.send(f"/order/new/{customer.id}", {"lines": lines, "preview": "true"}))
    assert [Decimal(shown[f"items-{n}-quantity"]) for n in range(len(taken))] == [typed.number for typed in taken]


def test_a_thousands_comma_in_a_quick_line_is_no_separator(sam: Person, customer: Customer, pennies: str) -> None:
    problem = said(sam.send(f"/order/new/{customer.id}", {"lines": f"{pennies},1,000"}), "lines")
    assert problem == f"line 1 '{pennies},1,000' has 3 cells, and only 2 have a heading"


def test_the_forms_of_orders_read_counts(office: BackOfficeSite, sam: Person, customer: Customer, pennies: str) -> None:
    service = office.service
    placed = buy(customer, [(pennies, 10_000)])
    path, item = f"/order/{placed['order_reference']}", str(placed["items"][0]["id"])
    refused = wrong(UNSIGNED_COUNTS)

    def send(action: str, table: Sequence[Typed], **more: str) -> httpx2.Response:
        form = {f"items-{n}-id": item for n in range(len(table))} | more
        return sam.send(f"{path}/{action}", form | {f"items-{n}-quantity": typed.text for n, typed in enumerate(table)})

    def count(column: str) -> Decimal:
        return stored(service, "select to_jsonb(l)->>%s from order_line l where id = %s", column, int(item))

    for action, reason in (("cancel", {"reason": "typed"}), ("dispatch", {})):
        assert errors_on(send(action, refused, **reason)) == problems_of(refused)
    thousand = [Typed("1,000", Decimal(1000))]
    assert send("cancel", thousand, reason="typed").status_code == 303
    assert count("cancelled") == 1000
    assert send("dispatch", thousand).status_code == 303
    assert count("dispatched") == 1000
    assert errors_on(send("return", refused, reason="typed")) == problems_of(refused)
    assert send("return", thousand, reason="typed").status_code == 303
    assert stored(service, "select quantity from return_line where line_id = %s", int(item)) == 1000


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


# Commands: their own parsers, without a process for each text.


def parsed(text: str, name: str, *words: str) -> Outcome:
    """What a command reads in a text, which stands for {} among its words."""
    noun, verb, *options = [word.replace("{}", text) for word in words]
    group: Any = get_command(app)
    command = group.get_command(None, noun).commands[verb]
    try:
        found = command.make_context(verb, options).params[name]
    except UsageError as error:
        return error.message
    return Decimal(found)


@pytest.mark.parametrize(
    ("table", "name", "words"),
    [
        (AMOUNTS, "amount", ("payment", "add", "--invoice=1", "--", "{}")),
        (AMOUNTS, "amount", ("order", "pay", "--", "TC-1", "{}")),
        (AMOUNTS, "amount", ("credit-note", "add", "--reason=r", "--amount={}", "1")),
        (AMOUNTS, "credit_limit", ("customer", "edit", "1", "--credit-limit={}")),
        (PERCENTAGES, "discount", ("customer", "edit", "1", "--discount={}")),
        (PERCENTAGES, "discount", ("quote", "price", "CODE", "--discount={}")),
        (SIGNED_COUNTS, "change", ("stock", "adjust", "SKU", "--reason=r", "--change={}")),
        (UNSIGNED_COUNTS, "counted", ("stock", "adjust", "SKU", "--reason=r", "--set={}")),
        (UNSIGNED_COUNTS, "customer_id", ("customer", "show", "--", "{}")),
    ],
)
def test_commands_read_numbers(table: list[Typed], name: str, words: tuple[str, ...]) -> None:
    assert [parsed(typed.text, name, *words) for typed in table] == [expected(typed) for typed in table]


# Files.


def file_of(header: Sequence[str], lines: Iterable[Sequence[str]], separator: str) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=separator).writerows([header, *lines])
    return text.getvalue()


@pytest.fixture(scope="module")
def staff(office: BackOfficeSite) -> httpx2.Client:
    return office.caller()


_LARGEST_PRICE = Decimal(1_000_000)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("kind", "key", "field", "table"),
    [
        (
            "price-list",
            "sku",
            "single_unit_cost",
            [t for t in AMOUNTS if t.number is None or t.number <= _LARGEST_PRICE],
        ),
        ("customers", "email_address", "credit_limit", AMOUNTS),
        ("customers", "email_address", "discount", PERCENTAGES),
        ("stock", "sku", "available", UNSIGNED_COUNTS),
        ("products", "sku", "weight_kg", WEIGHTS),
    ],
)
def test_import_files_read_numbers(
    staff: httpx2.Client, listed: list[str], kind: str, key: str, field: str, table: list[Typed], separator: str
) -> None:
    table = [typed if separator == "," else typed.between_semicolons for typed in table]
    names, values = _MORE.get(field, ((), ()))

    def tried(rows_: Sequence[Typed]) -> Any:
        keys = [f"{name}@typed.example" if kind == "customers" else name for name in listed]
        lines = [(name, *values, typed.text) for name, typed in zip(keys, rows_, strict=False)]
        content = file_of((key, *names, field), lines, separator)
        query = "?dry_run=true&diff=true"
        return staff.post(
            f"/api/import/{kind}{query}", content=content.encode(), headers={"Content-Type": "text/csv"}
        ).json()

    refused, taken = wrong(table), right(table)
    errors = [(error["line"], error["message"]) for error in tried(refused)["errors"]]
    errors = [(line, message) for line, message in errors if message.startswith(f"{field}: ")]
    assert errors == [(line, f"{field}: {typed.message}") for line, typed in enumerate(refused, start=2)]
    report = tried(taken)
    assert report["errors"] == []
    assert [Decimal(str(change["after"][field])) for change in report["diff"]] == [typed.number for typed in taken]


@pytest.fixture(scope="module")
def listed(office: BackOfficeSite) -> list[str]:
    """As many products as a file has lines, in the order in which a report has them."""
    skus = [f"T-{number:03}" for number in range(100)]
    office.service.must_load("products", [product(sku) for sku in skus])
    return skus


_MORE = {
    "single_unit_cost": (("price_list",), ("default",)),
    "credit_limit": (("first_name", "last_name", "term_days"), ("Ada", "Typed", "30")),
    "discount": (("first_name", "last_name"), ("Ada", "Typed")),
}


@pytest.mark.parametrize(("quoted", "number"), [("12.50", "12.5"), ("7", "7"), ("1.000", "1")])
def test_amounts_in_quotes_in_json_files_are_plain(
    staff: httpx2.Client, listed: list[str], quoted: str, number: str
) -> None:
    report = quoted_price(staff, listed[0], quoted)
    assert (report["errors"], Decimal(str(report["diff"][0]["after"]["single_unit_cost"]))) == ([], Decimal(number))


@pytest.mark.parametrize("quoted", ["1_0", "12,50", "1,000", "£5", "1e3", "\uff11", "NaN", "5%", "", "x"])
def test_other_amounts_in_quotes_are_errors(staff: httpx2.Client, listed: list[str], quoted: str) -> None:
    [error] = quoted_price(staff, listed[0], quoted)["errors"]
    assert error["message"].startswith(f"single_unit_cost: {quoted!r}")


def quoted_price(staff: httpx2.Client, sku: str, quoted: str) -> Any:
    content = json.dumps({"price_list": "default", "sku": sku, "single_unit_cost": quoted})
    headers = {"Content-Type": "application/jsonl"}
    return staff.post("/api/import/price-list?dry_run=true&diff=true", content=content, headers=headers).json()
