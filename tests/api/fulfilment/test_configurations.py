"""Configurations of items, and packing videos (specification, section 4; configurations)."""

import asyncio
import time
from functools import partial
from typing import Any

import httpx2
import pytest

from support.error_bodies import error_body
from support.orders import buy, cancel, create, dispatch, in_parallel, read, rows, sell
from support.service import Customer, Service, running_service
from tradecounter.kit.errors import DomainError
from tradecounter.shipments.fulfilment import add_video
from tradecounter.shipments.wire import OrderVideoResponse

ONE = {"adsl_username": "line@isp.example", "adsl_password": "open-sesame"}
VIDEO = OrderVideoResponse("https://video.example/1.mp4", "http://video.example/1.m3u8")


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    sell(shop, "ROUTER", 60, available=1000, configurable=True)
    return shop.customer()


@pytest.fixture
def placed(customer: Customer) -> dict[str, Any]:
    """An order for three routers and a phone."""
    return buy(customer, [("ROUTER", 3), ("PHONE", 1)])


def configure(
    customer: Customer, placed: dict[str, Any], *configurations: Any, item: int | str | None = None
) -> httpx2.Response:
    item = placed["items"][0]["id"] if item is None else item
    return customer.post(f"/order/{placed['order_id']}/item/{item}/configuration", {"configurations": configurations})


def add(shop: Service, placed: dict[str, Any], video: OrderVideoResponse) -> None:
    name = placed.get("order_reference") or placed["confirmation_code"]
    shop.in_transaction(lambda tx: add_video(tx, name, video, shop.clock.now()))


@pytest.mark.spec("2 Order", "configurations, serial numbers and tracking events")
@pytest.mark.spec(
    "4 POST /order/{reference}/item/{orderItemId}/configuration",
    "at least one configuration, at most one for each unit; 200 with the item",
)
def test_the_response_is_the_item_with_all_its_configurations(customer: Customer, placed: dict[str, Any]) -> None:
    wifi = {**ONE, "adsl_username": "second", "wifi_ssid": "Office", "wifi_password": "hush"}
    assert configure(customer, placed, ONE).status_code == 200
    response = configure(customer, placed, wifi)
    assert response.status_code == 200
    item = response.json()
    assert item["configurations"] == [{"data": {"product": "ROUTER", **c}} for c in (ONE, wifi)]
    assert item == read(customer, placed)["items"][0]


async def longest_pause(over: asyncio.Event) -> float:
    """Return the longest pause of the event loop, in seconds, until an event is set."""
    longest = 0.0
    while not over.is_set():
        started = time.perf_counter()
        await asyncio.sleep(0)
        longest = max(longest, time.perf_counter() - started)
    return longest


@pytest.mark.spec(
    "4 POST /order/{reference}/item/{orderItemId}/configuration",
    "the item belongs to the order and is configurable",
)
def test_the_path_accepts_the_order_reference_too(customer: Customer, placed: dict[str, Any]) -> None:
    path = f"/order/{placed['order_reference']}/item/{placed['items'][0]['id']}/configuration"
    assert customer.post(path, {"configurations": [ONE]}).status_code == 200


@pytest.mark.spec(
    "4 POST /order/{reference}/item/{orderItemId}/configuration",
    "at least one configuration, at most one for each unit; 200 with the item",
)
@pytest.mark.spec("7 400", "an item that cannot be configured, or too many configurations")
@pytest.mark.spec("8 Configurations", "at least one, at most what remains")
def test_only_the_units_of_an_item_can_be_configured(customer: Customer, placed: dict[str, Any]) -> None:
    too_many = configure(customer, placed, *[ONE] * 4).json()["message"]
    assert too_many == "configurations: the item takes at most 3 more"
    assert configure(customer, placed, ONE, ONE).status_code == 200
    assert configure(customer, placed, ONE, ONE).status_code == 400
    assert configure(customer, placed, ONE).status_code == 200
    one_more = configure(customer, placed, ONE).json()["message"]
    assert one_more == "configurations: all units of the item are configured"
    assert len(read(customer, placed)["items"][0]["configurations"]) == 3


