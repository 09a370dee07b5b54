"""A wrong value gets one message at every door, at the field that the door has for it.

Each case is one fault, sent to the API, a page and a command. The API names the field by its path, the page shows the
message beside the field, the command names the option or the item.
"""

import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.command_line import SECRET, Forker, Program
from support.doors import CASES, ITEM, SELLER, About, Case
from support.orders import sell
from support.pages import Person, beside, staff_member
from support.service import Customer, Service
from support.shop import ADDRESS, stock_shop
from support.shop import order as order_of


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
def tradecounter(office: BackOfficeSite, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    settings = {f"TRADECOUNTER_{name.upper()}": value for name, value in {"secret_key": SECRET, **SELLER}.items()}
    return Program(tmp_path_factory.mktemp("doors"), office.service.database_url, forker, settings)


def _about(value: Any, about: About) -> Any:
    """Return a value with the id of the line."""
    if isinstance(value, dict):
        return {name: _about(each, about) for name, each in value.items()}
    if isinstance(value, list):
        return [_about(each, about) for each in value]
    if value == ITEM:
        return about.item
    return value.replace(ITEM, str(about.item)) if isinstance(value, str) else value


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.step} {case.api.named}")
def test_a_fault_has_one_message_at_every_door(
    case: Case, office: BackOfficeSite, customer: Customer, staff: httpx2.Client, sam: Person, tradecounter: Program
) -> None:
    about = case.of(office.service, customer)
    step = f"/{case.step}" if case.step else ""
    path = f"/api{about.path}{step}" if case.method == "POST" else f"/api{about.path}"
    response = staff.request(case.method, path, json=_about(case.api.sent, about))
    assert response.status_code == 400, response.text
    [error] = response.json()["errors"]
    assert error["field"] == case.api.named, error
    assert case.message in error["message"]
    if case.page is not None:
        shown = sam.send(about.page or f"{about.path}{step}", _about(case.page.sent, about))
        assert shown.status_code == 400
        assert error["message"] in beside(shown, case.page.named)
        assert "items[" not in shown.text
        assert "(POST /" not in shown.text
    if case.command is not None:
        program, verb, *options = map(str, _about(case.command.sent, about))
        told = tradecounter.error(program, verb, *about.words, *options)
        assert f"{_about(case.command.named, about)}: {error['message']}" in told


def test_a_wrong_country_is_said_once_and_beside_its_field(customer: Customer, sam: Person) -> None:
    page = sam.send(f"/order/new/{customer.id}", typed_order("PHONE") | {"shipping_address-country_code": "UK"})
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
        sam.send(f"/order/new/{customer.id}", typed_order(sku)),
    ):
        assert without.status_code == 400
        assert "request a quote instead" in without.text
        assert "POST /" not in without.text


def typed_order(sku: str) -> dict[str, str]:
    """The form of an order for a customer, with an address that is typed."""
    lines = {"items-0-sku": sku, "items-0-quantity": "1", "customer_reference": "PO-1", "do": "order"}
    return (
        lines
        | {"billing_address-id": "same"}
        | {f"shipping_address-{name}": str(value) for name, value in ADDRESS.items()}
    )
