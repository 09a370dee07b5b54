"""A wrong value gets one message at every door, at the field that the door has for it.

Each case is one fault, sent to the API, a page and a command. The API names the field by its path, the page shows the
message beside the field, the command names the option or the item.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.billing import invoiced, number_of, pay_in
from support.command_line import SECRET, Forker, Program
from support.orders import buy, dispatch, sell, shipments
from support.pages import Person, beside, staff_member
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, stock_shop
from support.shop import order as order_of
from tradecounter.db.transaction import Transaction
from tradecounter.returns.open_return import open_return
from tradecounter.returns.requests import ReturnedUnits, ReturnRequest
from tradecounter.shipments.requests import Serial

Body = dict[str, Any]

SELLER = {"seller_name": "Trade & Sons", "seller_address": "York", "seller_vat_number": "GB123456782"}


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
    method: str = "POST"  # of the API


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
    path = f"/customer/{customer.id}/key"
    return About(path, [str(customer.id)], page=f"{path}/new")


def users(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}/user"
    return About(path, [str(customer.id)], page=f"{path}/invite")


def webhook(_service: Service, _customer: Customer) -> About:
    return About("/webhook", page="/webhook/new")


def the_customer(_service: Service, customer: Customer) -> About:
    return About(f"/customer/{customer.id}", [str(customer.id)])


def terms(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}"
    return About(path, [str(customer.id)], page=f"{path}/trade-terms")


def people(_service: Service, customer: Customer) -> About:
    path = f"/customer/{customer.id}"
    return About(f"{path}/contact", [str(customer.id)], page=f"{path}/contact-person/new")


def shipment(service: Service, customer: Customer) -> About:
    placed = buy(customer)
    dispatch(service, placed)
    [number] = shipments(service, placed)
    reference = placed["order_reference"]
    return About(f"/order/{reference}/shipment/{number}", [reference, str(number)])


def opened_return(service: Service, customer: Customer) -> About:
    about = dispatched_order(service, customer)

    async def work(tx: Transaction) -> str:
        units = [ReturnedUnits(about.item, 2)]
        return await open_return(tx, about.words[0], ReturnRequest(units, "a test"), service.clock.now())

    number = service.in_transaction(work)
    return About(f"/return/{number}", [number], about.item)


def invoice(service: Service, customer: Customer) -> About:
    number = str(number_of(service, invoiced(service, customer)))
    return About(f"/invoice/{number}", [number])


def payments(_service: Service, customer: Customer) -> About:
    return About("/payment", item=customer.id, page="/payment/new")


def payment(service: Service, customer: Customer) -> About:
    number = str(pay_in(service, customer, "1.00").id)
    return About(f"/payment/{number}", [number])


def request(_service: Service, customer: Customer) -> About:
    reference = buy(customer)["order_reference"]
    asked = customer.post("/request", {"kind": "message", "order_reference": reference, "text": "When?"}).json()
    path = f"/request/{asked['id']}"
    return About(path, [str(asked["id"])], page=f"{path}/answer")


def adjustment(_service: Service, _customer: Customer) -> About:
    return About("/stock/adjustment", page="/stock-adjustment")


def same(
    message: str,
    of: Callable[[Service, Customer], About],
    step: str,
    wrong: Body,
    command: list[str],
    others: Body | None = None,
    *,
    argument: bool = False,
    method: str = "POST",
) -> Case:
    """A fault of a field that has one name everywhere; `others` are sent too, and `command` is the rest of the command.

    The option has the field's name; an `argument` comes last.
    """
    [(name, value)] = wrong.items()
    option = f"--{name.replace('_', '-')}"
    typed = Door([*command, str(value)], name) if argument else Door([*command, option, str(value)], option)
    sent = Door((others or {}) | wrong, name)
    return Case(message, of, step, sent, sent, typed, method)


ITEM = "ITEM"  # stands for the id of the line
_LEFT = "PHONE has 2 units left: its quantity must be from 1 to 2"
_LONG_TEXT = "x" * 1_001
_REASON = "1000 characters"
_CREDIT = ("credit-note", "add")
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
    same("must have at most 200 characters", keys, "", {"name": "x" * 201}, ["key", "add"]),
    Case(
        "must be a network such as 203.0.113.0/24",
        keys,
        "",
        Door({"name": "ERP", "networks": ["here"]}, "networks[0]"),
        Door({"name": "ERP", "scopes": "read", "networks": "here"}, "networks"),
        Door(["key", "add", "--network", "here"], "--network here"),
    ),
    Case(
        "must be in the future",
        keys,
        "",
        Door({"name": "ERP", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        Door({"name": "ERP", "scopes": "read", "last_day": "2020-01-01"}, "last_day"),
        Door(["key", "add", "--expires", "2020-01-01"], "--expires"),
    ),
    Case(
        "must be an e-mail address",
        users,
        "",
        Door({"email": "nobody", "role": "buyer"}, "email"),
        Door({"email": "nobody", "role": "buyer"}, "email"),
        Door(["user", "invite", "nobody", "--role", "buyer"], "email"),
    ),
    Case(
        "must start with https:// and a host",
        webhook,
        "",
        Door({"url": "ftp://hooks.example"}, "url"),
        Door({"url": "ftp://hooks.example"}, "url"),
        Door(["webhook", "add", "ftp://hooks.example"], "url"),
    ),
    Case(
        "must have at most 200 characters",
        webhook,
        "",
        Door({"url": "https://hooks.example", "description": "x" * 201}, "description"),
        Door({"url": "https://hooks.example", "description": "x" * 201}, "description"),
        Door(["webhook", "add", "https://hooks.example", "--description", "x" * 201], "--description"),
    ),
    same(_REASON, the_customer, "block", {"reason": _LONG_TEXT}, ["customer", "block"]),
    same("500", order, "tracking", {"description": "x" * 501}, ["order", "track", "--type", "T"], {"type": "T"}),
    same("characters", order, "note", {"text": "x" * 5_001}, ["order", "note"], argument=True),
    same("characters", the_customer, "note", {"text": "x" * 2_001}, ["customer", "note"], argument=True),
    same("characters", shipment, "", {"carrier": "x" * 201}, ["order", "shipment"], method="PATCH"),
    same(_REASON, shipment, "take-back", {"reason": _LONG_TEXT}, ["order", "take-back"]),
    same(_REASON, quote, "decline", {"reason": _LONG_TEXT}, ["quote", "decline"]),
    Case(
        _REASON,
        order,
        "cancel",
        Door({"reason": _LONG_TEXT}, "reason"),
        Door({"reason": _LONG_TEXT, "items-0-id": ITEM, "items-0-quantity": "1"}, "reason"),
        Door(["order", "cancel", "--reason", _LONG_TEXT], "--reason"),
    ),
    same(_REASON, payment, "reverse", {"reason": _LONG_TEXT}, ["payment", "reverse"]),
    same(_REASON, invoice, "credit-note", {"reason": _LONG_TEXT}, [*_CREDIT, "--amount", "1"], {"amount": 1}),
    same("must be at most", invoice, "credit-note", {"amount": 9_999}, [*_CREDIT, "--reason", "r"], {"reason": "r"}),
    same("does not exist", terms, "", {"price_list": "none"}, ["customer", "edit"], method="PATCH"),
    same(
        "must be an e-mail address",
        people,
        "",
        {"email": "nobody"},
        ["customer", "add-contact", "--name", "A"],
        {"name": "A"},
    ),
    same("characters", request, "close", {"text": "x" * 5_001}, ["request", "close"]),
    Case(
        "must be more than 0",
        payments,
        "",
        Door({"customer_id": ITEM, "amount": 0}, "amount"),
        Door({"customer_id": ITEM, "amount": "0"}, "amount"),
        Door(["payment", "add", "0", "--customer", ITEM], "amount"),
    ),
    Case(
        "characters",
        payments,
        "",
        Door({"customer_id": ITEM, "amount": 1, "reference": "x" * 201}, "reference"),
        Door({"customer_id": ITEM, "amount": "1", "reference": "x" * 201}, "reference"),
        Door(["payment", "add", "1", "--customer", ITEM, "--reference", "x" * 201], "--reference"),
    ),
    Case(
        "PHONE has 2 expected units",
        opened_return,
        "receive",
        Door({"items": [{"id": ITEM, "restock": 3}]}, "items[0].restock"),
        Door({"items-0-id": ITEM, "items-0-restock": "3"}, "items-0-restock"),
        Door(["return", "receive", "--restock", "ITEM=3"], "item ITEM"),
    ),
    Case(
        "the unit cost must be between 0 and 1000000",
        order,
        "amend",
        Door({"reason": "r", "items": [{"id": ITEM, "unit_cost": 1_000_001}]}, "items[0].unit_cost"),
        Door(
            {
                "reason": "r",
                "items-0-id": ITEM,
                "items-0-had": "2",
                "items-0-cost": "10",
                "items-0-unit_cost": "1000001",
            },
            "items-0-unit_cost",
        ),
        Door(["order", "amend", "--reason", "r", "--price", "ITEM=1000001"], "item ITEM"),
        "PATCH",
    ),
    Case(
        _REASON,
        adjustment,
        "",
        Door({"items": [{"sku": "PHONE", "set": 1, "reason": _LONG_TEXT}]}, "items[0].reason"),
        Door({"sku": "PHONE", "set": "1", "reason": _LONG_TEXT}, "reason"),
        Door(["stock", "adjust", "PHONE", "--set", "1", "--reason", _LONG_TEXT], "--reason"),
    ),
    Case(
        "must",
        order,
        "video",
        Door({"video_file": "ftp://v", "streaming_playlist": "https://v.example/p"}, "video_file"),
        Door({"video_file": "ftp://v", "streaming_playlist": "https://v.example/p"}, "video_file"),
        Door(["order", "video", "--file", "ftp://v", "--playlist", "https://v.example/p"], "--file"),
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
