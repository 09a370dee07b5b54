"""`order create`, `confirm`, `amend`, `cancel`, `return` and `note`, and `return`: what they do, print and reject."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from support.command_line import Forker, Program
from support.orders import at, buy, create, dispatch, outstanding, read
from support.service import Customer, Service
from support.shop import ADDRESS, NEXT_DAY, STANDARD, order, stock_shop
from tradecounter.shipments.wire import Serial

pytestmark = pytest.mark.sweep  # seconds for each of its stories


@pytest.fixture(scope="module")
def tradecounter(service: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    stock_shop(service)
    return Program(tmp_path_factory.mktemp("after"), service.database_url, forker)


@pytest.fixture(scope="module")
def customer(service: Service, tradecounter: Program) -> Customer:
    assert tradecounter.url == service.database_url
    return service.customer(credit="1000.00")


UNITS = ("quantity", "quantity_allocated", "quantity_back_ordered", "quantity_dispatched", "quantity_cancelled")


def units(shown: dict[str, Any]) -> list[tuple[int, ...]]:
    return [tuple(item[name] for name in UNITS) for item in shown["items"]]


def test_an_order_is_created_for_a_customer_and_confirmed(
    service: Service, customer: Customer, tradecounter: Program
) -> None:
    body = json.dumps(order([("PHONE", 2)], shipping_method={"id": STANDARD}))
    create_order = ["order", "create", str(customer.id), "--file", "-"]
    pending = tradecounter.json(*create_order, given=body)
    assert (pending["state"], pending["items"][0]["unit_cost"]) == ("pending", 50)
    confirmed = tradecounter.json("order", "confirm", pending["confirmation_code"])
    assert (confirmed["state"], units(confirmed)) == ("confirmed", [(2, 2, 0, 0, 0)])
    dear = json.dumps(order([("PHONE", 50)], shipping_method={"id": NEXT_DAY}))
    assert "exceeds the available credit" in tradecounter.error(*create_order, "--confirm", given=dear)
    owed = outstanding(service, customer)
    forced = tradecounter.json(*create_order, "--confirm", "--override-credit", "Paid in advance", given=dear)
    assert float(outstanding(service, customer) - owed) == forced["total"] > 1000
    wrong = json.dumps(order([("NOTHING", 1)]))
    assert "items[0].sku: product 'NOTHING' does not exist" in tradecounter.error(*create_order, given=wrong)
    assert "customer 999 not found" in tradecounter.error("order", "create", "999", "--file", "-", given=body)


def test_an_order_is_amended_after_a_preview_and_cancelled_in_part(service: Service, tradecounter: Program) -> None:
    placed = buy(service.customer(), [("PHONE", 3), ("CABLE", 1)])
    reference, (phone, cable) = placed["order_reference"], (item["id"] for item in placed["items"])
    words = ["order", "amend", reference, "--item", f"{phone}=5", "--item", f"{cable}=0", "--price", f"{phone}=49.5",
             "--add", "switch=4", "--reference", "PO-9", "--address", "-"]  # fmt: skip
    address = json.dumps({**ADDRESS, "city": "York", "zip": "YO1 1AA"})
    before = tradecounter.json("order", "show", reference)
    preview = tradecounter.json(*words, "--dry-run", given=address)
    assert tradecounter.json("order", "show", reference) == before
    amended = tradecounter.json(*words, given=address)
    assert units(amended) == units(preview) == [(5, 5, 0, 0, 0), (4, 3, 1, 0, 0)]
    assert (amended["total"], amended["status"]) == (preview["total"], "Back-ordered")
    assert (amended["customer_reference"], amended["shipping_address"]["city"]) == ("PO-9", "York")
    cancelled = tradecounter.json("order", "cancel", reference, "--item", f"{phone}=2", "--reason", "Too many")
    assert units(cancelled)[0] == (3, 3, 0, 0, 2)
    assert "is not ITEM_ID=QUANTITY" in tradecounter.misused(
        "order", "cancel", reference, "--item", "x", "--reason", "r"
    )
    for words, problem in (
        (["--item", "1=1"], "item 1: is not in this order"),
        (["--address", "/nowhere/address.json"], "cannot be read"),
        (["--shipping-method", "99"], "99 is not among the shipping options"),
    ):
        assert problem in tradecounter.error("order", "amend", reference, *words)
    for words, problem in (
        (["--add", "PHONE=1.5"], "'--add': 'PHONE=1.5': '1.5' is not a whole number"),
        (["--price", "PHONE=1"], "'PHONE=1' is not ITEM_ID=UNIT_COST"),
        (["--item", f"{phone}=1", "--item", f"{phone}=2"], f"--item {phone} is named twice"),
        (["--price", f"{phone}=1", "--price", f"{phone}=2"], f"--price {phone} is named twice"),
    ):
        assert problem in tradecounter.misused("order", "amend", reference, *words)


def test_returns_and_notes_are_shown_with_the_order(service: Service, tradecounter: Program) -> None:
    customer = service.customer()
    placed = buy(customer, [("PHONE", 2)])
    reference, item = placed["order_reference"], placed["items"][0]["id"]
    dispatch(service, placed, serials=[Serial(item, "SN:1")])
    words = ("order", "return", reference, "--item", f"{item}=2", "--reason", "Faulty", "--serial")
    assert "'SN-9' was not dispatched with this item" in tradecounter.error(*words, f"{item}:SN-9")
    opened = tradecounter.json(
        "order", "return", reference, "--item", f"{item}=2", "--reason", "Faulty", "--serial", f"{item}:SN:1"
    )
    number = opened["number"]
    assert (opened["state"], opened["items"][0]["serial_numbers"]) == ("open", ["SN:1"])
    on_hand = tradecounter.json("stock", "show", "PHONE")["on_hand"]
    received = tradecounter.json("return", "receive", number, "--restock", f"{item}=1", "--scrap", f"{item}=1")
    assert (received["state"], received["items"][0]["received"]) == ("closed", 2)  # nothing of it is invoiced
    assert tradecounter.json("stock", "show", "PHONE")["on_hand"] == on_hand + 1
    assert number in [found["number"] for found in tradecounter.json("return", "list", "--state", "closed")]
    assert tradecounter.json("return", "list", "--state", "open") == []
    assert "SN:1" in tradecounter.text("return", "show", number)
    assert "RMA-9" in tradecounter.error("return", "show", "RMA-9")
    assert "is already closed" in tradecounter.error("return", "close", number)
    assert "is already closed" in tradecounter.error("return", "close", number)
    noted = tradecounter.json("order", "note", reference, "Called \x1b[31mthe customer")
    assert (noted["returns"], noted["items"][0]["quantity_returned"]) == ([number], 2)
    [note] = noted["notes"]
    assert note["text"] == "Called \x1b[31mthe customer"
    assert "\\x1b[31mthe customer" in tradecounter.text("order", "show", reference)
    assert "Called" not in customer.get(f"/order/{reference}").text
    with at(service, datetime.now(UTC)):
        code = create(customer)["confirmation_code"]
    assert "only dispatched units can be returned" in tradecounter.error(
        "order", "return", code, "--item", "1=1", "--reason", "x"
    )
    assert read(customer, placed)["status"] == "Dispatched"
