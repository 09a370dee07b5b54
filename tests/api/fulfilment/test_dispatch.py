"""Dispatching orders, whole and in part, as customers see it (specification, status labels, stock, orders)."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from support.backoffice import backoffice_of
from support.orders import buy, cancel, create, dispatch, faults_in_the_books, level, read, rows, sell
from support.service import Customer, Service
from support.shop import STANDARD
from tradecounter.kit.clock import moment_of
from tradecounter.kit.errors import DomainError
from tradecounter.orders.cancel_order import expire_orders
from tradecounter.orders.reseller_wire import Tracking
from tradecounter.shipments.dispatch import dispatch_order
from tradecounter.shipments.fulfilment import track_shipment
from tradecounter.shipments.wire import Dispatch, DispatchedItem, Serial

CONTACT = {"email_address": "gate@test.example", "phone_number": "+44 113 496 0000"}


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


def item_ids(placed: dict[str, Any]) -> list[int]:
    return [item["id"] for item in placed["items"]]


def track(shop: Service, placed: dict[str, Any], number: str | None = None, **sighting: Any) -> None:
    tracking = Tracking(**{"type": "In transit", "description": "Sorted", "tracking_number": number, **sighting})
    now = shop.clock.now()
    shop.in_transaction(lambda tx: track_shipment(tx, placed["order_reference"], tracking, now))


def jobs(shop: Service, placed: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the queued e-mails about an order's shipments."""
    return rows(
        shop,
        "select j.args ->> 'shipment_id'"
        " from procrastinate_jobs j join orders o on o.id = (j.args ->> 'order_id')::bigint"
        " where j.task_name = 'mail_order_dispatched' and o.id = %s order by j.id",
        placed["order_id"],
    )


def test_before_any_dispatch_there_is_one_shipping_entry_without_tracking(customer: Customer) -> None:
    [shipping] = read(customer, buy(customer, courier_notifications=CONTACT))["shipping"]
    assert shipping == {
        "method_id": STANDARD,
        "cost_net": 5.50,
        "cost_tax": 1.10,
        "tracking_events": [],
        "contact_email": "gate@test.example",
        "contact_phone": "+44 113 496 0000",
    }


@pytest.mark.spec("2 Order", "configurations, serial numbers and tracking events")
def test_a_whole_order_is_dispatched_in_one_shipment(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "WHOLE", available=5)
    placed = buy(customer, [(sku, 2), ("PHONE", 1)], courier_notifications=CONTACT)
    phone = item_ids(placed)[1]
    dispatch(shop, placed, tracking_number="T-1", serials=[Serial(phone, "SN1", "AA:BB:CC:DD:EE:FF", "PHONE-UK")])
    found = read(customer, placed)
    assert found["status"] == "Dispatched"
    [shipping] = found["shipping"]
    assert (shipping["tracking_number"], shipping["tracking_events"]) == ("T-1", [])
    assert (shipping["contact_email"], shipping["contact_phone"]) == tuple(CONTACT.values())
    assert "last_tracking_status" not in shipping
    assert [item["serial_numbers"] for item in found["items"]] == [
        [],
        [{"mac_address": "AA:BB:CC:DD:EE:FF", "serial_number": "SN1", "provisioning_sku": "PHONE-UK"}],
    ]
    assert level(shop, sku) == (3, 0, 0)
    assert [found] == [order for order in customer.get("/order").json() if order["id"] == placed["order_id"]]


def test_every_shipment_has_an_entry_and_the_first_has_the_shipping_cost(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "PARTS", available=5, weight_kg=1)
    placed = buy(customer, [(sku, 5)])
    [item] = item_ids(placed)
    before = read(customer, placed)["shipping"]
    dispatch(shop, placed, (item, 2), tracking_number="T-1")
    assert read(customer, placed)["status"] == "Part dispatched"
    assert level(shop, sku) == (0, 3, 0)
    dispatch(shop, placed, (item, 1))
    dispatch(shop, placed)
    found = read(customer, placed)
    assert found["status"] == "Dispatched"
    assert [s.get("tracking_number") for s in found["shipping"]] == ["T-1", None, None]
    for cost in ("cost_net", "cost_tax"):
        assert [s[cost] for s in found["shipping"]] == [before[0][cost], 0, 0]
    assert level(shop, sku) == (0, 0, 0)
    assert faults_in_the_books(shop) == {}


def test_units_received_later_are_dispatched_later(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "LATER", available=1)
    placed = buy(customer, [(sku, 3), ("PHONE", 1)])
    late, phone = item_ids(placed)
    with pytest.raises(DomainError, match=r"^LATER: .*1 of LATER, 1 of PHONE$"):
        dispatch(shop, placed)
    dispatch(shop, placed, (late, 1), (phone, 1))
    assert read(customer, placed)["status"] == "Part dispatched"
    shop.must_load("stock", [{"sku": sku, "available": 5}])
    assert read(customer, placed)["status"] == "Part dispatched"
    assert level(shop, sku) == (3, 2, 0)
    dispatch(shop, placed)
    assert read(customer, placed)["status"] == "Dispatched"
    assert faults_in_the_books(shop) == {}