@pytest.mark.spec(
    "4 POST /order/{reference}/item/{orderItemId}/configuration",
    "the item belongs to the order and is configurable",
)
@pytest.mark.spec("7 400", "an item that cannot be configured, or too many configurations")
def test_an_item_that_is_not_configurable_is_rejected(customer: Customer, placed: dict[str, Any]) -> None:
    phone = placed["items"][1]["id"]
    response = configure(customer, placed, ONE, item=phone)
    assert response.status_code == 400
    assert response.json()["message"] == f"orderItemId: {phone} (PHONE) is not configurable"


def test_a_cancelled_order_cannot_be_configured_and_a_dispatched_one_can(
    shop: Service, customer: Customer, placed: dict[str, Any]
) -> None:
    other = buy(customer, [("ROUTER", 1)])
    cancel(shop, placed)
    response = configure(customer, placed, ONE)
    assert (response.status_code, "was cancelled" in response.json()["message"]) == (400, True)
    dispatch(shop, other)
    assert configure(customer, other, ONE).status_code == 200


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "configurations: is required"),
        ({"configurations": []}, "configurations: must have at least 1 element"),
        ({"configurations": {}}, "configurations: must be a list"),
        ({"configurations": [1]}, "configurations[0]: must be an object"),
        ({"configurations": [{"adsl_username": "a"}]}, "configurations[0].adsl_password: is required"),
        ({"configurations": [{"adsl_password": "a"}]}, "configurations[0].adsl_username: is required"),
        ({"configurations": [ONE, {**ONE, "adsl_password": None}]}, "configurations[1].adsl_password: must be text"),
        ({"configurations": [{**ONE, "adsl_username": ""}]}, "configurations[0].adsl_username: must not be empty"),
        ({"configurations": [{**ONE, "wifi_ssid": "x" * 201}]}, "configurations[0].wifi_ssid: must have at most 200"),
        ({"configurations": [{**ONE, "wifi_ssid": "\x00"}]}, "the body contains a NUL character"),
        ([], "the body must be an object"),
    ],
)
def test_an_invalid_body_is_rejected_with_the_field(
    customer: Customer, placed: dict[str, Any], body: Any, problem: str
) -> None:
    response = customer.post(f"/order/{placed['order_id']}/item/{placed['items'][0]['id']}/configuration", body)
    assert response.status_code == 400
    assert response.json()["message"].startswith(problem)


@pytest.mark.spec(
    "4 POST /order/{reference}/item/{orderItemId}/configuration",
    "the item belongs to the order and is configurable",
)
@pytest.mark.parametrize("item", ["1", "0", "-1", "x", "1.0", "9" * 30, "%00", "²"])
def test_an_unknown_item_is_not_found(customer: Customer, placed: dict[str, Any], item: str) -> None:
    response = configure(customer, placed, ONE, item=item)
    wanted = "item not found" if item == "%00" else f"item {item} not found"
    assert (response.status_code, response.json()) == (404, error_body("not_found", wanted))


def test_another_customers_order_is_not_found(shop: Service, customer: Customer, placed: dict[str, Any]) -> None:
    other = shop.customer()
    foreign = buy(other, [("ROUTER", 1)])
    unknown = configure(customer, {**foreign, "order_id": 999999}, ONE)
    response = configure(customer, foreign, ONE)
    assert response.status_code == unknown.status_code == 404
    assert unknown.content.replace(b"999999", str(foreign["order_id"]).encode()) == response.content
    # Another customer's item in the customer's own order.
    assert configure(customer, placed, ONE, item=foreign["items"][0]["id"]).status_code == 404
    assert read(other, foreign)["items"][0]["configurations"] == []
    add(shop, foreign, VIDEO)
    for order_id in (foreign["order_id"], 999999):
        response = customer.get(f"/order/{order_id}/video")
        assert (response.status_code, response.json()) == (404, error_body("not_found", f"order {order_id} not found"))


