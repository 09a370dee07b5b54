"""`order dispatch`, `order track`, `order video` and `order cancel`: what they do, print and reject."""

from datetime import UTC, datetime
from typing import Any

import pytest

from support.command_line import SECRET, Forker, Program
from support.orders import at, buy, create, read, sell
from support.service import Customer, Service
from support.shop import stock_shop

pytestmark = pytest.mark.sweep  # seconds for each of its stories


@pytest.fixture(scope="module")
def tradecounter(service: Service, tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> Program:
    stock_shop(service)
    sell(service, "KIT", 5, available=50, configurable=True, components=[{"sku": "CABLE", "quantity": 2}])
    return Program(tmp_path_factory.mktemp("fulfilment"), service.database_url, forker)


@pytest.fixture(scope="module")
def customer(service: Service, tradecounter: Program) -> Customer:
    assert tradecounter.url == service.database_url
    return service.customer()


def test_two_partial_shipments_are_tracked_and_shown(customer: Customer, tradecounter: Program) -> None:
    placed = buy(customer, [("PHONE", 3), ("KIT", 1)], courier_notifications={"phone_number": "+441134960000"})
    reference, phone = placed["order_reference"], str(placed["items"][0]["id"])
    part = tradecounter.json(
        "order", "dispatch", reference, "--item", f"{phone}=2", "--tracking", "T-1",
        "--serial", f"{phone}:SN-1:aa:bb:cc:dd:ee:ff", "--serial", f"{phone}:SN-2:AABB.CCDD.EE00:PHONE-UK",
    )  # fmt: skip
    assert part["status"] == "Part dispatched"
    assert [(i["sku"], i["allocated"], i["dispatched"]) for i in part["items"]] == [("PHONE", 1, 2), ("KIT", 1, 0)]
    assert part["items"][0]["serial_numbers"] == [
        {"mac_address": "AA:BB:CC:DD:EE:FF", "serial_number": "SN-1", "provisioning_sku": ""},
        {"mac_address": "AA:BB:CC:DD:EE:00", "serial_number": "SN-2", "provisioning_sku": "PHONE-UK"},
    ]
    [cable] = part["items"][1]["related_items"]
    assert (cable["sku"], cable["quantity"]) == ("CABLE", 2)

    whole = tradecounter.json("order", "dispatch", reference, "--serial", f"{cable['id']}:C-1::CABLE:UK")
    assert whole["status"] == "Dispatched"
    assert whole["items"][1]["related_items"][0]["serial_numbers"] == [
        {"mac_address": "", "serial_number": "C-1", "provisioning_sku": "CABLE:UK"}
    ]
    words = ["order", "track", reference, "--type", "Collected", "--description", "By the courier"]
    tradecounter.json(*words, "--locality", "Leeds", "--date", "2026-06-17T10:00:00", "--tracking", "T-1")
    tracked = tradecounter.json(*words)
    first, second = tracked["shipments"]
    assert first["tracking_events"] == [
        {"date": "2026-06-17T10:00:00", "type": "Collected", "description": "By the courier", "locality": "Leeds"}
    ]
    assert (first["tracking_number"], first["contact_phone"], first["items"]) == (
        "T-1",
        "+441134960000",
        [{"id": int(phone), "quantity": 2}],
    )
    assert [event["type"] for event in second["tracking_events"]] == ["Collected"]
    assert tradecounter.json("order", "show", reference) == tracked
    assert [s["tracking_events"] for s in read(customer, placed)["shipping"]] == [
        s["tracking_events"] for s in tracked["shipments"]
    ]
    shown = tradecounter.text("order", "show", reference)
    for word in ("Dispatched", "CABLE", "SN-1", "AA:BB:CC:DD:EE:00", "T-1", f"2 of {phone}"):
        assert word in shown
    assert "2026-06-17 10:00:00 Collected: By the courier (Leeds)" in shown


def test_the_packing_video_is_shown_and_replaced(customer: Customer, tradecounter: Program) -> None:
    reference = buy(customer)["order_reference"]
    assert tradecounter.json("order", "show", reference)["video"] is None
    for number in (1, 2):
        urls = (f"https://video.example/{number}.mp4", f"https://video.example/{number}.m3u8")
        shown = tradecounter.json("order", "video", reference, "--file", urls[0], "--playlist", urls[1])
        assert tuple(shown["video"].values()) == urls
    assert urls[1] in tradecounter.text("order", "show", reference)
    assert "playlist: must start with https://" in tradecounter.error(
        "order", "video", reference, "--file", urls[0], "--playlist", "file:///etc/passwd"
    )


def test_orders_are_cancelled_by_reference_and_pending_ones_by_code(
    service: Service, customer: Customer, tradecounter: Program
) -> None:
    with at(service, datetime.now(UTC)):  # the program's own clock, by which a pending order expires
        names = buy(customer)["order_reference"], create(customer)["confirmation_code"]
    for name in names:
        cancelled = tradecounter.json("order", "cancel", name, "--reason", "Wrong \x1b[31maddress")
        assert (cancelled["state"], cancelled["status"]) == ("cancelled", "Cancelled")
        assert cancelled["cancel_reason"] == "Wrong \x1b[31maddress"
        assert cancelled["cancelled_on"]
        assert "is already cancelled" in tradecounter.error("order", "cancel", name, "--reason", "again", "--json")
        assert "\\x1b[31maddress" in tradecounter.text("order", "show", name)
    assert len(tradecounter.json("order", "list", "--status", "cancelled")) == 2


def test_impossible_operations_are_rejected_with_a_reason(customer: Customer, tradecounter: Program) -> None:
    placed = buy(customer, [("SWITCH", 4), ("PHONE", 1)])
    reference, (switch, phone) = placed["order_reference"], (item["id"] for item in placed["items"])
    dispatch = ["order", "dispatch", reference]
    for words, reason in (
        (dispatch, "what can be dispatched now: 3 of SWITCH, 1 of PHONE"),
        ([*dispatch, "--item", "1=1"], "--item 1=1: is not in this order"),
        ([*dispatch, "--item", f"{phone}=0"], f"--item {phone}=0: must be at least 1"),
        ([*dispatch, "--item", f"{phone}=2"], f"--item {phone}=2: PHONE has 1 unit left: its quantity must be 1"),
        ([*dispatch, "--item", f"{phone}={'9' * 30}"], "must be at most 100000"),
        ([*dispatch, "--item", f"{phone}=1", "--item", f"{phone}=1"], "is named twice"),
        (
            [*dispatch, "--item", f"{phone}=1", "--serial", f"{switch}:S"],
            f"--serial {switch}:S: SWITCH is not in this shipment",
        ),
        (["order", "dispatch", "ORD-0"], "order ORD-0 not found"),
        (["order", "track", reference, "--type", "T", "--description", "D"], "has no shipment"),
        (["order", "cancel", reference, "--reason", " "], "reason: must have"),
    ):
        assert reason in tradecounter.error(*words, "--json")
    assert tradecounter.json("order", "show", reference)["status"] == "Back-ordered"
    typed = f"{phone}:S:AA:BB:CC:DD:EE"
    said = tradecounter.misused("order", "dispatch", reference, "--serial", typed).replace(" ", "")
    assert f"'{typed}':'AA:BB:CC:DD:EE'isnotaMACaddress" in said


@pytest.mark.parametrize(
    "option",
    [
        ["--item", "1"], ["--item", "a=1"], ["--item", "1=x"], ["--item", "1=1.5"], ["--item", "1=-1"],
        ["--serial", "1"], ["--serial", "1:"], ["--serial", "x:S"], ["--serial", "1:S:AA:BB"],
        ["--serial", "1:S:AA:BB:CC:DD:EE:FG"], ["--serial", "1:S:AABBCCDDEEF"],
    ],
)  # fmt: skip
def test_malformed_options_are_usage_errors(tradecounter: Program, option: list[str]) -> None:
    assert option[0] in tradecounter.misused("order", "dispatch", "ORD-1", *option)


@pytest.mark.parametrize(
    ("date", "why"),
    [("2026-02-30T10:00:00", "February 2026 has 28 days"), ("18 June", "nor a UK time"), ("x", "nor a UK time")],
)
def test_a_tracking_event_has_a_uk_time(tradecounter: Program, date: str, why: str) -> None:
    words = ["order", "track", "ORD-1", "--type", "T", "--description", "D", "--date", date]
    assert why in " ".join(tradecounter.misused(*words).split())


@pytest.mark.parametrize(
    "words", [["track", "ORD-1", "--type", "T"], ["video", "ORD-1"], ["cancel", "ORD-1"], ["dispatch"]]
)
def test_required_arguments_are_enforced(tradecounter: Program, words: list[str]) -> None:
    tradecounter.misused("order", *words)


def test_passwords_are_shown_when_requested(customer: Customer, tradecounter: Program) -> None:
    placed: dict[str, Any] = buy(customer, [("KIT", 2)])
    data = {"adsl_username": "line@isp.example", "adsl_password": "open-sesame"}
    path = f"/order/{placed['order_id']}/item/{placed['items'][0]['id']}/configuration"
    body = {"configurations": [{**data, "wifi_ssid": "Office", "wifi_password": "hush-hush"}, data]}
    assert customer.post(path, body).status_code == 200
    show, secret = ["order", "show", placed["order_reference"]], {"TRADECOUNTER_SECRET_KEY": SECRET}
    hidden = tradecounter.text(*show, **secret)
    assert "line@isp.example" in hidden
    assert "open-sesame" not in hidden
    assert "hush-hush" not in hidden
    [item] = tradecounter.json(*show, "--passwords", **secret)["items"]
    assert [c["data"]["adsl_password"] for c in item["configurations"]] == ["open-sesame"] * 2
    assert "hush-hush" in tradecounter.text(*show, "--passwords", **secret)
    assert "TRADECOUNTER_SECRET_KEY: is required" in tradecounter.error(*show)
    another = {"TRADECOUNTER_SECRET_KEY": "another secret of at least 32 characters"}
    assert "this database uses a key that is neither" in tradecounter.error(*show, **another)


def test_a_shipment_is_corrected_and_taken_back(customer: Customer, tradecounter: Program) -> None:
    placed = buy(customer, [("PHONE", 2)])
    reference, phone = placed["order_reference"], placed["items"][0]["id"]
    words = ["--tracking", "T-1", "--serial", f"{phone}:SN-9"]
    [shipment] = tradecounter.json("order", "dispatch", reference, *words)["shipments"]
    assert (shipment["carrier"], shipment["invoice"]) == ("Slowpost", None)
    name = str(shipment["id"])
    tried = tradecounter.json("order", "shipment", reference, name, "--tracking", "T-2", "--dry-run")
    assert tried["shipments"][0]["tracking_number"] == "T-2"
    [shipment] = tradecounter.json("order", "shipment", reference, name, "--carrier", "Van")["shipments"]
    assert (shipment["tracking_number"], shipment["carrier"]) == ("T-1", "Van")
    [shipment] = tradecounter.json("order", "shipment", reference, name, "--tracking", "", "--carrier", "")["shipments"]
    assert (shipment["tracking_number"], shipment["carrier"]) == (None, "Slowpost")
    assert "T-1" not in tradecounter.text("order", "show", reference)

    back = ["order", "take-back", reference, name, "--reason", "It stayed here"]
    assert tradecounter.json(*back, "--dry-run")["shipments"] == []
    assert len(tradecounter.json("order", "show", reference)["shipments"]) == 1
    taken = tradecounter.json(*back)
    assert (taken["status"], taken["shipments"], taken["items"][0]["allocated"]) == ("Awaiting dispatch", [], 2)
    for wrong, message in (
        (back, "was taken back"),
        (["order", "take-back", reference, "999999", "--reason", "x"], "has no shipment 999999"),
        (["order", "take-back", reference, name, "--reason", " "], "reason"),
        (["order", "shipment", reference, name], "--tracking, --carrier or both"),
    ):
        failed = tradecounter.run(*wrong)
        assert failed.status != 0
        assert message in failed.err


def test_a_cancellation_can_be_tried_first(customer: Customer, tradecounter: Program) -> None:
    placed = buy(customer, [("PHONE", 2)])
    reference, phone = placed["order_reference"], placed["items"][0]["id"]
    words = ["order", "cancel", reference, "--reason", "Fewer", "--item", f"{phone}=1"]
    assert tradecounter.json(*words, "--dry-run")["items"][0]["quantity"] == 1
    assert read(customer, placed)["items"][0]["quantity"] == 2
    assert tradecounter.json(*words)["items"][0]["quantity"] == 1


def test_a_dispatch_names_the_carrier_and_the_moment(customer: Customer, tradecounter: Program) -> None:
    reference = buy(customer)["order_reference"]
    words = ["order", "dispatch", reference, "--carrier", "Other van"]
    assert "--at: must be between" in tradecounter.error(*words, "--at", "2026-06-15T10:00")
    assert "'--at': 'tomorrow' is neither a date" in tradecounter.misused(*words, "--at", "tomorrow")
    [shipment] = tradecounter.json(*words, "--at", "2026-06-17T10:00")["shipments"]
    assert (shipment["carrier"], shipment["dispatched_on"]) == ("Other van", "2026-06-17T10:00:00")
