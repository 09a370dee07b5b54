"""A wrong value gets one message at every door, at the field that the door has for it.

Each case is one fault, sent to the API, a page and a command. The API names the field by its path, the page shows the
message beside the field, the command names the option or the item.
"""

import json
import re
from collections.abc import Iterator
from functools import reduce
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.command_line import SECRET, Forker, Program
from support.door_cases_of_accounts import CASES as OF_ACCOUNTS
from support.door_cases_of_sales import CASES as OF_SALES
from support.door_cases_of_sales import TYPED_ORDER
from support.door_subjects import SELLER
from support.doors import CUSTOMER, ITEM, SKU, Case
from support.orders import sell
from support.pages import Person, beside, customer_user, staff_member
from support.service import Customer, Service
from support.shop import order as order_of
from support.shop import stock_shop


@pytest.fixture(scope="module")
def office(service: Service) -> Iterator[BackOfficeSite]:
    stock_shop(service)
    with backoffice_of(service, **SELLER) as running:
        yield running


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    return office.service.customer()


@pytest.fixture(scope="module")
def staff(office: BackOfficeSite) -> httpx2.Client:
    return office.caller()


@pytest.fixture(scope="module")
def sam(office: BackOfficeSite) -> Person:
    return staff_member(office.service, office.url, "administrator")


@pytest.fixture(scope="module")
def ada(office: BackOfficeSite, customer: Customer) -> Iterator[Person]:
    person = customer_user(office.service, customer.id)
    yield person
    person.http.close()


@pytest.fixture(scope="module")
def tradecounter(office: BackOfficeSite, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    settings = {f"TRADECOUNTER_{name.upper()}": value for name, value in {"secret_key": SECRET, **SELLER}.items()}
    return Program(tmp_path_factory.mktemp("doors"), office.service.database_url, forker, settings)


def _filled_in(value: Any, words: dict[str, Any]) -> Any:
    """Return a value in which words that stand for something are replaced."""
    if isinstance(value, dict):
        return {name: _filled_in(each, words) for name, each in value.items()}
    if isinstance(value, list):
        return [_filled_in(each, words) for each in value]
    if not isinstance(value, str) or value in words:
        return words.get(value, value)
    return reduce(lambda text, word: text.replace(word, str(words[word])), words, value)


@pytest.mark.sweep(every=7)
@pytest.mark.parametrize(
    "case",
    [*OF_SALES, *OF_ACCOUNTS],
    ids=lambda case: f"{case.of.__name__} {case.step} {(case.api or case.page).named}",
)
def test_a_fault_has_one_message_at_every_door(
    case: Case,
    office: BackOfficeSite,
    customer: Customer,
    staff: httpx2.Client,
    sam: Person,
    ada: Person,
    tradecounter: Program,
) -> None:
    about = case.of(office.service, customer)
    words = {ITEM: about.item, CUSTOMER: customer.id, SKU: next(iter(about.words), "")}
    step = f"/{case.step}" if case.step else ""
    messages = set()
    if case.api is not None:
        path = f"/api{about.path}{step}" if case.method == "POST" else f"/api{about.path}"
        response = staff.request(case.method, path, json=_filled_in(case.api.sent, words))
        assert response.status_code == 400, response.text
        [error] = response.json()["errors"]
        assert error["field"] == case.api.named, error
        messages.add(error["message"])
    if case.page is not None:
        page = about.page or f"{about.path}{step}"
        shown = (ada if page.startswith("/account") else sam).send(page, _filled_in(case.page.sent, words))
        assert shown.status_code == 400
        messages.add(beside(shown, case.page.named, about.form))
        assert "items[" not in shown.text
        assert "(POST /" not in shown.text
    if case.command is not None:
        program, verb, *options = map(str, _filled_in(case.command.sent, words))
        file = case.command.file
        told = tradecounter.error(
            program, verb, *about.words, *options, given=file if isinstance(file, str) else json.dumps(file)
        )
        name = f"{_filled_in(case.command.named, words)}: "
        assert told.startswith(name)
        messages.add(told.removeprefix(name))
    [message] = messages
    assert case.message in message


def test_a_wrong_country_is_said_once_and_beside_its_field(customer: Customer, sam: Person) -> None:
    page = sam.send(f"/order/new/{customer.id}", TYPED_ORDER | {"shipping_address-country_code": "UK"})
    assert page.status_code == 400
    assert "GB" in beside(page, "shipping_address-country_code", "order")
    [problems] = re.findall(r'<div class="problems".*?</div>', page.text, re.DOTALL)
    assert "1 field needs a correction." in problems
    assert problems.count("GB") == 1


def test_what_no_method_ships_is_told_with_a_route_only_by_the_customers_api(
    office: BackOfficeSite, customer: Customer, staff: httpx2.Client, sam: Person
) -> None:
    sku = sell(office.service, "ANVIL", 10, available=5, weight_kg=2000)
    body = order_of([(sku, 1)])
    told = customer.post("/order", body).json()["message"]
    assert told.endswith("request a quote instead (POST /quote)")
    for without in (
        staff.post("/api/order", json={**body, "customer_id": customer.id}),
        sam.send(f"/order/new/{customer.id}", TYPED_ORDER | {"items-0-sku": sku}),
    ):
        assert without.status_code == 400
        assert "request a quote instead" in without.text
        assert "POST /" not in without.text


def test_a_statement_that_ends_before_it_starts_gets_one_message(
    customer: Customer, staff: httpx2.Client, sam: Person, ada: Person, tradecounter: Program
) -> None:
    days = {"from": "2026-06-10", "to": "2026-06-01"}
    path = f"/customer/{customer.id}/statement"
    for response in (staff.get(f"/api{path}", params=days), customer.get("/statement", params=days)):
        [error] = response.json()["errors"]
        assert (response.status_code, error["field"]) == (400, "from")
        assert error["message"] == "must not be after 2026-06-01"
    for page in (sam.http.get(path, params=days), ada.http.get("/account/invoice/statement", params=days)):
        assert page.status_code == 400
        assert beside(page, "from") == "must not be after 2026-06-01"
    told = tradecounter.error("statement", str(customer.id), "--from", days["from"], "--to", days["to"])
    assert told == "--from: must not be after 2026-06-01"


def test_a_heading_of_a_bank_file_for_no_field_gets_one_message(staff: httpx2.Client, tradecounter: Program) -> None:
    file, csv = "date,amount,reference\n2026-06-01,1.00,R\n", {"Content-Type": "text/csv"}
    [error] = staff.post("/api/payment/import?map=Sum=total", content=file, headers=csv).json()["errors"]
    assert error["field"] == "map"
    assert "'Sum=total': 'total' is not one of date, amount" in error["message"]
    told = tradecounter.error("payment", "import", "-", "--map", "Sum=total", given=file)
    assert told == f"--map: {error['message']}"