def test_passwords_are_encrypted_at_rest_and_read_by_another_process(
    shop: Service, customer: Customer, placed: dict[str, Any]
) -> None:
    assert configure(customer, placed, ONE).status_code == 200
    [(data,)] = rows(shop, "select data from configuration where line_id = %s", placed["items"][0]["id"])
    assert b"open-sesame" not in bytes(data)
    assert b"isp.example" not in bytes(data)
    path, key = f"/order/{placed['order_id']}", {"X-Api-Key": customer.key}
    with running_service(shop.database_url) as second:
        router, _ = second.client(**key).get(path).json()["items"]
        assert router["configurations"] == [{"data": {"product": "ROUTER", **ONE}}]
    with running_service(shop.database_url, secret_key="t" * 64, former_secret_keys="s" * 64) as successor:
        router, _ = successor.client(**key).get(path).json()["items"]
        assert router["configurations"] == [{"data": {"product": "ROUTER", **ONE}}]


def test_configurations_that_cannot_be_decrypted_are_shown_without_passwords_and_logged_once(
    shop: Service, customer: Customer, placed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert configure(customer, placed, ONE).status_code == 200
    item, path = placed["items"][0]["id"], f"/order/{placed['order_id']}"
    with running_service(shop.database_url, secret_key="t" * 64) as stranger:
        client = stranger.client(**{"X-Api-Key": customer.key})
        capsys.readouterr()
        for _ in range(2):
            assert client.get(path).json()["items"][0]["configurations"] == [{"data": {"product": "ROUTER"}}]
            listed = next(o for o in client.get("/order").json() if o["id"] == placed["order_id"])
            assert listed["items"][0]["configurations"] == [{"data": {"product": "ROUTER"}}]
            assert client.get("/order?accept=text/csv").status_code == 200
        added = client.post(f"{path}/item/{item}/configuration", json={"configurations": [ONE]}).json()
        assert added["configurations"] == [{"data": {"product": "ROUTER"}}, {"data": {"product": "ROUTER", **ONE}}]
    logged = [line for line in capsys.readouterr().out.splitlines() if "cannot be decrypted" in line]
    assert len(logged) == 1
    assert str(item) in logged[0]


def test_concurrent_requests_do_not_exceed_the_quantity(customer: Customer, placed: dict[str, Any]) -> None:
    responses = in_parallel([partial(configure, customer, placed, ONE, {**ONE, "wifi_ssid": "x"})] * 8)
    assert sorted(response.status_code for response in responses) == [200] + [400] * 7
    assert len(read(customer, placed)["items"][0]["configurations"]) == 2


@pytest.mark.spec("2 OrderVideoResponse, Error, OAuthError", "a video has two URLs")
@pytest.mark.spec("4 GET /order/{reference}/video", "the video's URLs; 404 without a video")
def test_an_order_has_no_video_until_one_is_added_and_a_new_one_replaces_it(
    shop: Service, customer: Customer, placed: dict[str, Any]
) -> None:
    paths = [f"/order/{placed[name]}/video" for name in ("order_reference", "order_id")]
    response = customer.get(paths[0])
    wanted = f"packing video of order {placed['order_reference']} not found"
    assert (response.status_code, response.json()) == (404, error_body("not_found", wanted))
    for video in (VIDEO, OrderVideoResponse("https://new.example/a", "https://new.example/b")):
        add(shop, placed, video)
        for path in paths:
            assert customer.get(path).json() == {
                "video_file": video.video_file,
                "streaming_playlist": video.streaming_playlist,
            }


@pytest.mark.parametrize(
    "url", ["", "x", "ftp://a.example/x", "https://", "https:///x", "http://a b", "https://a\n", "https://[",
            "javascript:1", "https://a.example/" + "x" * 2000],
)  # fmt: skip
def test_a_url_that_is_not_http_is_rejected(
    shop: Service, customer: Customer, placed: dict[str, Any], url: str
) -> None:
    for video, option in ((OrderVideoResponse(url, "https://a.example"), "video_file"),
                          (OrderVideoResponse("https://a.example", url), "streaming_playlist")):  # fmt: skip
        with pytest.raises(DomainError, match=f"^{option}: must "):
            add(shop, placed, video)
    assert customer.get(f"/order/{placed['order_id']}/video").status_code == 404


def test_only_confirmed_orders_have_a_video(shop: Service, customer: Customer) -> None:
    with pytest.raises(DomainError, match="is pending"):
        add(shop, create(customer), VIDEO)
