"""`changed_since` of the back office's lists: whatever changes a record brings it back."""

import itertools
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from support.approvals import asked
from support.backoffice import BackOfficeSite
from support.billing import credit, due_of, invoiced, number_of, pay, pay_in, reverse
from support.orders import buy, rows, sell
from support.quotes import request_quote
from support.service import Service
from support.shop import ADDRESS, product
from tradecounter.db.statement import Statement
from tradecounter.webhooks.queries.deliveries import make_deliveries

CSV = {"Content-Type": "text/csv"}
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

    def webhooks(self) -> Changing:
        number = self.sends("POST", "/api/webhook", url="https://erp.example/events")["id"]
        return number, lambda: self.sends("PATCH", f"/api/webhook/{number}", state="paused")

    def remittances(self) -> Changing:
        due = [number_of(self.shop, invoiced(self.shop, self.customer)) for _ in range(2)]
        first, second = (self._told(number)["id"] for number in due)

        def change() -> None:
            self._take_back(first)
            self._receive(due[1])

        return second, change

    def _told(self, invoice: int) -> Any:
        return self.sends("POST", "/api/remittance", customer_id=self.customer.id, invoices=[invoice], reference="TOLD")

    def _take_back(self, number: int) -> None:
        assert self.staff.delete(f"/api/remittance/{number}").status_code == 204

    def _receive(self, invoice: int) -> None:
        amount = due_of(self.shop, invoice)
        assert send_bank_file(self.staff, f"2026-06-16,{amount},TOLD\n")["recorded"] == 1


def send_bank_file(staff: httpx2.Client, line: str) -> Any:
    response = staff.post("/api/payment/import", content=f"date,amount,reference\n{line}", headers=CSV)
    assert response.status_code == 200, response.text
    return response.json()


