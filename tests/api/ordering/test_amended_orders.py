"""Amendments of confirmed orders: units, prices, lines, address, method, reference; with a preview."""

from decimal import Decimal
from typing import Any

import pytest

from support.mail import deliver_mail, plain
from support.orders import (
    amend,
    buy,
    cancel,
    confirm,
    create,
    dispatch,
    faults_in_the_books,
    in_parallel,
    level,
    lines,
    outstanding,
    read,
    rows,
    sell,
)  # fmt: skip
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service
from support.shop import ADDRESS, EUROPE, GERMAN_ADDRESS, METHODS, NEXT_DAY, STANDARD, product
from tradecounter.kit.errors import DomainError, Kind


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(order_mails=True)


def item(placed: dict[str, Any], number: int = 0) -> int:
    return int(placed["items"][number]["id"])


def kind_of(shop: Service, placed: dict[str, Any], **body: Any) -> Kind:
    with pytest.raises(DomainError) as error:
        amend(shop, placed, **body)
    return error.value.kind


def test_units_prices_and_new_lines_change_as_one_step(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "MORE", 10, available=5)
    owed = outstanding(shop, customer)
    placed = buy(customer, [(sku, 2), ("PHONE", 1), ("CABLE", 2)])
    body: dict[str, Any] = {
        "items": [
            {"id": item(placed), "quantity": 7},
            {"id": item(placed, 1), "unit_cost": 44.50},
            {"id": item(placed, 2), "quantity": 0},
            {"sku": "switch", "quantity": 1, "unit_cost": 250},
            {"sku": "PHONE", "quantity": 5},
        ],
        "customer_reference": "PO-2",
    }
    before = read(customer, placed)
    preview = amend(shop, placed, dry_run=True, **body)
    assert read(customer, placed) == before
    amended = amend(shop, placed, **body)
    assert amended.gross == preview.gross
    found = read(customer, placed)
    assert [(i["product"]["sku"], i["quantity"], i["cost_net"]) for i in found["items"]] == [
        (sku, 7, 70), ("PHONE", 1, 44.5), ("SWITCH", 1, 250), ("PHONE", 5, 225),
    ]  # fmt: skip
    assert (found["customer_reference"], found["status"]) == ("PO-2", "Back-ordered")
    assert found["shipping"][0]["cost_net"] == 14  # 18 kg
    assert level(shop, sku) == (0, 5, 2)
    assert outstanding(shop, customer) == owed + amended.gross
    cancel(shop, placed)
    assert outstanding(shop, customer) == owed
    assert faults_in_the_books(shop) == {}


def test_what_is_left_after_a_dispatch_fits_the_shipping_method(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "WEIGHS-1-KG", available=30)
    placed = buy(customer, [(sku, 28)], method=STANDARD)  # which takes 30 kg
    dispatch(shop, placed, (item(placed), 20))
    carriage = read(customer, placed)["shipping"][0]["cost_net"]
    with pytest.raises(DomainError, match=r"items: would leave 33 kg to dispatch, and Slowpost, Standard, takes 30 kg"):
        amend(shop, placed, items=[{"sku": "SWITCH", "quantity": 5}])
    amend(shop, placed, items=[{"id": item(placed), "quantity": 50}])  # 30 are left
    assert kind_of(shop, placed, items=[{"id": item(placed), "quantity": 51}]) is Kind.INVALID
    assert read(customer, placed)["shipping"][0]["cost_net"] == carriage
    assert faults_in_the_books(shop) == {}


def test_an_amended_order_too_heavy_for_every_method_is_rejected(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [(sell(shop, "WEIGHS-1.5-KG", weight_kg=1.5), 1)])
    with pytest.raises(DomainError, match=r"no shipping method takes 1501\.5 kg to GB in region 1: .* takes 30 kg"):
        amend(shop, placed, items=[{"id": item(placed), "quantity": 1001}])


