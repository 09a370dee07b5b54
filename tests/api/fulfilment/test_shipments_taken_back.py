"""Shipments that never left are taken back, and their tracking numbers and carriers are corrected."""

import itertools
from typing import Any

import pytest

from support.billing import issue_part
from support.events import events
from support.mail import deliver_mail, internal_id, plain, send_for, shown
from support.orders import (
    buy,
    cancel,
    correct,
    dispatch,
    faults_in_the_books,
    level,
    lines,
    outstanding,
    read,
    rows,
    sell,
    shipments,
    take_back,
)  # fmt: skip
from support.service import Customer, Service
from support.shop import product
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.orders.reseller_wire import Tracking
from tradecounter.returns.handle_returns import close_return, open_return, receive_return
from tradecounter.returns.wire import ReceivedUnits, ReturnedUnits, ReturnRequest
from tradecounter.shipments.fulfilment import add_video, track_shipment
from tradecounter.shipments.wire import OrderVideoResponse, Serial


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer(order_mails=True)


@pytest.fixture(autouse=True)
def _books(shop: Service) -> Any:
    yield
    assert faults_in_the_books(shop) == {}


def rejected(shop: Service, placed: dict[str, Any], shipment: int, reason: str = "a test") -> tuple[Kind, str]:
    with pytest.raises(DomainError) as error:
        take_back(shop, placed, shipment, reason)
    return error.value.kind, error.value.message


def returned(shop: Service, placed: dict[str, Any], units: int, serials: tuple[str, ...] = ()) -> str:
    name, now = str(placed["order_reference"]), shop.clock.now()
    request = ReturnRequest([ReturnedUnits(placed["items"][0]["id"], units, list(serials))], "Faulty")
    return shop.in_transaction(lambda tx: open_return(tx, name, request, now))


def test_units_are_allocated_again_and_serial_numbers_are_free(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "BACK", available=5)
    owed = outstanding(shop, customer)
    placed = buy(customer, [(sku, 3)])
    item = placed["items"][0]["id"]
    owes = outstanding(shop, customer)
    serials = [Serial(item, f"BACK-{n}") for n in range(3)]
    dispatch(shop, placed, tracking_number="B-1", serials=serials)
    tracking = Tracking("Collected", "At the depot")
    name, now = str(placed["order_reference"]), shop.clock.now()
    shop.in_transaction(lambda tx: track_shipment(tx, name, tracking, now))
    video = OrderVideoResponse("https://v.example/1.mp4", "https://v.example/1.m3u8")
    shop.in_transaction(lambda tx: add_video(tx, name, video, now))
    [shipment] = shipments(shop, placed)
    take_back(shop, placed, shipment)
    found = read(customer, placed)
    [shipping] = found["shipping"]
    assert found["status"] == "Awaiting dispatch"
    assert "tracking_number" not in shipping
    assert shipping["tracking_events"] == found["items"][0]["serial_numbers"] == []
    assert found["items"][0]["quantity_dispatched"] == 0
    assert (level(shop, sku), lines(shop, placed)) == ((2, 3, 0), [(sku, 3, 0)])
    assert customer.get(f"/order/{placed['order_id']}/video").status_code == 404
    assert outstanding(shop, customer) == owes
    dispatch(shop, placed, tracking_number="B-2", serials=serials)
    assert read(customer, placed)["status"] == "Dispatched"
    assert level(shop, sku) == (2, 0, 0)
    take_back(shop, placed, shipments(shop, placed)[0])
    cancel(shop, placed)
    assert (read(customer, placed)["status"], level(shop, sku)) == ("Cancelled", (5, 0, 0))
    assert outstanding(shop, customer) == owed


def test_one_of_two_shipments_is_taken_back(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "TWO", available=2)
    placed = buy(customer, [(sku, 4)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 1), tracking_number="ONE")
    dispatch(shop, placed, (item, 1), tracking_number="TWO")
    first, second = shipments(shop, placed)
    take_back(shop, placed, first)
    found = read(customer, placed)
    assert (found["status"], shipments(shop, placed)) == ("Part dispatched", [second])
    assert found["shipping"][0]["tracking_number"] == "TWO"
    assert found["shipping"][0]["cost_net"] > 0, "the shipment that remains has the shipping cost"
    take_back(shop, placed, second)
    assert read(customer, placed)["status"] == "Back-ordered"
    assert level(shop, sku) == (0, 2, 2)
    waits = buy(customer, [(sku, 1)])
    cancel(shop, placed, "a test", (item, 3))
    assert lines(shop, waits) == [(sku, 1, 0)], "units that came back and are cancelled serve the order that waits"
    assert (level(shop, sku), lines(shop, placed)) == ((0, 2, 0), [(sku, 1, 0)])