def moment(shop: Service) -> str:
    [(found,)] = rows(shop, "select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
    return str(found)


@pytest.mark.sweep(every=4)
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
        ("/api/webhook", "id", Case.webhooks),
        ("/api/remittance", "id", Case.remittances),
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


def key_of(case: Case, path: str) -> Changing:
    number = case.sends("POST", path, name="ERP")["id"]
    return number, lambda: case.staff.delete(f"{path}/{number}")


def user_of(case: Case, path: str) -> Changing:
    number = case.sends("POST", path, email=f"jo-{case.customer.id}@acme.example", role="buyer")["id"]
    return number, lambda: case.sends("PATCH", f"{path}/{number}", order_limit=100)


def address_of(case: Case, _path: str) -> Changing:
    number = case.customer.post("/customer/address", ADDRESS).json()["id"]
    moved = {**ADDRESS, "city": "York"}
    return number, lambda: case.customer.put(f"/customer/address/{number}", moved).raise_for_status()


def contact_of(case: Case, path: str) -> Changing:
    number = case.sends("POST", path, name="Ada", task="Invoices")["id"]
    return number, lambda: case.sends("PATCH", f"{path}/{number}", task="Orders")


@pytest.mark.parametrize(
    ("kind", "make"), [("key", key_of), ("user", user_of), ("address", address_of), ("contact", contact_of)]
)
def test_what_has_changed_of_one_customer_is_listed(
    office: BackOfficeSite, staff: httpx2.Client, kind: str, make: Callable[[Case, str], Changing]
) -> None:
    case = Case(office, staff)
    path = f"/api/customer/{case.customer.id}/{kind}"
    called, change = make(case, path)
    before = moment(case.shop)

    def listed() -> list[Any]:
        return [each["id"] for each in staff.get(path, params={"changed_since": before}).json()]

    assert listed() == []
    change()
    assert listed() == [called]


def test_the_use_of_a_key_and_new_events_change_nothing(office: BackOfficeSite, staff: httpx2.Client) -> None:
    case = Case(office, staff)
    case.sends("POST", "/api/webhook", url="https://erp.example/events")
    before = moment(case.shop)
    buy(case.customer)
    case.shop.in_transaction(lambda tx: make_deliveries(tx, case.shop.clock.now()))
    case.shop.in_transaction(lambda tx: tx.execute(Statement("update api_key set last_used_at = now()")))
    for path in ("/api/webhook", f"/api/customer/{case.customer.id}/key"):
        assert staff.get(path, params={"changed_since": before}).json() == []


def test_a_job_is_listed_from_its_last_change_on(office: BackOfficeSite, staff: httpx2.Client) -> None:
    case = Case(office, staff)
    before = moment(case.shop)
    assert staff.get("/api/job", params={"changed_since": before, "limit": 1000}).json() == []
    buy(case.customer)
    found = staff.get("/api/job", params={"changed_since": before, "limit": 1000}).json()
    assert "mail_order_confirmed" in {job["name"] for job in found}


def imports(case: Case) -> tuple[str, Changing]:
    number = case.staff.post("/api/import/stock", content="sku,available\nCABLE,990\n", headers=CSV).json()["id"]
    return "/api/import", (number, lambda: case.sends("POST", f"/api/import/{number}/roll-back"))


def bank_files(case: Case) -> tuple[str, Changing]:
    number = send_bank_file(case.staff, f"2026-06-16,7.00,NOBODY {next(_numbers)}\n")["id"]
    return "/api/bank-file", (number, lambda: case.sends("POST", f"/api/bank-file/{number}/roll-back"))


def bank_lines(case: Case) -> tuple[str, Changing]:
    [line] = send_bank_file(case.staff, f"2026-06-16,7.00,NOBODY {next(_numbers)}\n")["unplaced"]
    number = line["id"]
    return "/api/bank-line", (number, lambda: case.sends("POST", f"/api/bank-line/{number}/set-aside", reason="No"))


def approvals(case: Case) -> tuple[str, Changing]:
    code, _ = asked(case.shop, case.customer)
    [number] = (each["id"] for each in case.staff.get(f"/api/approval?customer_id={case.customer.id}").json())
    return "/api/approval", (number, lambda: case.sends("POST", f"/api/approval/{code}/decline", reason="No"))


def deliveries(case: Case) -> tuple[str, Changing]:
    webhook = case.sends("POST", "/api/webhook", url="https://erp.example/events")["id"]
    path = f"/api/webhook/{webhook}"
    number = case.sends("POST", f"{path}/ping")["id"]
    case.sends("POST", f"{path}/ping")
    failed = Statement("insert into webhook_attempt values (:id, 1, :now, 500, 12, null, '')")
    now = case.shop.clock.now
    return f"{path}/delivery", (
        number,
        lambda: case.shop.in_transaction(lambda tx: tx.execute(failed, id=number, now=now())),
    )


@pytest.mark.parametrize("make", [imports, bank_files, bank_lines, approvals, deliveries])
def test_what_the_services_clock_says_has_changed_is_listed(
    office: BackOfficeSite, staff: httpx2.Client, make: Callable[[Case], tuple[str, Changing]]
) -> None:
    case = Case(office, staff)
    path, (called, change) = make(case)
    began = case.shop.clock.now()
    since = (began + timedelta(minutes=1)).isoformat()

    def listed() -> list[Any]:
        response = staff.get(path, params={"changed_since": since, "limit": 1000})
        assert response.status_code == 200, response.text
        return [each["id"] for each in response.json()]

    before = listed()  # other tests' imports have the time of the machine
    assert called not in before
    case.shop.clock.set(began + timedelta(minutes=2))
    try:
        change()
    finally:
        case.shop.clock.set(began)
    assert set(listed()) == {called, *before}


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


def test_products_go_on_after_a_sku_in_any_case(staff: httpx2.Client) -> None:
    skus = [listed["sku"] for listed in staff.get("/api/product").json()]
    for query in ({}, {"query": "product"}):
        after = [listed["sku"] for listed in staff.get("/api/product", params={"after": "PHONE", **query}).json()]
        assert after == skus[skus.index("PHONE") + 1 :]


@pytest.mark.parametrize("path", ["/api/order", "/api/product", "/api/customer", "/api/invoice"])
def test_a_wrong_moment_names_the_parameter(staff: httpx2.Client, path: str) -> None:
    response = staff.get(path, params={"changed_since": "yesterday"})
    assert response.status_code == 400
    assert response.json()["message"].startswith("changed_since: ")


@pytest.mark.parametrize("name", ["Élan Ünlimited", "élan-ß"])
def test_products_are_found_by_a_manufacturer_and_a_category_with_accents(
    office: BackOfficeSite, staff: httpx2.Client, name: str
) -> None:
    key = f"accents-{name[-1]}"
    office.service.must_load("manufacturers", [{"key": key, "name": name}])
    office.service.must_load("categories", [{"key": key, "name": name}])
    office.service.must_load("products", [product(key, manufacturer=key, categories=[key])])
    for parameter in ("manufacturer", "category"):
        found = staff.get("/api/product", params={parameter: name}).json()
        assert [each["sku"] for each in found] == [key]
