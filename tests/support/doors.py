"""Wrong values, each sent to the API of the back office, a page of it and a command."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support.billing import invoiced, number_of, pay_in
from support.orders import buy, create, dispatch, shipments
from support.quotes import request_quote
from support.service import Customer, Service
from support.shop import ADDRESS
from tradecounter.db.transaction import Transaction
from tradecounter.returns.open_return import open_return
from tradecounter.returns.requests import ReturnedUnits, ReturnRequest
from tradecounter.shipments.requests import Serial
from tradecounter.webhooks.manage_endpoints import add_webhook
from tradecounter.webhooks.policy import WebhookPolicy
from tradecounter.webhooks.wire import WebhookRequest

Body = dict[str, Any]

SELLER = {"seller_name": "Trade & Sons", "seller_address": "York", "seller_vat_number": "GB123456782"}


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


def made_webhook(service: Service, _customer: Customer) -> About:
    policy, request = WebhookPolicy.from_settings(service.settings), WebhookRequest(url="https://hooks.example/")
    made = service.in_transaction(lambda tx: add_webhook(tx, policy, request, service.clock.now()))
    return About(f"/webhook/{made.id}", [str(made.id)])


def edited_webhook(service: Service, customer: Customer) -> About:
    about = made_webhook(service, customer)
    return About(about.path, about.words, page=f"{about.path}/edit")


def new_customer(_service: Service, _customer: Customer) -> About:
    return About("/customer", page="/customer/new")


def pending_order(_service: Service, customer: Customer) -> About:
    code = create(customer)["confirmation_code"]
    return About(f"/order/{code}", [code])


def amended_order(service: Service, customer: Customer) -> About:
    about = order(service, customer)
    return About(about.path, about.words, about.item, f"{about.path}/amend")


def invoiced_line(service: Service, customer: Customer) -> About:
    placed = invoiced(service, customer)
    number = str(number_of(service, placed))
    return About(f"/invoice/{number}", [number], placed["items"][0]["id"])


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
_ADA = {"email_address": "new@shop.example", "first_name": "Ada", "last_name": "Byron"}
_ADA_TYPED = ("--email", "new@shop.example", "--first-name", "Ada", "--last-name", "Byron")
_LONG = "must have 1 to 100 characters, not only white space"

CASES = [
    Case(
        _LEFT,
        order,
        "dispatch",
        Door({"items": [{"id": ITEM, "quantity": 3}]}, "items[0].quantity"),
        Door({"items-0-id": ITEM, "items-0-quantity": "3"}, "items-0-quantity"),
        Door(["order", "dispatch", "--item", "ITEM=3"], "--item ITEM=3"),
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
        Door(["order", "cancel", "--reason", "r", "--item", "ITEM=3"], "--item ITEM=3"),
    ),
    Case(
        "PHONE has 2 units to return: its quantity must be from 1 to 2",
        dispatched_order,
        "return",
        Door({"reason": "r", "items": [{"id": ITEM, "quantity": 3}]}, "items[0].quantity"),
        Door({"reason": "r", "items-0-id": ITEM, "items-0-quantity": "3"}, "items-0-quantity"),
        Door(["order", "return", "--reason", "r", "--item", "ITEM=3"], "--item ITEM=3"),
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
        Door(["order", "return", "--reason", "r", "--item", "ITEM=1", "--serial", "ITEM:SN-9"], "--item ITEM=1"),
    ),
    Case(
        "the unit cost must be between 0 and 1000000",
        quote,
        "price",
        Door({"items": [{"sku": "PHONE", "cost_net": 1_000_001}]}, "items[0].cost_net"),
        Door({"items-0-sku": "PHONE", "items-0-price": "1000001"}, "items-0-price"),
        Door(["quote", "price", "--item", "PHONE=1000001"], "--item PHONE=1000001"),
    ),
    Case(
        "this shipping method does not exist",
        quote,
        "price",
        Door({"shipping": [{"id": 999, "cost_net": 1}]}, "shipping[0].id"),
        Door({"method": "999", "method_cost": "1"}, "method_cost"),
        Door(["quote", "price", "--shipping", "999=1"], "--shipping 999=1"),
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
    same("200", new_customer, "", {"company": "x" * 201}, ["customer", "add", *_ADA_TYPED], _ADA),
    same("200", terms, "", {"external_id": "x" * 201}, ["customer", "edit"], method="PATCH"),
    same("does not exist", terms, "", {"shipping_method": 99}, ["customer", "edit"], method="PATCH"),
    same(
        "https://",
        edited_webhook,
        "",
        {"url": "ftp://hooks.example"},
        ["webhook", "edit"],
        method="PATCH",
    ),
    Case(
        "must",
        made_webhook,
        "replay",
        Door({"from": 5, "to": 1}, "to"),
        Door({"from": "5", "to": "1"}, "to"),
        Door(["webhook", "replay", "--from", "5", "--to", "1"], "--to"),
    ),
    Case(
        "must",
        order,
        "dispatch",
        Door({"dispatched_at": "2099-01-01T10:00:00Z"}, "dispatched_at"),
        Door(
            {"items-0-id": ITEM, "items-0-quantity": "1", "dispatched_at": "2099-01-01T10:00"},
            "dispatched_at",
        ),
        Door(["order", "dispatch", "--at", "2099-01-01T10:00"], "--at"),
    ),
    Case(
        "100",
        order,
        "dispatch",
        Door({"carrier": "x" * 201}, "carrier"),
        Door({"items-0-id": ITEM, "items-0-quantity": "1", "carrier": "x" * 201}, "carrier"),
        Door(["order", "dispatch", "--carrier", "x" * 201], "--carrier"),
    ),
    Case(
        _REASON,
        dispatched_order,
        "return",
        Door({"reason": _LONG_TEXT, "items": [{"id": ITEM, "quantity": 1}]}, "reason"),
        Door({"reason": _LONG_TEXT, "items-0-id": ITEM, "items-0-quantity": "1"}, "reason"),
        Door(["order", "return", "--reason", _LONG_TEXT, "--item", "ITEM=1"], "--reason"),
    ),
    Case(
        "characters",
        amended_order,
        "amend",
        Door({"reason": "r", "customer_reference": "x" * 201}, "customer_reference"),
        Door(
            {
                "reason": "r",
                "customer_reference": "x" * 201,
                "items-0-id": ITEM,
                "items-0-had": "2",
                "items-0-cost": "10",
            },
            "customer_reference",
        ),
        Door(["order", "amend", "--reason", "r", "--reference", "x" * 201], "--reference"),
        "PATCH",
    ),
    Case(
        "99 is not among the shipping options",
        pending_order,
        "confirm",
        Door({"shipping_method": {"id": 99}}, "shipping_method.id"),
        Door({"shipping_method": "99"}, "shipping_method"),
    ),
    Case(
        "100",
        quote,
        "price",
        Door({"discount": 101}, "discount"),
        Door({"discount": "101"}, "discount"),
        Door(["quote", "price", "--discount", "101"], "--discount"),
    ),
    Case(
        "characters",
        quote,
        "price",
        Door({"discount": 1, "note": "x" * 5_001}, "note"),
        Door({"discount": "1", "note": "x" * 5_001}, "note"),
        Door(["quote", "price", "--discount", "1", "--note", "x" * 5_001], "--note"),
    ),
    Case(
        "",
        invoiced_line,
        "credit-note",
        Door({"reason": "r", "lines": [{"item_id": ITEM, "quantity": 5}]}, "lines[0].quantity"),
        Door({"reason": "r", "lines-0-item_id": ITEM, "lines-0-quantity": "5"}, "lines-0-quantity"),
        Door([*_CREDIT, "--reason", "r", "--item", "ITEM=5"], "--item ITEM=5"),
    ),
    Case(
        "",
        users,
        "",
        Door({"email": "new@shop.example", "role": "boss"}, "role"),
        Door({"email": "new@shop.example", "role": "boss"}, "role"),
    ),
    Case(
        "",
        adjustment,
        "",
        Door({"items": [{"sku": "PHONE", "change": 1_000_000_000, "reason": "r"}]}, "items[0].change"),
        Door({"sku": "PHONE", "change": "1000000000", "reason": "r"}, "change"),
        Door(["stock", "adjust", "PHONE", "--change", "1000000000", "--reason", "r"], "--change"),
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
