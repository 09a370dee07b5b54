"""`GET /api/event`: the whole event log, for programs of the reseller."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, pages
from support.events import last_sequence, number_events
from support.orders import buy, create
from support.pages import fields_of, staff_member
from tradecounter.access.queries.tokens import list_tokens
from tradecounter.access.tokens import revoke_token


def test_the_events_of_all_customers_are_read_in_contiguous_pages(office: BackOfficeSite, staff: httpx2.Client) -> None:
    service = office.service
    first, second = service.customer(), service.customer()
    after = last_sequence(service)
    create(first)
    buy(second)
    number_events(service)
    listed = [event for page in pages(staff, f"/api/event?after={after}&limit=2") for event in page]
    assert [event["sequence"] for event in listed] == list(range(after + 1, after + len(listed) + 1))
    kinds = [(event["type"], event["customer_id"]) for event in listed if event["type"].startswith("order.")]
    assert kinds == [("order.created", first.id), ("order.created", second.id), ("order.confirmed", second.id)]
    found = staff.get(f"/api/event?after={after}&type=order.created,order.cancelled").json()
    assert [event["customer_id"] for event in found] == [first.id, second.id]
    wrong = staff.get("/api/event?type=order.created,nothing").json()["errors"]
    assert [error["field"] for error in wrong] == ["type"]


def test_a_waiting_request_is_answered_by_the_next_event(office: BackOfficeSite, staff: httpx2.Client) -> None:
    customer, after = office.service.customer(), last_sequence(office.service)

    def wait() -> tuple[list[dict[str, Any]], float]:
        began = time.monotonic()
        return staff.get(f"/api/event?after={after}&type=order.created&wait=20").json(), time.monotonic() - began

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        time.sleep(0.5)
        create(customer)
        number_events(office.service)
        [event], seconds = waiting.result(15)
    assert (event["type"], event["customer_id"]) == ("order.created", customer.id)
    assert 0.3 < seconds < 10
    assert staff.get("/api/event?wait=21").status_code == 400


@pytest.mark.sweep
def test_a_token_that_is_revoked_hears_of_nothing_later(office: BackOfficeSite) -> None:
    service = office.service
    caller, customer, after = office.caller("events:read"), service.customer(), last_sequence(service)
    token = service.in_transaction(list_tokens)[-1]
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(caller.get, f"/api/event?after={after}&wait=20")
        time.sleep(1.5)
        service.in_transaction(lambda tx: revoke_token(tx, token.id, service.clock.now()))
        create(customer)
        number_events(service)
        response = waiting.result(30)
    assert (response.status_code, response.json()) == (401, {})


def test_changes_of_the_back_office_are_events(office: BackOfficeSite, staff: httpx2.Client) -> None:
    customer, after = office.service.customer(), last_sequence(office.service)
    staff.patch(f"/api/customer/{customer.id}", json={"company": "Acme"})
    number_events(office.service)
    [event] = staff.get(f"/api/event?after={after}").json()
    assert (event["type"], event["subject"]) == ("customer.changed", f"customer/{customer.id}")
    assert event["data"] == {"customer_id": customer.id, "changed": ["company"]}


@pytest.mark.sweep
def test_every_door_tells_of_new_customers_and_products(office: BackOfficeSite, staff: httpx2.Client) -> None:
    service, after = office.service, last_sequence(office.service)
    person = staff_member(service, office.url, "administrator")
    ada = {"email_address": "door-1@doors.example", "first_name": "Ada", "last_name": "Door"}
    assert staff.post("/api/customer", json=ada).status_code == 201
    new = fields_of(person.get("/customer/new"))
    person.sends("/customer/new", new | ada | {"email_address": "door-2@doors.example"})
    service.must_load("customers", [ada | {"email_address": "door-3@doors.example"}])
    form = fields_of(person.get("/product-form"), where=lambda name: name != "categories")
    person.sends("/product-form", form | {"sku": "DOOR-1", "name": "Door", "manufacturer": "acme"})
    file = "sku,name,manufacturer\nDOOR-2,Door,acme\nDOOR-1,Gate,acme\n"
    assert staff.post("/api/import/products", content=file, headers={"Content-Type": "text/csv"}).status_code == 200
    service.must_load("products", [{"sku": "DOOR-2", "active": False}])
    number_events(service)
    types = "customer.created,customer.changed,product.added,product.changed,product.removed"
    found = staff.get(f"/api/event?after={after}&type={types}").json()
    assert [(event["type"], event["data"].get("skus")) for event in found] == [
        *[("customer.created", None)] * 3,
        ("product.added", ["DOOR-1"]),
        ("product.added", ["DOOR-2"]),
        ("product.changed", ["DOOR-1"]),
        ("product.removed", ["DOOR-2"]),
    ]
    assert {event["subject"] for event in found if event["type"].startswith("product")} == {"product"}
    assert service.customer().get("/event?type=product.added").status_code == 400