def test_a_closed_return_stays_closed_when_its_order_is_cancelled_later(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    item, now = placed["items"][0]["id"], shop.clock.now()
    dispatch(shop, placed)
    number = returned(shop, placed, 1)
    shop.in_transaction(lambda tx: close_return(tx, number, now))
    take_back(shop, placed, shipments(shop, placed)[0])
    cancel(shop, placed)
    for change in (
        lambda tx: close_return(tx, number, now),
        lambda tx: receive_return(tx, number, [ReceivedUnits(item, 1)], now),
    ):
        with pytest.raises(DomainError, match=f"{number} is already closed") as error:
            shop.in_transaction(change)
        assert error.value.kind is Kind.CONFLICT


def test_the_components_of_a_bundle_follow(shop: Service, customer: Customer) -> None:
    shop.must_load("products", [product("TB-BASE")])
    kit = sell(shop, "TB-KIT", 70, available=9, components=[{"sku": "TB-BASE", "quantity": 2}])
    placed = buy(customer, [(kit, 2)])
    [item] = read(customer, placed)["items"]
    part = item["related_items"][0]["id"]
    dispatch(shop, placed, serials=[Serial(part, "TB-1")])
    take_back(shop, placed, shipments(shop, placed)[0])
    [item] = read(customer, placed)["items"]
    assert item["related_items"][0]["quantity_dispatched"] == item["quantity_dispatched"] == 0
    assert item["related_items"][0]["serial_numbers"] == []
    assert level(shop, kit) == (7, 2, 0)
    dispatch(shop, placed)
    assert level(shop, kit) == (7, 0, 0)


def test_only_a_shipment_of_the_order_is_taken_back_once_with_a_reason(shop: Service, customer: Customer) -> None:
    placed, other = buy(customer), buy(customer)
    dispatch(shop, placed)
    dispatch(shop, other)
    [shipment], [foreign] = shipments(shop, placed), shipments(shop, other)
    reference = placed["order_reference"]
    for blank in ("", " \t\n"):
        kind, message = rejected(shop, placed, shipment, blank)
        assert (kind, "reason" in message) == (Kind.INVALID, True)
    for unknown in (foreign, 2**62):
        assert rejected(shop, placed, unknown) == (Kind.NOT_FOUND, f"{reference} has no shipment {unknown}")
    take_back(shop, placed, shipment)
    gone = (Kind.CONFLICT, f"shipment {shipment} of {reference} was taken back")
    assert rejected(shop, placed, shipment) == gone
    with pytest.raises(DomainError) as error:
        correct(shop, placed, shipment, tracking_number="NEW")
    assert (error.value.kind, error.value.message) == gone
    cancel(shop, placed)
    assert rejected(shop, placed, shipment) == gone


def test_nothing_that_is_invoiced_is_taken_back(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 3)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, (item, 2))
    number = issue_part(shop, placed).number
    dispatch(shop, placed)
    first, second = shipments(shop, placed)
    kind, message = rejected(shop, placed, first)
    assert (kind, f"is on invoice {number}" in message) == (Kind.CONFLICT, True)
    take_back(shop, placed, second)
    assert read(customer, placed)["items"][0]["quantity_dispatched"] == 2
    assert shipments(shop, placed) == [first]
    dispatch(shop, placed)
    issue_part(shop, placed)
    assert rejected(shop, placed, shipments(shop, placed)[1])[0] is Kind.CONFLICT


def test_units_that_came_back_or_are_expected_back_did_leave(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "LEFT-IT", available=9)
    placed = buy(customer, [(sku, 2)])
    item, now = placed["items"][0]["id"], shop.clock.now()
    dispatch(shop, placed, serials=[Serial(item, "L-1"), Serial(item, "L-2")])
    [shipment] = shipments(shop, placed)
    number = returned(shop, placed, 1, ("L-2",))
    assert rejected(shop, placed, shipment)[0] is Kind.CONFLICT
    shop.in_transaction(lambda tx: close_return(tx, number, now))
    take_back(shop, placed, shipment)
    assert level(shop, sku) == (7, 2, 0)
    dispatch(shop, placed, (item, 1), serials=[Serial(item, "L-1")])
    dispatch(shop, placed, (item, 1), serials=[Serial(item, "L-2")])
    first, second = shipments(shop, placed)
    number = returned(shop, placed, 1, ("L-2",))
    shop.in_transaction(lambda tx: receive_return(tx, number, [ReceivedUnits(item, 1)], now))
    assert rejected(shop, placed, second) == (Kind.CONFLICT, f"the serial number 'L-2' is in {number}")
    take_back(shop, placed, first)
    assert level(shop, sku) == (8, 1, 0)