def test_what_is_left_of_a_quote_may_weigh_anything(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer, [(sell(shop, "QUOTED-1-KG", available=30), 28)])
    price_as_support(shop, quote, carriage=[(STANDARD, "40")])
    placed = confirm(customer, quote).json()
    dispatch(shop, placed, (item(placed), 20))
    amend(shop, placed, items=[{"id": item(placed), "quantity": 60}])
    assert read(customer, placed)["items"][0]["quantity"] == 60


def test_fewer_units_release_stock_to_those_who_wait(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "FEWER", 10, available=5)
    placed, waiting = buy(customer, [(sku, 5)]), buy(customer, [(sku, 2)])
    amend(shop, placed, items=[{"id": item(placed), "quantity": 2}])
    assert (level(shop, sku), lines(shop, waiting)) == ((1, 4, 0), [(sku, 2, 0)])
    assert read(customer, placed)["items"][0]["quantity_cancelled"] == 0
    assert faults_in_the_books(shop) == {}


def test_address_and_method_change_tax_and_carriage(shop: Service, customer: Customer) -> None:
    placed = buy(customer, method=STANDARD)
    amend(shop, placed, shipping_method={"id": NEXT_DAY})
    assert read(customer, placed)["shipping"][0]["cost_net"] == 10
    assert kind_of(shop, placed, shipping_address=GERMAN_ADDRESS) is Kind.INVALID  # the method does not deliver there
    amended = amend(shop, placed, shipping_address=GERMAN_ADDRESS, shipping_method={"id": EUROPE})
    assert (amended.tax_rate, amended.gross) == (Decimal(0), Decimal(70))
    found = read(customer, placed)
    assert (found["cost_tax"], found["shipping_address"]["city"], found["shipping"][0]["method_id"]) == (
        0, "Hamburg", EUROPE,
    )  # fmt: skip
    assert amend(shop, placed, shipping_address=ADDRESS, shipping_method={"id": STANDARD}).tax_rate == 20
    assert faults_in_the_books(shop) == {}


def test_the_carriage_stays_while_units_address_and_method_do(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 20)])
    carriage = read(customer, placed)["shipping"][0]["cost_net"]
    cancel(shop, placed, "a test", (item(placed), 15))
    amend(shop, placed, customer_reference="PO-3")
    amend(shop, placed, items=[{"id": item(placed), "unit_cost": 44}], shipping_method={"id": STANDARD})
    assert read(customer, placed)["shipping"][0]["cost_net"] == carriage
    amend(shop, placed, items=[{"id": item(placed), "quantity": 4}])
    assert read(customer, placed)["shipping"][0]["cost_net"] < carriage
    assert faults_in_the_books(shop) == {}


def test_the_same_address_without_its_id_is_no_other_address(shop: Service) -> None:
    customer = shop.customer()
    saved = customer.post("/customer/address", ADDRESS).json()["id"]
    placed = buy(customer, shipping_address={"id": saved})
    dispatched = buy(customer, [("PHONE", 2)], shipping_address={"id": saved})
    dispatch(shop, dispatched, (item(dispatched), 1))
    dearer = {**METHODS[0], "base_cost_net": 9}
    shop.must_load("shipping-methods", [dearer])
    for order in (placed, dispatched):
        before = read(customer, order)
        amend(shop, order, shipping_address=ADDRESS, customer_reference="PO-SAME")
        after = read(customer, order)
        assert (after["customer_reference"], after["shipping"]) == ("PO-SAME", before["shipping"])
    shop.must_load("shipping-methods", [METHODS[0]])
    assert faults_in_the_books(shop) == {}


