"""The reseller's own ids over HTTP: who has one, who finds it, and that customers never see it."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.events import events, last_sequence, number_events
from support.one_of_everything import SELLER, one_of_everything
from support.orders import buy, create, rows, sell
from support.page_walk import walk
from support.pages import customer_user, fields_of, staff_member, text_of
from support.receiver import deliver, policy_of, receiving
from support.service import Customer, Service
from tradecounter.db.transaction import transaction
from tradecounter.events.sequencer import number_all
from tradecounter.feeds.render import COLUMNS
from tradecounter.webhooks import manage
from tradecounter.webhooks.wire import WebhookRequest

SECRET = "HIDDEN-ID"


def test_each_kind_is_found_by_its_id_which_is_unique(office: BackOfficeSite, staff: httpx2.Client) -> None:
    service = office.service
    customers = [service.customer().id for _ in range(2)]
    orders = [buy(service.customer())["order_id"] for _ in range(2)]
    for path, names in (("customer", customers), ("order", orders)):
        given = staff.patch(f"/api/{path}/{names[0]}", json={"external_id": " ERP-1 "})
        assert (given.status_code, given.json()["external_id"]) == (200, "ERP-1")
        taken = staff.patch(f"/api/{path}/{names[1]}", json={"external_id": "ERP-1"})
        assert (taken.status_code, "external_id" in taken.json()["message"]) == (409, True)
        assert [found["id"] for found in staff.get(f"/api/{path}?external_id=ERP-1").json()] == [names[0]]
        assert staff.patch(f"/api/{path}/{names[0]}", json={"external_id": "x" * 201}).status_code == 400
        cleared = staff.patch(f"/api/{path}/{names[0]}", json={"external_id": None})
        assert (cleared.status_code, cleared.json().get("external_id")) == (200, None)
        assert staff.get(f"/api/{path}?external_id=ERP-1").json() == []
    sku = sell(service, "ERP-PRODUCT", external_id="ERP-1")
    assert [found["sku"] for found in staff.get("/api/product?external_id=ERP-1").json()] == [sku]
    assert staff.get(f"/api/product/{sku}").json()["external_id"] == "ERP-1"


def test_a_new_customer_and_a_new_order_come_with_their_ids(office: BackOfficeSite, staff: httpx2.Client) -> None:
    new = {"email_address": "own@ids.example", "first_name": "O", "last_name": "I", "external_id": "NEW-1"}
    assert staff.post("/api/customer", json=new).json()["external_id"] == "NEW-1"
    assert staff.post("/api/customer", json=new | {"email_address": "b@ids.example"}).status_code == 409
    customer = office.service.customer()
    pending = create(customer)
    body = {
        "customer_id": customer.id,
        "customer_reference": "PO-77",
        "billing_address": pending["billing_address"],
        "shipping_address": pending["shipping_address"],
        "items": [{"sku": "PHONE", "quantity": 1}],
        "external_id": "SO-1",
    }
    assert staff.post("/api/order", json=body).json()["external_id"] == "SO-1"
    before = staff.get("/api/order?limit=1000").json()
    assert staff.post("/api/order", json=body).status_code == 409
    assert staff.get("/api/order?limit=1000").json() == before


@pytest.mark.sweep
def test_pages_set_and_show_ids(office: BackOfficeSite) -> None:
    service = office.service
    person = staff_member(service, office.url, "administrator")
    customer, sku = service.customer(), sell(service, "PAGED")
    order = buy(customer)["order_id"]
    person.sends(f"/order/{order}/external-id", {"external_id": "PAGE-O"})
    page = text_of(person.get(f"/order/{order}"))
    assert "PAGE-O" in page
    assert f"{person.email} changed the external id" in page
    path = f"/customer/{customer.id}"
    person.sends(f"{path}/trade-terms", fields_of(person.get(f"{path}/trade-terms")) | {"external_id": "PAGE-C"})
    assert "PAGE-C" in text_of(person.get(path))
    form = fields_of(person.get(f"/product-form?sku={sku}"), where=lambda name: name != "categories")
    person.sends("/product-form", form | {"external_id": "PAGE-P"})
    assert "PAGE-P" in text_of(person.get(f"/product/{sku}"))
    assert sku in text_of(person.get("/product?external_id=PAGE-P"))
    assert f"/customer/{customer.id}" in person.get("/search?q=PAGE-C").text + person.get("/customer?text=PAGE-C").text
    rejected = staff_member(service, office.url, "warehouse").send(f"/order/{order}/external-id", {"external_id": "X"})
    assert rejected.status_code == 403


async def cancelled_with_webhooks(service: Service, customer: Customer, cancel: Callable[[], Any]) -> list[Any]:
    """What a webhook of the reseller and one of a customer get when an order is cancelled."""
    async with receiving() as own, receiving() as theirs:
        for url, owner in ((own.url, None), (theirs.url, customer.id)):
            async with transaction(service.commands) as tx:
                wanted = WebhookRequest(url=url, customer_id=owner)
                await manage.add_webhook(tx, policy_of(service), wanted, service.clock.now())
        await asyncio.to_thread(cancel)
        await number_all(service.commands)
        await deliver(service)
        return [[event for event in each.events if event["type"] == "order.cancelled"] for each in (own, theirs)]


def test_only_the_resellers_events_and_webhooks_name_ids(office: BackOfficeSite, staff: httpx2.Client) -> None:
    service, customer = office.service, office.service.customer()
    after, placed = last_sequence(service), buy(customer)
    order = f"/api/order/{placed['order_id']}"
    staff.patch(f"/api/customer/{customer.id}", json={"external_id": f"{SECRET}-C"}).raise_for_status()
    staff.patch(order, json={"external_id": f"{SECRET}-O"}).raise_for_status()
    named = {"external_id": f"{SECRET}-O", "customer_external_id": f"{SECRET}-C"}
    own, theirs = service.call(
        lambda: cancelled_with_webhooks(
            service, customer, lambda: staff.post(f"{order}/cancel", json={"reason": "a test"}).raise_for_status()
        )
    )
    assert [event["data"].items() >= named.items() for event in own] == [True]
    assert (len(theirs), SECRET in str(theirs)) == (1, False)
    found = staff.get(f"/api/event?after={after}").json()
    assert [event["data"].items() >= named.items() for event in found if event["type"] == "order.confirmed"] == [True]
    [changed] = [event for event in found if event["type"] == "customer.changed"]
    assert changed["data"]["external_id"] == f"{SECRET}-C"
    assert SECRET not in str(events(service, customer))
    sku = sell(service, "TOLD", external_id=f"{SECRET}-P")
    number_events(service)
    added = staff.get(f"/api/event?after={found[-1]['sequence']}&type=product.added").json()
    assert added[-1]["data"]["external_ids"] == {sku: f"{SECRET}-P"}


@pytest.mark.sweep
def test_no_page_or_feed_of_a_customer_has_an_external_id(own_shop: Service) -> None:
    with backoffice_of(own_shop, **SELLER) as office:
        reseller = one_of_everything(office)
        for table in ("customer", "product", "orders"):
            rows(own_shop, f"update {table} set external_id = '{SECRET}-' || id returning id")  # noqa: S608 three names
        own_shop.refresh()
        customer = reseller.first.customer
        seen = walk(customer_user(own_shop, customer.id, "owner"), least=2).pages_seen
        assert len({page.address for page in seen}) > 40
        assert [page.address for page in seen if SECRET in page.response.text] == []
        assert SECRET in reseller.staff.get(f"/api/order?customer_id={customer.id}").text
    assert [column for column in COLUMNS if "external" in column] == []
