"""`changed_since` of what customers' users and the staff keep: lists of products, alerts, shared views, approvals."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import httpx2
import pytest

from support.approvals import asked
from support.backoffice import BackOfficeSite
from support.orders import rows, sell
from support.pages import Person, customer_user, staff_member
from support.service import Customer, Service
from tradecounter.alerts.tell_users import tell_of_stock

ITEMS = [{"sku": "PHONE", "quantity": 1}]


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.fixture
def buyer(shop: Service, customer: Customer) -> Person:
    return customer_user(shop, customer.id, "buyer")


def machines_time(shop: Service) -> datetime:
    """The time of the database, which triggers write."""
    [(found,)] = rows(shop, "select clock_timestamp()")
    assert isinstance(found, datetime)
    return found


def listed(staff: httpx2.Client, path: str, since: datetime, name: str = "id") -> list[Any]:
    response = staff.get(path, params={"changed_since": since.isoformat()})
    assert response.status_code == 200, response.text
    return [each[name] for each in response.json()]


def test_a_list_changes_with_its_name_and_its_products_and_no_other_list_does(
    shop: Service, office: BackOfficeSite, staff: httpx2.Client, customer: Customer
) -> None:
    office.refresh()
    path = f"/api/customer/{customer.id}/list"
    first, other = (staff.post(path, json={"name": name, "items": ITEMS}).json()["id"] for name in ("One", "Two"))
    owner = customer_user(shop, customer.id, "owner")
    changes: list[Callable[[], Any]] = [
        lambda: staff.put(f"{path}/{first}", json={"name": "First", "items": ITEMS}),
        lambda: staff.put(f"{path}/{first}", json={"name": "First", "items": [{"sku": "PHONE", "quantity": 2}]}),
        lambda: owner.sends("/account/list/add", {"sku": "CABLE", "quantity": "1", "list": str(first)}),
        lambda: owner.sends("/account/list/add", {"sku": "CABLE", "quantity": "3", "list": str(first)}),
    ]
    for change in changes:
        before = machines_time(shop)
        assert listed(staff, path, before) == []
        change()
        assert listed(staff, path, before) == [first]
    assert sorted(each["id"] for each in staff.get(path).json()) == [first, other]


def test_a_users_alerts_change_with_each_that_begins_or_ends(
    shop: Service, office: BackOfficeSite, staff: httpx2.Client, customer: Customer, buyer: Person
) -> None:
    office.refresh()
    customer_user(shop, customer.id, "buyer")  # whose alerts stay as they are
    path, chosen = f"/api/customer/{customer.id}/alert", f"/api/customer/{customer.id}/user/{buyer.id}/alert"
    items = {"name": "Followed", "items": ITEMS}
    made = staff.post(f"/api/customer/{customer.id}/list", json=items).json()["id"]
    renamed = f"/api/customer/{customer.id}/list/{made}"
    buyer.sends("/account/alert/add", {"sku": "PHONE"})
    [(phone,)] = rows(shop, "select id from product where sku = 'PHONE'")
    changes: list[Callable[[], Any]] = [
        lambda: staff.put(chosen, json={"emails": ["dispatched"]}),
        lambda: staff.put(chosen, json={"emails": []}),
        lambda: buyer.sends("/account/alert/prices", {"list": str(made)}),
        lambda: staff.put(renamed, json={**items, "name": "Renamed"}),
        lambda: buyer.sends(f"/account/alert/prices/{made}/end"),
        lambda: buyer.sends(f"/account/alert/{phone}/remove"),
    ]
    for change in changes:
        before = machines_time(shop)
        assert listed(staff, path, before, "user_id") == []
        change()
        assert listed(staff, path, before, "user_id") == [buyer.id]


@contextmanager
def days_later(shop: Service, days: int) -> Iterator[datetime]:
    """The service's clock goes so many days before the machine's; the moment."""
    began, moment = shop.clock.now(), machines_time(shop) + timedelta(days=days)
    shop.clock.set(moment)
    shop.refresh()
    try:
        yield moment
    finally:
        shop.clock.set(began)
        shop.refresh()


def test_a_stock_alert_is_a_change_when_it_begins_and_when_it_is_told(
    shop: Service, office: BackOfficeSite, staff: httpx2.Client, customer: Customer
) -> None:
    sku, path = sell(shop, "AWAITED", available=0), f"/api/customer/{customer.id}/alert"
    with days_later(shop, 2) as now:
        office.refresh()
        buyer = customer_user(shop, customer.id, "buyer")
        since = now - timedelta(minutes=1)
        assert listed(staff, path, since, "user_id") == []
        buyer.sends("/account/alert/add", {"sku": sku})
        assert listed(staff, path, since, "user_id") == [buyer.id]
        shop.clock.advance(timedelta(minutes=5))
        since = now + timedelta(minutes=1)
        assert listed(staff, path, since, "user_id") == []
        shop.must_load("stock", [{"sku": sku, "available": 3}])
        shop.in_transaction(lambda tx: tell_of_stock(tx, shop.clock.now()))
        assert listed(staff, path, since, "user_id") == [buyer.id]
        assert staff.get(path).json()[-1]["stock"] == []


def test_the_end_of_alerts_that_were_told_long_ago_changes_nothing(
    shop: Service, office: BackOfficeSite, staff: httpx2.Client, customer: Customer, buyer: Person
) -> None:
    office.refresh()
    sku = sell(shop, "FORGOTTEN", available=2)
    buyer.sends("/account/alert/add", {"sku": sku})
    now = shop.clock.now()
    shop.in_transaction(lambda tx: tell_of_stock(tx, now))
    before = machines_time(shop)
    shop.in_transaction(lambda tx: tell_of_stock(tx, now + timedelta(days=31)))
    assert rows(shop, "select count(*) from stock_alert where user_id = %s", buyer.id) == [(0,)]
    assert listed(staff, f"/api/customer/{customer.id}/alert", before, "user_id") == []


def test_a_shared_view_is_listed_from_the_moment_on_when_it_was_saved(
    shop: Service, office: BackOfficeSite, staff: httpx2.Client
) -> None:
    sam = staff_member(shop, office.url, "support")
    sam.sends("/view/new", {"of": "/order", "name": "Since", "shared": "true"})
    now = shop.clock.now()
    [view] = [each["id"] for each in staff.get("/api/view").json() if each["owner"] == sam.email]
    assert view in listed(staff, "/api/view", now)
    assert listed(staff, "/api/view", now + timedelta(seconds=1)) == []


def test_an_approval_changes_when_its_order_is_priced_again(
    shop: Service, staff: httpx2.Client, customer: Customer
) -> None:
    code, _ = asked(shop, customer)
    began = shop.clock.now()
    shop.clock.advance(timedelta(hours=25))
    try:
        shop.refresh()
        since = shop.clock.now()
        assert listed(staff, f"/api/approval?customer_id={customer.id}", since) == []
        approver = customer_user(shop, customer.id, "approver")
        new = approver.send(f"/account/approval/{code}/price").headers["Location"].rpartition("/")[2]
        [found] = staff.get(
            "/api/approval", params={"customer_id": customer.id, "changed_since": since.isoformat()}
        ).json()
        assert (found["confirmation_code"], found["agent"]) == (new, "")
        assert staff.get(f"/api/approval/{code}").json() == found
        late = staff.post(f"/api/approval/{code}/approve")
        assert late.status_code == 409
        assert new in late.json()["message"]
        assert staff.post(f"/api/approval/{code}/decline", json={"reason": "No"}).status_code == 409
    finally:
        shop.clock.set(began)
        shop.refresh()