def test_an_amendment_that_changes_nothing_tells_nobody(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    body: dict[str, Any] = {
        "items": [{"id": item(placed), "quantity": 3, "unit_cost": 44}],
        "customer_reference": "PO-TWICE",
    }
    amend(shop, placed, **body)
    before = read(customer, placed)
    deliver_mail(shop)
    amend(shop, placed, **body, reason="Sent again")
    assert (deliver_mail(shop), read(customer, placed)) == ([], before)
    changes = "select count(*) from order_change c join orders o on o.id = c.order_id where o.order_reference = %s"
    audited = "select count(*) from audit_entry where action = 'order.amend' and subject = %s"
    reference = placed["order_reference"]
    assert (rows(shop, changes, reference), rows(shop, audited, f"order/{reference}")) == ([(1,)], [(1,)])


def test_an_amended_order_has_no_more_lines_than_a_new_one(shop: Service) -> None:
    customer = shop.customer(credit="9000000.00")
    placed = buy(customer, [("CABLE", 1)] * 500, method=NEXT_DAY)
    more: dict[str, Any] = {"items": [{"sku": "CABLE", "quantity": 1}]}
    with pytest.raises(DomainError, match="items: would make 501 lines: an order has at most 500"):
        amend(shop, placed, **more)
    amend(shop, placed, items=[{"id": item(placed), "quantity": 0}, *more["items"]])
    assert len(read(customer, placed)["items"]) == 500


def test_an_increase_beyond_the_credit_needs_an_override(shop: Service) -> None:
    customer = shop.customer(credit="100.00")
    placed = buy(customer)  # 66.60
    more: dict[str, Any] = {"items": [{"id": item(placed), "quantity": 2}]}
    with pytest.raises(
        DomainError, match=r"^the increase of £60\.60 including .* exceeds the available credit of £33\.40$"
    ):
        amend(shop, placed, **more)
    assert kind_of(shop, placed, **more) is Kind.PAYMENT_REQUIRED
    assert outstanding(shop, customer) == Decimal("66.60")
    amend(shop, placed, **more, override_credit={"reason": "Paid by card today"})
    assert outstanding(shop, customer) == Decimal("127.20")
    amend(shop, placed, items=[{"id": item(placed), "quantity": 1}])
    assert outstanding(shop, customer) == Decimal("66.60")
    entries = rows(
        shop,
        "select after from audit_entry where subject = %s and action = 'order.amend' order by id",
        f"order/{placed['order_reference']}",
    )
    assert [after.get("override_credit") for (after,) in entries] == ["Paid by card today", None]


def test_after_a_part_dispatch_only_the_rest_changes(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 3)])
    dispatch(shop, placed, (item(placed), 1))
    for body in (
        {"items": [{"id": item(placed), "quantity": 0}]},
        {"items": [{"id": item(placed), "unit_cost": 1}]},
        {"shipping_method": {"id": NEXT_DAY}},
    ):
        assert kind_of(shop, placed, **body) is Kind.CONFLICT
    amend(shop, placed, items=[{"id": item(placed), "quantity": 2}, {"sku": "CABLE", "quantity": 1}])
    found = read(customer, placed)
    assert (found["status"], [i["quantity"] for i in found["items"]]) == ("Part dispatched", [2, 1])
    dispatch(shop, placed)
    assert kind_of(shop, placed, items=[{"sku": "CABLE", "quantity": 1}]) is Kind.CONFLICT
    assert faults_in_the_books(shop) == {}


def test_impossible_amendments_change_nothing(shop: Service, customer: Customer) -> None:
    placed, pending = buy(customer, [("PHONE", 1)]), create(customer)
    before = read(customer, placed)
    for body in (
        {"items": [{"id": 1, "quantity": 1}]},
        {"items": [{"quantity": 1}]},
        {"items": [{"id": item(placed), "quantity": -1}]},
        {"items": [{"id": item(placed), "quantity": 0}]},
        {"items": [{"id": item(placed), "quantity": 1}, {"id": item(placed), "quantity": 2}]},
        {"items": [{"sku": "PHONE"}]},
        {"items": [{"sku": "NO-SUCH-PRODUCT", "quantity": 1}]},
        {"items": [{"id": item(placed), "unit_cost": 1.005}]},
        {"reason": "no change"},
        {"customer_reference": " "},
        {"shipping_address": {**ADDRESS, "country_code": "XX"}},
        {"shipping_method": {"id": 999}},
    ):
        assert kind_of(shop, placed, **body) is Kind.INVALID, body
    assert read(customer, placed) == before
    assert kind_of(shop, {"order_reference": pending["confirmation_code"]}, reason="x") is Kind.CONFLICT


