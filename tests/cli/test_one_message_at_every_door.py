"""A wrong value gets one message at every door, at the field that the door has for it.

Each case is one fault, sent to the API, a page and a command. The API names the field by its path, the page shows the
message beside the field, the command names the option or the item.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import unescape
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.command_line import Forker, Program
from support.orders import buy, dispatch, sell
from support.pages import Person, staff_member
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, stock_shop
from support.shop import order as order_of
from tradecounter.shipments.requests import Serial

Body = dict[str, Any]


@pytest.fixture(scope="module")
def office(service: Service) -> Iterator[BackOfficeSite]:
    stock_shop(service)
    with backoffice_of(service) as running:
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
    return Program(tmp_path_factory.mktemp("doors"), office.service.database_url, forker)


@dataclass(frozen=True)
class Door:
    """What is sent to a door, and the name that the fault has there."""

    sent: Any
    named: str


@dataclass(frozen=True)
class Case:
    """One fault. `of` makes what it is about: its path, which may be that of the page too, its item and its words."""

    message: str
    of: Callable[[Service, Customer], "About"]
    step: str
    api: Door
    page: Door | None
    command: Door | None = None


@dataclass(frozen=True)
class About:
    """What a step is of: an order, a quote, a customer …

    `path` is that of the API, and of the page without `page`. Commands begin with `words`; `item` is the id of a line.
    """

    path: str
    words: list[str] = field(default_factory=list)
    item: int = 0
    page: str = ""


def order(_service: Service, customer: Customer) -> About:
    placed = buy(customer, [("PHONE", 2)])
    return About(f"/order/{placed['order_reference']}", [placed["order_reference"]], placed["items"][0]["id"])


def dispatched_order(service: Service, customer: Customer) -> About:
    about = order(service, customer)
    serials = [Serial(about.item, "SN-1"), Serial(about.item, "SN-2")]
    dispatch(service, {"order_reference": about.words[0]}, serials=serials)
    return about


def quote(_service: Service, customer: Customer) -> About:
    code = request_quote(customer, [("PHONE", 2)])["confirmation_code"]
    return About(f"/quote/{code}", [code])


def address_book(_service: Service, customer: Customer) -> About:
    return About(f"/customer/{customer.id}/address", page=f"/customer/{customer.id}/address/new")


def keys(_service: Service, customer: Customer) -> About:
    return About(f"/customer/{customer.id}/key", page=f"/customer/{customer.id}/key/new")


def users(_service: Service, customer: Customer) -> About:
    return About(f"/customer/{customer.id}/user", page=f"/customer/{customer.id}/user/invite")


def webhook(_service: Service, _customer: Customer) -> About:
    return About("/webhook", page="/webhook/new")


ITEM = "ITEM"  # stands for the id of the line
_LEFT = "PHONE has 2 units left: its quantity must be from 1 to 2"
_LONG = "must have 1 to 100 characters, not only white space"

CASES = [
    Case(
        _LEFT,
        order,
        "dispatch",
        Door({"items": [{"id": ITEM, "quantity": 3}]}, "items[0].quantity"),
        Door({"items-0-id": ITEM, "items-0-quantity": "3"}, "items-0-quantity"),
        Door(["order", "dispatch", "--item", "ITEM=3"], "item ITEM"),
    ),
    Case(
        _LONG,
        order,
        "dispatch",
        Door({"tracking_number": "x" * 101}, "tracking_number"),
        Door(
            {"items-0-id": ITEM, "items-0-quantity": "1", "tracking_number": "x" * 101},
            "tracking_number",
        ),
        Door(["order", "dispatch", "--tracking", "x" * 101], "--tracking"),
    ),
    Case(
        "'no-mac' is not a MAC address of 12 hexadecimal digits",
        order,
        "dispatch",
        Door(
            {
                "items": [
                    {"id": ITEM, "quantity": 1, "serial_numbers": [{"serial_number": "A", "mac_address": "no-mac"}]}
                ]
            },
            "items[0].serial_numbers[0].mac_address",
        ),
        Door({"items-0-id": ITEM, "items-0-quantity": "1", "items-0-serials": "A no-mac"}, "items-0-serials"),
    ),
    Case(
        _LEFT,
        order,
        "cancel",
        Door({"reason": "r", "items": [{"id": ITEM, "quantity": 3}]}, "items[0].quantity"),
        Door({"reason": "r", "items-0-id": ITEM, "items-0-quantity": "3"}, "items-0-quantity"),
        Door(["order", "cancel", "--reason", "r", "--item", "ITEM=3"], "item ITEM"),
    ),
    Case(
        "PHONE has 2 units to return: its quantity must be from 1 to 2",
        dispatched_order,
        "return",
        Door({"reason": "r", "items": [{"id": ITEM, "quantity": 3}]}, "items[0].quantity"),
        Door({"reason": "r", "items-0-id": ITEM, "items-0-quantity": "3"}, "items-0-quantity"),
        Door(["order", "return", "--reason", "r", "--item", "ITEM=3"], "item ITEM"),
    ),
    Case(
        "the serial number 'SN-9' was not dispatched with this item",
        dispatched_order,
        "return",
        Door(
            {"reason": "r", "items": [{"id": ITEM, "quantity": 1, "serial_numbers": ["SN-9"]}]},
            "items[0].serial_numbers",
        ),
        Door({"reason": "r", "items-0-id": ITEM, "items-0-quantity": "1", "items-0-known": "SN-9"}, "items-0-known"),
        Door(["order", "return", "--reason", "r", "--item", "ITEM=1", "--serial", "ITEM:SN-9"], "item ITEM"),
    ),
    Case(
        "the unit cost must be between 0 and 1000000",
        quote,
        "price",
        Door({"items": [{"sku": "PHONE", "cost_net": 1_000_001}]}, "items[0].cost_net"),
        Door({"items-0-sku": "PHONE", "items-0-price": "1000001"}, "items-0-price"),
        Door(["quote", "price", "--item", "PHONE=1000001"], "PHONE"),
    ),
    Case(
        "this shipping method does not exist",
        quote,
        "price",
        Door({"shipping": [{"id": 999, "cost_net": 1}]}, "shipping[0].id"),
        Door({"method": "999", "method_cost": "1"}, "method_cost"),
        Door(["quote", "price", "--shipping", "999=1"], "shipping 999"),
    ),
    Case(
        "use GB",
        address_book,
        "",
        Door({**ADDRESS, "country_code": "UK"}, "country_code"),
        Door({**ADDRESS, "country_code": "UK"}, "country_code"),
    ),
    Case(
        "must have at most 200 characters",
        keys,
        "",
        Door({"name": "x" * 201}, "name"),
        Door({"name": "x" * 201}, "name"),
    ),
    Case(
        "must be an e-mail address",
        users,
        "",
        Door({"email": "nobody", "role": "buyer"}, "email"),
        Door({"email": "nobody", "role": "buyer"}, "email"),
    ),
    Case(
        "must start with https:// and a host",
        webhook,
        "",
        Door({"url": "ftp://hooks.example"}, "url"),
        Door({"url": "ftp://hooks.example"}, "url"),
        Door(["webhook", "add", "ftp://hooks.example"], "url"),
    ),
]


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
    response = staff.post(f"/api{about.path}{step}", json=_about(case.api.sent, about))
    assert response.status_code == 400, response.text
    [error] = response.json()["errors"]
    assert error["field"] == case.api.named
    assert case.message in error["message"]
    if case.page is not None:
        shown = sam.send(about.page or f"{about.path}{step}", _about(case.page.sent, about))
        assert shown.status_code == 400
        assert error["message"] in beside(shown, case.page.named)
        assert "items[" not in shown.text
        assert "(POST /" not in shown.text
    if case.command is not None:
        program, verb, *options = _about(case.command.sent, about)
        told = tradecounter.error(program, verb, *about.words, *options)
        assert f"{_about(case.command.named, about)}: {error['message']}" in told


def beside(page: httpx2.Response, name: str, form: str = "form") -> str:
    """The message beside a field of a form."""
    _, found, after = page.text.partition(f'id="{form}-{name}-error">')
    assert found, f"no message is beside {name}"
    text = unescape(after.partition("</p>")[0])
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


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
