"""`/api/webhook`: endpoints of the reseller and of customers."""

from asyncio import to_thread
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of, pages
from support.events import last_sequence
from support.orders import rows
from support.receiver import deliver, receiving
from support.service import Service


@pytest.fixture(scope="module")
def office(service: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(service, webhook_http=True, webhook_networks="127.0.0.0/8") as running:
        yield running


def created(staff: httpx2.Client, **values: Any) -> dict[str, Any]:
    response = staff.post("/api/webhook", json={"url": "https://erp.example/events", **values})
    assert response.status_code == 201, response.text
    found: dict[str, Any] = response.json()
    return found


def test_a_webhook_is_added_shown_changed_and_deleted(staff: httpx2.Client) -> None:
    added = created(staff, types=["order.confirmed"], description="ERP")
    address = f"/api/webhook/{added['id']}"
    secret = added.pop("secret")
    assert secret.startswith("whsec_")
    assert staff.get(address).json() == added
    assert added | {"state": "active", "types": ["order.confirmed"], "description": "ERP"} == added
    changed = staff.patch(address, json={"state": "paused", "types": [], "url": "https://erp.example/other"})
    assert changed.json() == added | {"state": "paused", "types": [], "url": "https://erp.example/other"}
    assert staff.delete(address).status_code == 204
    assert staff.get(address).status_code == 404


def test_a_description_is_stored_without_blank_ends(staff: httpx2.Client) -> None:
    added = created(staff, description=" ERP ")
    changed = staff.patch(f"/api/webhook/{added['id']}", json={"description": "  shop\n"})
    assert (added["description"], changed.json()["description"]) == ("ERP", "shop")


def test_a_repeated_request_does_not_show_the_secret_again(staff: httpx2.Client) -> None:
    bodies = [
        staff.post("/api/webhook", json={"url": "https://erp.example/"}, headers={"Idempotency-Key": "once"}).json()
        for _ in range(2)
    ]
    assert bodies[0]["secret"].startswith("whsec_")
    assert bodies[1] == bodies[0] | {"secret": None}
    rotated = staff.post(f"/api/webhook/{bodies[0]['id']}/rotate-secret").json()
    assert rotated["secret"] not in {None, bodies[0]["secret"]}


def test_a_customers_webhooks_are_listed_and_limited(service: Service, staff: httpx2.Client) -> None:
    customer = service.customer()
    made = [created(staff, customer_id=customer.id)["id"] for _ in range(20)]
    more = staff.post("/api/webhook", json={"url": "https://erp.example/", "customer_id": customer.id})
    assert (more.status_code, more.json()["message"]) == (409, "there are 20 webhooks already; delete one first")
    found = [shown["id"] for page in pages(staff, f"/api/webhook?customer_id={customer.id}&limit=7") for shown in page]
    assert found == made


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"url": "http://169.254.169.254/"}, "url: 169.254.169.254 is not a public address"),
        ({"url": "ftp://erp.example/"}, "url: must start with https:// or http:// and a host"),
        ({"url": "https://user:word@erp.example/"}, "url: must not contain a user or a password"),
        ({"url": "https://erp.example/", "types": ["order.lost"]}, "types: 'order.lost' is not one of"),
        ({"url": "https://erp.example/", "customer_id": 999}, "customer"),
    ],
)
def test_a_wrong_webhook_is_rejected(staff: httpx2.Client, body: dict[str, Any], message: str) -> None:
    response = staff.post("/api/webhook", json=body)
    assert response.status_code == (404 if "customer_id" in body else 400)
    assert message in response.json()["message"]


def test_deliveries_are_shown_and_repeated(service: Service, staff: httpx2.Client) -> None:
    async def work() -> list[Any]:
        async with receiving() as receiver:
            await to_thread(lambda: hook.update(created(staff, url=receiver.url)))
            await to_thread(lambda: hook.update(ping=staff.post(f"/api/webhook/{hook['id']}/ping").json()))
            await deliver(service)
            path = f"/api/webhook/{hook['id']}/delivery/{hook['ping']['id']}/redeliver"
            await to_thread(lambda: hook.update(again=staff.post(path).json()))
            await deliver(service)
            return receiver.events

    hook: dict[str, Any] = {}
    events = service.call(work)
    assert [event["type"] for event in events] == ["webhook.ping"] * 2
    assert events[0] == events[1]
    [again, first] = staff.get(f"/api/webhook/{hook['id']}/delivery").json()
    assert (again["id"], first["id"]) == (hook["again"]["id"], hook["ping"]["id"])
    assert (first["event"], first["status"], first["attempt"], first["response"]) == (events[0]["id"], 200, 1, "ok")
    assert hook["ping"]["attempt"] == 0
    assert staff.post(f"/api/webhook/{hook['id']}/replay", json={"from": 1, "to": 99}).json() == {"deliveries": 0}
    assert staff.post(f"/api/webhook/{hook['id']}/replay", json={"from": 2, "to": 1}).status_code == 400
    staff.patch(f"/api/webhook/{hook['id']}", json={"state": "paused"})
    assert staff.post(f"/api/webhook/{hook['id']}/ping").status_code == 409


def test_a_replay_of_too_many_events_names_the_range_that_is_possible(service: Service, staff: httpx2.Client) -> None:
    hook = created(staff)
    first, last = last_sequence(service) + 1, last_sequence(service) + 10_001
    rows(
        service,
        "insert into event select n, 'evt_replayed_' || n, 'stock.changed', now(), 'stock/' || n, null, false, '{}'"
        " from generate_series(%s::bigint, %s) as n returning sequence",
        first,
        last,
    )
    rows(service, "update event_sequence set last = %s returning last", last)
    rows(service, "update webhook set read_up_to = %s where id = %s returning id", last, hook["id"])
    address = f"/api/webhook/{hook['id']}/replay"
    rejected = staff.post(address, json={"from": first, "to": last + 5})
    assert (rejected.status_code, rejected.json()["errors"][0]["field"]) == (400, "to")
    assert f"must be before {last}:" in rejected.json()["message"]
    assert staff.get(f"/api/webhook/{hook['id']}/delivery").json() == []
    assert staff.post(address, json={"from": first, "to": last - 1}).json() == {"deliveries": 10_000}
    assert staff.delete(f"/api/webhook/{hook['id']}").status_code == 204