def test_the_reason_is_recorded_without_the_spaces_around_it(shop: Service) -> None:
    customer = shop.customer()
    placed = buy(customer, [("PHONE", 1)])
    amend(shop, placed, items=[{"id": item(placed), "quantity": 2}], reason=" Wrong count ")
    amend(shop, placed, items=[{"id": item(placed), "quantity": 3}], reason="  ")
    changes = (
        "select c.reason from order_change c join orders o on o.id = c.order_id where o.customer_id = %s order by c.id"
    )
    assert rows(shop, changes, customer.id) == [("Wrong count",), ("",)]
    audited = "select after ->> 'reason' from audit_entry where action = 'order.amend' and subject = %s order by id"
    assert rows(shop, audited, f"order/{placed['order_reference']}") == [("Wrong count",), (None,)]


def test_a_unique_reference_stays_unique(shop: Service) -> None:
    customer = shop.customer(unique_references=True)
    first, second = buy(customer, customer_reference="A"), buy(customer, customer_reference="B")
    assert kind_of(shop, second, customer_reference=" a ") is Kind.CONFLICT
    amend(shop, first, customer_reference="a")
    assert read(customer, first)["customer_reference"] == "a"


def test_bundles_are_amended_with_their_components_and_the_customer_is_told(shop: Service, customer: Customer) -> None:
    shop.must_load("products", [product("AM-BASE")])
    kit = sell(shop, "AM-KIT", 70, available=9, components=[{"sku": "AM-BASE", "quantity": 2}])
    placed = buy(customer, [("PHONE", 1)])
    deliver_mail(shop)
    amend(shop, placed, items=[{"sku": kit, "quantity": 3}], reason="As agreed by phone")
    bundle = read(customer, placed)["items"][1]
    amend(shop, placed, items=[{"id": bundle["id"], "quantity": 2}])
    [_, found] = read(customer, placed)["items"]
    assert (found["quantity"], found["related_items"][0]["quantity"]) == (2, 4)
    amend(shop, placed, items=[{"id": bundle["id"], "quantity": 0}])
    assert [i["product"]["sku"] for i in read(customer, placed)["items"]] == ["PHONE"]
    mails = deliver_mail(shop)
    assert {mail["Subject"] for mail in mails} == {f"Order {placed['order_reference']} amended (your reference PO-1)"}
    assert ["As agreed by phone" in plain(mail) for mail in mails].count(True) == 1
    assert faults_in_the_books(shop) == {}


def test_amendments_and_orders_at_the_same_time_keep_the_books(shop: Service) -> None:
    customer = shop.customer(credit="2000.00")
    skus = [sell(shop, f"RACE-{n}", 10, available=6) for n in (1, 2)]
    placed = [buy(customer, [(sku, 3) for sku in skus[::turn]]) for turn in (1, -1)]

    def change(number: int, quantity: int) -> None:
        order = placed[number]
        amend(shop, order, items=[{"id": item(order, n), "quantity": quantity} for n in (0, 1)])

    in_parallel([
        lambda: change(0, 1), lambda: change(1, 9), lambda: cancel(shop, placed[0], "a test", (item(placed[0]), 1)),
        lambda: buy(customer, [(sku, 2) for sku in skus]), lambda: dispatch(shop, placed[1], (item(placed[1]), 1)),
    ])  # fmt: skip
    assert faults_in_the_books(shop) == {}
