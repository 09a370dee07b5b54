"""Import files and bodies of requests have numbers that are read as all other doors read them.

Bank files have signs: their amounts are the table `SIGNED_AMOUNTS`.
"""

import csv
import io
import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import httpx2
import pytest
from openpyxl import Workbook

from support.backoffice import BackOfficeSite
from support.billing import invoiced, number_of
from support.service import Customer
from support.shop import product
from support.typed_numbers import (
    AMOUNTS,
    JSON_AMOUNTS,
    PERCENTAGES,
    SIGNED_AMOUNTS,
    UNSIGNED_COUNTS,
    WEIGHTS,
    Outcome,
    Typed,
    expected,
    right,
    wrong,
)

pytestmark = pytest.mark.sweep(every=6)


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


def file_of(lines: Iterable[Sequence[str]], form: str) -> tuple[bytes, str]:
    """A workbook whose cells are texts, or a file whose cells a character separates; and its media type."""
    if form == "xlsx":
        book, file = Workbook(), io.BytesIO()
        for line in lines:
            book.active.append(line)
        book.save(file)
        return file.getvalue(), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    text = io.StringIO()
    csv.writer(text, delimiter=form).writerows(lines)
    return text.getvalue().encode(), "text/csv"


PRICES = [typed for typed in AMOUNTS if typed.number is None or typed.number <= 1_000_000]


@pytest.mark.parametrize("form", [",", ";", "\t", "xlsx"])
@pytest.mark.parametrize(
    ("kind", "key", "field", "table"),
    [
        ("price-list", "sku", "single_unit_cost", PRICES),
        ("customers", "email_address", "credit_limit", AMOUNTS),
        ("customers", "email_address", "discount", PERCENTAGES),
        ("contract-prices", "sku", "single_unit_cost", PRICES),
        ("stock", "sku", "available", UNSIGNED_COUNTS),
        ("incoming", "sku", "incoming", UNSIGNED_COUNTS),
        ("products", "sku", "weight_kg", WEIGHTS),
    ],
)
def test_import_files_read_numbers(
    staff: httpx2.Client,
    customer: Customer,
    listed: list[str],
    kind: str,
    key: str,
    field: str,
    table: list[Typed],
    form: str,
) -> None:
    table = [typed.between_semicolons if form in ";\t" else typed for typed in table]
    more = {"customer_id": str(customer.id)} if kind == "contract-prices" else _MORE.get((kind, field), {})

    def tried(rows_: Sequence[Typed]) -> Any:
        keys = [f"{name}@typed.example" if kind == "customers" else name for name in listed]
        lines = [(name, *more.values(), typed.text) for name, typed in zip(keys, rows_, strict=False)]
        content, media_type = file_of([(key, *more, field), *lines], form)
        address = f"/api/import/{kind}?dry_run=true&diff=true"
        return staff.post(address, content=content, headers={"Content-Type": media_type}).json()

    rejected, taken = wrong(table), right(table)
    errors = [(error["line"], error["message"]) for error in tried(rejected)["errors"]]
    errors = [(line, message) for line, message in errors if message.startswith(f"{field}: ")]
    if "prices" in kind or kind == "price-list":
        skus = dict(enumerate(listed, start=2))
        errors = [(line, message.removesuffix(f" (sku {skus[line]})")) for line, message in errors]
    assert errors == [(line, f"{field}: {typed.message}") for line, typed in enumerate(rejected, start=2)]
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
    ("price-list", "single_unit_cost"): {"price_list": "default"},
    ("customers", "credit_limit"): {"first_name": "Ada", "last_name": "Typed", "term_days": "30"},
    ("customers", "discount"): {"first_name": "Ada", "last_name": "Typed"},
    ("incoming", "incoming"): {"expected_on": "2099-12-01"},
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


@pytest.mark.parametrize(
    ("path", "field", "table", "problem"),
    [
        ("/api/payment", "amount", AMOUNTS, "must be a number, not text"),
        ("/api/customer", "credit_limit", AMOUNTS, "must be a number, not text"),
        ("/api/customer", "discount", PERCENTAGES, "must be a number, not text"),
        ("/api/customer", "term_days", UNSIGNED_COUNTS, "must be a whole number or null, not text"),
    ],
)
def test_texts_are_no_numbers_in_bodies(
    staff: httpx2.Client, path: str, field: str, table: list[Typed], problem: str
) -> None:
    for typed in table:
        response = staff.post(path, json={field: typed.text})
        errors = {error["field"]: error["message"] for error in response.json()["errors"]}
        assert (response.status_code, errors[field]) == (400, problem), typed.text


def test_texts_are_no_units_in_the_customers_api(customer: Customer) -> None:
    for typed in UNSIGNED_COUNTS:
        response = customer.http.post("/order", json={"items": [{"sku": "PHONE", "quantity": typed.text}]})
        assert response.status_code == 400
        assert "items[0].quantity: must be" in response.json()["message"], typed.text


@pytest.mark.parametrize(
    ("path", "field", "places"),
    [
        ("/api/customer", "credit_limit", 2),
        ("/api/customer", "discount", 2),
        ("/api/payment", "amount", 2),
        ("/api/invoice/1/credit-note", "amount", 2),
    ],
)
@pytest.mark.parametrize("number", ["1.005", "0.001", "1e-3", "0.0010", "12.345678901234567890123"])
def test_decimals_that_a_field_does_not_have_are_rejected_in_bodies(
    staff: httpx2.Client, path: str, field: str, places: int, number: str
) -> None:
    content = f'{{"{field}": {number}, "reason": "r"}}'
    response = staff.post(path, content=content, headers={"Content-Type": "application/json"})
    errors = {error["field"]: error["message"] for error in response.json()["errors"]}
    assert response.status_code == 400
    assert errors[field].endswith(f"has more than {places} decimal places")


@pytest.mark.parametrize("form", [",", ";", "\t", "xlsx"])
def test_bank_files_read_amounts_and_lose_no_line(office: BackOfficeSite, staff: httpx2.Client, form: str) -> None:
    table = [typed.between_semicolons if form in ";\t" else typed for typed in SIGNED_AMOUNTS]
    number = number_of(office.service, invoiced(office.service, office.service.customer()))

    def tried(*typed: Typed) -> Any:
        lines = [("2026-06-01", each.text, f"INV {number} no. {place}") for place, each in enumerate(typed)]
        content, media_type = file_of([("date", "amount", "reference"), *lines], form)
        address, headers = "/api/payment/import?dry_run=true", {"Content-Type": media_type}
        return staff.post(address, content=content, headers=headers).json()

    whole = tried(*table)
    paid_out = [typed for typed in table if typed.number is not None and typed.number <= 0]
    assert (whole["lines"], whole["payments_out"]) == (len(table), len(paid_out))
    assert len(whole["unplaced"]) + len(whole["payments"]) + len(paid_out) == len(table)
    why = {line["line"]: line["why"] for line in whole["unplaced"]}
    for line, typed in enumerate(table, start=2):
        if typed.number is None:
            assert typed.message.replace("\\xa0", " ") in why[line], typed  # kept as one plain line
        elif typed.number > 0:
            [paid] = tried(typed)["payments"]
            assert Decimal(str(paid["amount"])) == typed.number, typed
