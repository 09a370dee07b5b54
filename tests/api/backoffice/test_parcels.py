"""Shipments as parcels: in an order, in the event `order.dispatched`, and what the warehouse says of a dispatch."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite
from support.events import events
from support.orders import at, buy, dispatch, read, sell, shipments, take_back
from support.service import MORNING, Customer, Service
from support.shop import NEXT_DAY, STANDARD
from tradecounter.shipments.wire import Serial

NOON = MORNING + timedelta(hours=3)


@pytest.fixture(scope="module")
def customer(office: BackOfficeSite) -> Customer:
    pattern = "https://track.example/{tracking_number}?from=us"
    office.service.must_load("shipping-methods", [{"id": STANDARD, "tracking_url": pattern}])
    return office.service.customer()


def address_of(placed: dict[str, Any]) -> str:
    return f"/api/order/{placed['order_reference']}"


def parcels(customer: Customer, placed: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read(customer, placed)["shipping"]
    return found


def told(service: Service, customer: Customer, placed: dict[str, Any], type_: str) -> list[dict[str, Any]]:
    """The data of the events of a type about an order."""
    return [
        event["data"]
        for event in events(service, customer)
        if event["type"] == type_ and event["data"]["order_id"] == placed["order_id"]
    ]


def dispatched(service: Service, customer: Customer, placed: dict[str, Any]) -> list[dict[str, Any]]:
    return told(service, customer, placed, "order.dispatched")


def told_of(parcel: dict[str, Any]) -> dict[str, Any]:
    """What an event says of a parcel of an order."""
    left_out = {"cost_net", "cost_tax", "tracking_events", "last_tracking_status", "contact_email", "contact_phone"}
    return {name: value for name, value in parcel.items() if name not in left_out}


@pytest.mark.spec("2 Order", "a shipment names its carrier, its page and its items (an addition)")
def test_each_parcel_says_what_is_in_it(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 3), ("CABLE", 2)])
    phone, cable = (item["id"] for item in placed["items"])
    serials = [Serial(phone, "SN-1", "AA:BB:CC:DD:EE:FF", "PHONE-UK"), Serial(phone, "SN-2")]
    dispatch(shop, placed, (phone, 2), (cable, 1), tracking_number="AB/1 2&ü", serials=serials)
    dispatch(shop, placed, serials=[Serial(phone, "SN-3")])
    first, second = parcels(customer, placed)
    whole = {"serial_number": "SN-1", "mac_address": "AA:BB:CC:DD:EE:FF", "provisioning_sku": "PHONE-UK"}
    bare = {"mac_address": "", "provisioning_sku": ""}
    assert [first["shipment_id"], second["shipment_id"]] == shipments(shop, placed)
    assert first["tracking_url"] == "https://track.example/AB%2F1%202%26%C3%BC?from=us"
    assert first["items"] == [
        {"id": phone, "quantity": 2, "serial_numbers": [whole, {**bare, "serial_number": "SN-2"}]},
        {"id": cable, "quantity": 1, "serial_numbers": []},
    ]
    assert second["items"][0]["serial_numbers"] == [{**bare, "serial_number": "SN-3"}]
    assert "tracking_url" not in second, "it has no number"
    assert first["dispatched_on"] == "2026-06-16T09:00:00"
    found = dispatched(shop, customer, placed)
    assert [event["shipment"] for event in found] == [told_of(first), told_of(second)]
    assert found[0]["items"][0] == {"id": phone, "sku": "PHONE", "quantity": 2, "serial_numbers": ["SN-1", "SN-2"]}


def test_a_correction_tells_the_whole_parcel_as_it_is_then(
    staff: httpx2.Client, shop: Service, customer: Customer
) -> None:
    placed = buy(customer)
    dispatch(shop, placed, tracking_number="WRONG")
    address = f"{address_of(placed)}/shipment/{shipments(shop, placed)[0]}"
    shown = []
    for right in ({"tracking_number": "RIGHT"}, {"carrier": "Other van"}, {"carrier": None, "tracking_number": None}):
        staff.patch(address, json=right).raise_for_status()
        shown += parcels(customer, placed)
    # The page is that of the method's own carrier.
    assert [parcel.get("tracking_url") for parcel in shown] == ["https://track.example/RIGHT?from=us", None, None]
    found = told(shop, customer, placed, "order.tracking_updated")
    assert [event["shipment"] for event in found] == list(map(told_of, shown))


def test_the_components_of_a_bundle_are_in_the_parcel_with_their_serial_numbers(
    shop: Service, customer: Customer
) -> None:
    for part in ("PARCEL-A", "PARCEL-B"):
        sell(shop, part, 10)
    parts = [{"sku": "PARCEL-A", "quantity": 2}, {"sku": "PARCEL-B", "quantity": 1}]
    sell(shop, "PARCEL-SET", 50, available=3, components=parts)
    placed = buy(customer, [("PARCEL-SET", 2)])
    [item] = read(customer, placed)["items"]
    one, other = (part["id"] for part in item["related_items"])
    dispatch(shop, placed, serials=[Serial(other, "B-1")])
    [parcel] = parcels(customer, placed)
    assert [(each["id"], each["quantity"]) for each in parcel["items"]] == [(item["id"], 2), (one, 4), (other, 2)]
    assert [number["serial_number"] for number in parcel["items"][2]["serial_numbers"]] == ["B-1"]


def test_an_order_in_csv_has_its_parcels_without_items(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    dispatch(shop, placed)
    text = customer.get("/order?limit=1", headers={"Accept": "text/csv"}).text
    assert '""shipment_id""' in text
    assert '""serial_numbers""' not in text


def test_a_method_without_a_pattern_gives_no_link(shop: Service, customer: Customer) -> None:
    placed = buy(customer, method=NEXT_DAY)
    dispatch(shop, placed, tracking_number="N-1")
    [parcel] = parcels(customer, placed)
    assert (parcel["tracking_number"], "tracking_url" in parcel) == ("N-1", False)


def test_a_parcel_that_is_taken_back_is_gone(shop: Service, customer: Customer) -> None:
    placed = buy(customer)
    dispatch(shop, placed, tracking_number="N-2")
    take_back(shop, placed, shipments(shop, placed)[0])
    [shipping] = parcels(customer, placed)
    assert shipping.keys() == {"method_id", "cost_net", "cost_tax", "tracking_events"}


def test_the_warehouse_names_the_carrier_and_the_moment(
    staff: httpx2.Client, shop: Service, customer: Customer
) -> None:
    placed = buy(customer)
    with at(shop, NOON):
        body = {"carrier": "Other van", "dispatched_at": "2026-06-16T09:30:00Z", "tracking_number": "O-1"}
        shown = staff.post(f"{address_of(placed)}/dispatch", json=body)
    assert shown.status_code == 200, shown.text
    [shipment] = shown.json()["shipments"]
    assert (shipment["carrier"], shipment["dispatched_at"]) == ("Other van", "2026-06-16T09:30:00Z")
    [parcel] = parcels(customer, placed)
    assert (parcel["carrier"], parcel["dispatched_on"]) == ("Other van", "2026-06-16T10:30:00")
    [event] = dispatched(shop, customer, placed)
    assert event["shipment"] == told_of(parcel)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"dispatched_at": "2026-06-16T07:59:59Z"}, "dispatched_at"),
        ({"dispatched_at": "2026-06-16T11:00:01Z"}, "dispatched_at"),
        ({"dispatched_at": "2026-06-16T08:30:00"}, "dispatched_at"),
        ({"dispatched_at": "0001-01-01T00:00:00Z"}, "dispatched_at"),
        ({"dispatched_at": "9999-12-31T23:59:59-12:00"}, "dispatched_at"),
        ({"dispatched_at": "yesterday"}, "dispatched_at"),
        ({"carrier": ""}, "carrier"),
        ({"carrier": " "}, "carrier"),
        ({"carrier": "x" * 101}, "carrier"),
    ],
)
def test_a_wrong_carrier_or_moment_is_rejected_and_nothing_leaves(
    staff: httpx2.Client, shop: Service, customer: Customer, body: dict[str, Any], field: str
) -> None:
    placed = buy(customer)
    with at(shop, NOON):
        response = staff.post(f"{address_of(placed)}/dispatch", json=body)
    assert (response.status_code, response.json()["message"].split(":")[0]) == (400, field), response.text
    assert shipments(shop, placed) == []


def test_the_moments_of_the_confirmation_and_of_now_are_included(staff: httpx2.Client, customer: Customer) -> None:
    for moment in ("2026-06-16T08:00:00Z", "2026-06-16T09:00:00+01:00"):
        placed = buy(customer)
        response = staff.post(f"{address_of(placed)}/dispatch", json={"dispatched_at": moment})
        assert response.status_code == 200, response.text
