"""Cancellation of a part of an order: stock, credit, totals, status, and what the customer is told."""

from decimal import Decimal
from typing import Any

import pytest

from support.mail import deliver_mail, plain
from support.orders import (
    buy,
    cancel,
    dispatch,
    faults_in_the_books,
    level,
    lines,
    outstanding,
    read,
    rows,
    sell,
)  # fmt: skip
from support.service import Customer, Service
from support.shop import product
from tradecounter.kit.errors import DomainError, Kind


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(order_mails=True)


def figures(item: dict[str, Any]) -> tuple[int, int, int]:
    return item["quantity"], item["quantity_dispatched"], item["quantity_cancelled"]


def test_a_part_gives_stock_and_credit_back_and_totals_are_worked_out_again(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "CUT", "9.99", available=4)
    owed = outstanding(shop, customer)
    placed = buy(customer, [(sku, 6), ("PHONE", 1)])
    charged = outstanding(shop, customer) - owed
    item = placed["items"][0]["id"]
    with pytest.raises(DomainError, match="has 6 units left: its quantity must be from 1 to 6") as error:
        cancel(shop, placed, "too many", (item, 7))
    assert error.value.kind is Kind.INVALID
    cancel(shop, placed, "Changed plans", (item, 3))
    assert level(shop, sku) == (1, 3, 0), "back-ordered units are cancelled first"
    found = read(customer, placed)
    assert [figures(i) for i in found["items"]] == [(3, 0, 3), (1, 0, 0)]
    assert (found["cost_net"], found["cost_tax"]) == (79.97, 15.99)
    less = Decimal("29.97") + Decimal("11.99") - Decimal("5.99")
    assert outstanding(shop, customer) == owed + charged - less
    assert found["status"] == "Awaiting dispatch"
    cancel(shop, placed, "The rest of it", (item, 3))
    assert level(shop, sku) == (4, 0, 0)
    assert figures(read(customer, placed)["items"][0]) == (0, 0, 6)
    dispatch(shop, placed)
    assert read(customer, placed)["status"] == "Dispatched"
    assert faults_in_the_books(shop) == {}


def test_the_customer_is_told_what_is_cancelled_and_what_remains(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2), ("CABLE", 3)])
    deliver_mail(shop)
    cancel(shop, placed, "Out of range", (placed["items"][1]["id"], 2))
    [mail] = deliver_mail(shop)
    assert mail["Subject"] == f"Order {placed['order_reference']} part cancelled (your reference PO-1)"
    text = plain(mail)
    for words in ("Out of range", "2 x CABLE", "1 x £1.99", "2 x £50.00"):
        assert words in text
    assert "2 x CABLE" not in text.split("Your order is now")[1]
    [(type_, data)] = rows(
        shop, "select type, data from (select type, data from unnumbered_event union all select type, data from event)"
        " as e where data ->> 'order_reference' = %s and type = 'order.cancelled'", placed["order_reference"],
    )  # fmt: skip
    assert (type_, data["reason"], data["items"]) == (
        "order.cancelled",
        "Out of range",
        [{"id": placed["items"][1]["id"], "sku": "CABLE", "quantity": 2}],
    )
    [(action, after)] = rows(
        shop,
        "select action, after from audit_entry where subject = %s and action <> 'order.confirm'",
        f"order/{placed['order_reference']}",
    )
    assert (action, after["reason"], after["cancelled"]) == ("order.cancel", "Out of range", data["items"])


def test_what_is_left_of_a_part_dispatched_order_is_cancelled(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "LEFT", 10, available=3)
    placed, waiting = buy(customer, [(sku, 3)]), buy(customer, [(sku, 2)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 1))
    cancel(shop, placed)
    found = read(customer, placed)
    assert (found["status"], figures(found["items"][0])) == ("Dispatched", (1, 1, 2))
    assert lines(shop, waiting) == [(sku, 2, 0)], "the released units serve the order that waits"
    with pytest.raises(DomainError, match="nothing is left to cancel"):
        cancel(shop, placed, "again", (item, 1))
    cancel(shop, waiting, "all of it, by its items", (waiting["items"][0]["id"], 2))
    assert read(customer, waiting)["status"] == "Cancelled"
    assert faults_in_the_books(shop) == {}


def test_bundles_are_cancelled_with_their_components(shop: Service, customer: Customer) -> None:
    shop.must_load("products", [product("CP-BASE")])
    kit = sell(shop, "CP-KIT", 70, available=9, components=[{"sku": "CP-BASE", "quantity": 2}])
    placed = buy(customer, [(kit, 4)])
    [item] = read(customer, placed)["items"]
    [part] = item["related_items"]
    with pytest.raises(DomainError, match=f"is a component of CP-KIT: cancel item {item['id']}"):
        cancel(shop, placed, "a test", (part["id"], 2))
    dispatch(shop, placed, (item["id"], 1))
    cancel(shop, placed, "a test", (item["id"], 2))
    [item] = read(customer, placed)["items"]
    assert (figures(item), [figures(p) for p in item["related_items"]]) == ((2, 1, 2), [(4, 2, 4)])
    cancel(shop, placed)
    [item] = read(customer, placed)["items"]
    assert (figures(item), [figures(p) for p in item["related_items"]]) == ((1, 1, 3), [(2, 2, 6)])
    assert faults_in_the_books(shop) == {}
