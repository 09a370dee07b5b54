"""`changed_since` of the back office's lists: whatever changes a record brings it back."""

import itertools
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.billing import credit, invoiced, number_of, pay, pay_in, reverse
from support.orders import buy, rows, sell
from support.quotes import request_quote
from support.service import Service
from support.shop import product

_numbers = itertools.count(1)

Changing = tuple[Any, Callable[[], Any]]  # what a record is called in its list, and what changes it


class Case:
    """A back office, its caller, and a customer."""

    def __init__(self, office: BackOfficeSite, staff: httpx2.Client) -> None:
        self.shop, self.staff, self.customer = office.service, staff, office.service.customer()
        office.refresh()

    def sends(self, method: str, path: str, **body: Any) -> Any:
        response = self.staff.request(method, path, json=body)
        assert response.is_success, response.text
        return response.json()

    def orders(self) -> Changing:
        reference = buy(self.customer)["order_reference"]
        return reference, lambda: self.sends("POST", f"/api/order/{reference}/dispatch")

    def quotes(self) -> Changing:
        code = request_quote(self.customer)["confirmation_code"]
        return code, lambda: self.sends("POST", f"/api/quote/{code}/decline", reason="No")

    def customers(self) -> Changing:
        return self.customer.id, lambda: self.sends("PATCH", f"/api/customer/{self.customer.id}", company="Acme")

    def products(self) -> Changing:
        sku = sell(self.shop, f"CHANGING-{next(_numbers)}", 7)
        return sku, lambda: self.shop.must_load("products", [product(sku, purchase_cost="1.23")])

    def paid_invoices(self) -> Changing:
        placed = invoiced(self.shop, self.customer)
        return number_of(self.shop, placed), lambda: pay(self.shop, placed, "1.00")

    def credited_invoices(self) -> Changing:
        number = number_of(self.shop, invoiced(self.shop, self.customer))
        return number, lambda: credit(self.shop, number, amount="1.00")

    def reversed_payments(self) -> Changing:
        payment = pay_in(self.shop, self.customer, "5.00")
        return payment.id, lambda: reverse(self.shop, payment)

    def placed_payments(self) -> Changing:
        payment = pay_in(self.shop, self.customer, "5.00")
        return payment.id, lambda: invoiced(self.shop, self.customer)

    def requests(self) -> Changing:
        asked = {"kind": "message", "order_reference": buy(self.customer)["order_reference"], "text": "When?"}
        number = self.customer.post("/request", asked).json()["id"]
        return number, lambda: self.sends("POST", f"/api/request/{number}/close", text="Tomorrow")

    def returns(self) -> Changing:
        placed = invoiced(self.shop, self.customer, ("PHONE", 2))
        item, path = placed["items"][0]["id"], f"/api/order/{placed['order_reference']}/return"
        number = self.sends("POST", path, items=[{"id": item, "quantity": 2}], reason="Faulty")["number"]
        received = [{"id": item, "restock": 1}]
        return number, lambda: self.sends("POST", f"/api/return/{number}/receive", items=received)


def moment(shop: Service) -> str:
    [(found,)] = rows(shop, "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
    return str(found)


@pytest.mark.parametrize(
    ("path", "name", "make"),
    [
        ("/api/order", "order_reference", Case.orders),
        ("/api/quote", "confirmation_code", Case.quotes),
        ("/api/customer", "id", Case.customers),
        ("/api/product", "sku", Case.products),
        ("/api/invoice", "number", Case.paid_invoices),
        ("/api/invoice", "number", Case.credited_invoices),
        ("/api/payment", "id", Case.reversed_payments),
        ("/api/payment", "id", Case.placed_payments),
        ("/api/request", "id", Case.requests),
        ("/api/return", "number", Case.returns),
    ],
)
def test_what_has_changed_since_a_moment_is_listed(
    office: BackOfficeSite, staff: httpx2.Client, path: str, name: str, make: Callable[[Case], Changing]
) -> None:
    case = Case(office, staff)
    called, change = make(case)
    before = moment(case.shop)

    def listed() -> list[Any]:
        response = staff.get(path, params={"changed_since": before, "limit": 1000})
        assert response.status_code == 200, response.text
        return [each[name] for each in response.json()]

    assert listed() == []
    change()
    assert listed() == [called]


def test_a_credit_note_is_listed_from_its_issue_on(office: BackOfficeSite, staff: httpx2.Client) -> None:
    case = Case(office, staff)
    number = number_of(case.shop, invoiced(case.shop, case.customer))
    before = moment(case.shop)
    note = credit(case.shop, number, amount="1.00")
    found = staff.get("/api/credit-note", params={"changed_since": before}).json()
    assert [each["number"] for each in found] == [note.number]


def test_an_import_that_changes_nothing_moves_no_product(office: BackOfficeSite, staff: httpx2.Client) -> None:
    case = Case(office, staff)
    before = moment(case.shop)
    case.shop.must_load("products", [product("CABLE", weight_kg="0.1")])
    assert staff.get("/api/product", params={"changed_since": before}).json() == []


def test_products_are_listed_whole(staff: httpx2.Client) -> None:
    [listed] = staff.get("/api/product?query=PHONE").json()
    whole = staff.get("/api/product/PHONE").json()
    assert {"description", "images", "attributes", "purchase_cost"} <= listed.keys()
    assert listed == {name: whole[name] for name in listed}


@pytest.mark.parametrize("path", ["/api/order", "/api/product", "/api/customer", "/api/invoice"])
def test_a_wrong_moment_names_the_parameter(staff: httpx2.Client, path: str) -> None:
    response = staff.get(path, params={"changed_since": "yesterday"})
    assert response.status_code == 400
    assert response.json()["message"].startswith("changed_since: ")