def test_the_customer_is_told_by_mail_and_by_event(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    item = placed["items"][0]["id"]
    dispatch(shop, placed, tracking_number="T-9", serials=[Serial(item, "TOLD-1")])
    deliver_mail(shop)
    [shipment] = shipments(shop, placed)
    take_back(shop, placed, shipment, "  The courier did not come & took nothing. ")
    [mail] = deliver_mail(shop)
    assert mail["Subject"] == f"Order {placed['order_reference']}: a shipment did not leave (your reference PO-1)"
    for text in (plain(mail), shown(mail)):
        for words in ("T-9", "The courier did not come & took nothing.", "PHONE"):
            assert words in text
    [event] = [e for e in events(shop, customer) if e["type"] == "order.shipment_taken_back"][-1:]
    items = [{"id": item, "sku": "PHONE", "quantity": 2, "serial_numbers": ["TOLD-1"]}]
    data = {name: event["data"][name] for name in ("shipment_id", "tracking_number", "items", "reason", "status")}
    assert data == {
        "shipment_id": shipment,
        "tracking_number": "T-9",
        "items": items,
        "reason": "The courier did not come & took nothing.",
        "status": "Awaiting dispatch",
    }
    [(before, after)] = rows(
        shop,
        "select before, after from audit_entry where subject = %s and action = 'shipment.take_back'",
        f"order/{placed['order_reference']}",
    )
    assert (before["status"], after["status"], before["items"]) == ("Dispatched", "Awaiting dispatch", items)


def test_no_mail_of_a_dispatch_follows_a_shipment_that_is_back_already(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    deliver_mail(shop)
    dispatch(shop, placed)
    [shipment] = shipments(shop, placed)
    take_back(shop, placed, shipment)
    assert ["did not leave" in mail["Subject"] for mail in deliver_mail(shop)] == [True]
    assert send_for(shop, "mail_order_dispatched", order_id=internal_id(shop, placed), shipment_id=shipment) == []


def test_an_automatic_invoice_of_a_shipment_that_is_back_is_not_issued(shop: Service, customer: Customer) -> None:
    for ended in (False, True):
        placed = buy(customer)
        dispatch(shop, placed, invoice=True)
        take_back(shop, placed, shipments(shop, placed)[0])
        if ended:
            cancel(shop, placed)
        deliver_mail(shop)
        found = rows(
            shop,
            "select status::text, attempts from procrastinate_jobs where task_name = 'invoice_dispatch'"
            " and (args ->> 'order_id')::bigint = %s",
            internal_id(shop, placed),
        )
        assert found in ([], [("succeeded", 1)])
        assert rows(shop, "select from invoice where order_id = %s", internal_id(shop, placed)) == []


def test_an_automatic_invoice_of_units_that_came_back_is_not_issued(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    item, now = placed["items"][0]["id"], shop.clock.now()
    dispatch(shop, placed, (item, 1), invoice=True)
    request = ReturnRequest([ReturnedUnits(item, 1)], "Faulty")
    number = shop.in_transaction(lambda tx: open_return(tx, placed["order_reference"], request, now))
    shop.in_transaction(lambda tx: receive_return(tx, number, [ReceivedUnits(item, 1)], now))
    deliver_mail(shop)
    found = rows(
        shop,
        "select status::text, attempts from procrastinate_jobs where task_name = 'invoice_dispatch'"
        " and (args ->> 'order_id')::bigint = %s",
        internal_id(shop, placed),
    )
    assert found in ([], [("succeeded", 1)])
    assert rows(shop, "select from invoice where order_id = %s", internal_id(shop, placed)) == []


def test_a_tracking_number_is_corrected_and_the_customer_follows(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    dispatch(shop, placed, tracking_number="WRONG")
    [shipment] = shipments(shop, placed)
    correct(shop, placed, shipment, tracking_number=" RIGHT ")
    correct(shop, placed, shipment, tracking_number="RIGHT")
    assert read(customer, placed)["shipping"][0]["tracking_number"] == "RIGHT"
    told = [e["data"] for e in events(shop, customer) if e["data"].get("shipment_id") == shipment][1:]
    assert [(data["tracking_number"], data["carrier"]) for data in told] == [("RIGHT", None)]
    changes = rows(
        shop,
        "select before, after from audit_entry where subject = %s and action = 'shipment.correct'",
        f"order/{placed['order_reference']}",
    )
    assert changes == [
        ({"tracking_number": "WRONG"}, {"shipment_id": shipment, "tracking_number": "RIGHT"}),
    ]
    correct(shop, placed, shipment, tracking_number=None)
    assert "tracking_number" not in read(customer, placed)["shipping"][0]


def test_a_correction_is_checked(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    dispatch(shop, placed, tracking_number="KEPT")
    [shipment] = shipments(shop, placed)
    for field, value in itertools.product(("tracking_number", "carrier"), ("  ", "", "x" * 101)):
        with pytest.raises(DomainError) as error:
            correct(shop, placed, shipment, **{field: value})
        assert error.value.kind is Kind.INVALID
    with pytest.raises(DomainError, match="send tracking_number, carrier or both"):
        correct(shop, placed, shipment)
    with pytest.raises(DomainError) as error:
        correct(shop, placed, 2**62, tracking_number="NEW")
    assert error.value.kind is Kind.NOT_FOUND
    assert read(customer, placed)["shipping"][0]["tracking_number"] == "KEPT"