def test_two_lines_of_one_product_are_dispatched_together(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "TWICE", available=9)
    dispatch(shop, buy(customer, [(sku, 2), (sku, 3)]))
    assert level(shop, sku) == (4, 0, 0)
    assert faults_in_the_books(shop) == {}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"items": [DispatchedItem(1, 1)]}, r"items\[0\].id: is not in this order"),
        ({"items": [DispatchedItem(2**62, 1)]}, "is not in this order"),
        ({"serials": [Serial(1, "A")]}, "serial: item 1 is not in this shipment"),
        ({"tracking_number": " "}, "tracking_number: must have"),
        ({"tracking_number": "x" * 101}, "tracking_number: must have"),
        ({"serials": [Serial(1, "x" * 201)]}, "serial.serial_number: must have"),
    ],
)
def test_a_rejected_dispatch_changes_nothing(
    shop: Service, customer: Customer, change: dict[str, Any], problem: str
) -> None:
    placed = buy(customer)
    before = read(customer, placed)
    given, now = dict(change), shop.clock.now()
    serials = given.pop("serials", ())
    with pytest.raises(DomainError, match=problem):
        shop.in_transaction(
            lambda tx: dispatch_order(tx, placed["order_reference"], Dispatch(**given), now, serials=serials)
        )
    assert read(customer, placed) == before


def test_only_confirmed_orders_can_be_dispatched(shop: Service, customer: Customer) -> None:
    pending, old, cancelled = create(customer), create(customer), buy(customer)
    cancel(shop, cancelled)
    late = shop.clock.now() + timedelta(hours=24, seconds=1)
    for placed, state in ((pending, "pending"), (cancelled, "cancelled")):
        with pytest.raises(DomainError, match=f"is {state}: only confirmed"):
            dispatch(shop, {"order_reference": placed.get("order_reference") or placed["confirmation_code"]})
    shop.in_transaction(lambda tx: expire_orders(tx, late))
    with pytest.raises(DomainError, match="is expired: only confirmed"):
        dispatch(shop, {"order_reference": old["confirmation_code"]})
    with pytest.raises(DomainError, match="order NOTHING not found"):
        dispatch(shop, {"order_reference": "NOTHING"})


def test_a_dispatched_order_has_nothing_left_to_dispatch(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    dispatch(shop, placed)
    with pytest.raises(DomainError, match="nothing is left to dispatch"):
        dispatch(shop, placed)
    assert len(read(customer, placed)["shipping"]) == 1


def test_an_email_is_queued_for_every_shipment(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    [item] = item_ids(placed)
    dispatch(shop, placed, (item, 1))
    with pytest.raises(DomainError):
        dispatch(shop, placed, (item, 2))
    dispatch(shop, placed)
    shipments = rows(
        shop, "select s.id::text from shipment s join orders o on o.id = order_id where o.id = %s", placed["order_id"]
    )
    assert sorted(jobs(shop, placed)) == sorted(shipments)
    assert len(shipments) == 2


@pytest.mark.spec("2 Order", "configurations, serial numbers and tracking events")
def test_tracking_events_are_sorted_by_date_and_the_latest_sets_the_status(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    with pytest.raises(DomainError, match="has no shipment"):
        track(shop, placed)
    dispatch(shop, placed, (item_ids(placed)[0], 1), tracking_number="T-1")
    dispatch(shop, placed, tracking_number="T-2")
    track(
        shop,
        placed,
        type="Delivered",
        description="Signed for",
        locality="Leeds",
        date=moment_of("2026-06-18T09:00:00"),
    )
    track(shop, placed)
    track(shop, placed, "T-1", type="Collected", date=moment_of("2026-06-17T10:00:00"))
    first, second = read(customer, placed)["shipping"]
    assert first["last_tracking_status"] == "Collected"
    assert second["last_tracking_status"] == "Delivered"
    assert second["tracking_events"] == [
        {"date": "2026-06-16T09:00:00", "type": "In transit", "description": "Sorted", "locality": ""},
        {"date": "2026-06-18T09:00:00", "type": "Delivered", "description": "Signed for", "locality": "Leeds"},
    ]


def test_events_of_the_hour_that_occurs_twice_keep_their_moments_and_their_order(
    shop: Service, customer: Customer
) -> None:
    placed = buy(customer)
    dispatch(shop, placed, tracking_number="T-1")
    moments = [f"2026-10-25T{time}:00Z" for time in ("00:10", "00:50", "01:05", "02:00")]
    for moment in reversed(moments):
        track(shop, placed, date=datetime.fromisoformat(moment))
    [shipping] = read(customer, placed)["shipping"]
    shown = ["01:10", "01:50", "01:05", "02:00"]
    assert [event["date"][11:16] for event in shipping["tracking_events"]] == shown
    assert set(shipping["tracking_events"][0]) == {"date", "type", "description", "locality"}
    with backoffice_of(shop) as office:
        [shipping] = office.caller().get(f"/api/order/{placed['order_reference']}").json()["shipping"]
    assert [event["date"] for event in shipping["tracking_events"]] == moments


@pytest.mark.parametrize(
    ("sighting", "number", "problem"),
    [
        ({"type": " "}, None, "type: must have"),
        ({"description": ""}, None, "description: must have"),
        ({"description": "x" * 501}, None, "description: must have"),
        ({"locality": " "}, None, "locality: must have"),
        ({}, "T-9", "^tracking_number: .* has no shipment whose tracking number is T-9"),
    ],
)
def test_an_invalid_tracking_event_is_rejected(
    shop: Service, customer: Customer, sighting: dict[str, Any], number: str | None, problem: str
) -> None:
    placed = buy(customer)
    dispatch(shop, placed, tracking_number="T-1")
    with pytest.raises(DomainError, match=problem):
        track(shop, placed, number, **sighting)
    assert read(customer, placed)["shipping"][0]["tracking_events"] == []
