"""All times of the back office are whole seconds in UTC, as in the examples of its contract."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from msgspec import inspect

from support.backoffice import BackOfficeSite, backoffice_of, pages
from support.billing import issue, pay
from support.events import number_events
from support.interface import backoffice_document, everything
from support.orders import buy, cancel, dispatch, sell
from support.quotes import price_as_support, request_quote
from support.service import MORNING, Service, running_service
from support.shop import stock_shop
from tradecounter.db.pool import Database
from tradecounter.kit.clock import SystemClock
from tradecounter.kit.wire import Timed
from tradecounter.settings import Settings
from tradecounter.sites.back_office import BackOffice

WHOLE_SECOND = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
LIKE_A_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*")
# Orders contain products, shipping and tracking as their customers see them, with UK local times.
LOCAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
LOCAL_NAMES = {"expected_dispatch_date", "expected_arrival_date", "expected_on", "expires_on", "date", "dispatched_on"}


def types_in(found: Any) -> Iterator[inspect.StructType | inspect.DataclassType]:
    """Every structure that a type consists of."""
    waiting, seen = [found], set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, inspect.StructType | inspect.DataclassType):
            if part.cls in seen:
                continue
            seen.add(part.cls)
            yield part
            waiting += [field.type for field in part.fields]
        elif isinstance(part, inspect.Type):
            values = [getattr(part, name) for name in part.__struct_fields__]
            waiting += [v for value in values for v in (value if isinstance(value, tuple) else [value])]


def is_time(found: inspect.Type) -> bool:
    if isinstance(found, inspect.Metadata):
        return is_time(found.type)
    if isinstance(found, inspect.UnionType):
        return any(map(is_time, found.types))
    return isinstance(found, inspect.DateTimeType)


def test_every_response_with_a_time_cuts_fractions_of_seconds() -> None:
    operations = BackOffice(Settings(), Database("postgresql://"), SystemClock()).operations
    bodies = inspect.multi_type_info([o.success.body for o in operations if o.success.body is not None])
    timed = {part.cls for body in bodies for part in types_in(body) if any(is_time(f.type) for f in part.fields)}
    assert len(timed) > 15
    assert [kind for kind in timed if not issubclass(kind, Timed)] == []


def is_right(name: str, time: str) -> bool:
    return bool(WHOLE_SECOND.fullmatch(time)) or (name in LOCAL_NAMES and bool(LOCAL.fullmatch(time)))


def times_in(value: Any) -> Iterator[tuple[str, str]]:
    for part in everything(value):
        for name, member in part.items():
            if isinstance(member, str) and LIKE_A_TIME.fullmatch(member):
                yield name, member


def test_the_times_of_all_examples_are_whole_seconds() -> None:
    found = list(times_in(backoffice_document()))
    assert len(found) > 20
    assert [each for each in found if not is_right(*each)] == []


@pytest.fixture
def office(database_url: str) -> Iterator[BackOfficeSite]:
    with running_service(database_url, now=MORNING + timedelta(microseconds=123_456)) as service:
        stock_shop(service)
        with backoffice_of(service) as running:
            yield running


def happen(service: Service, staff: httpx2.Client) -> list[str]:
    """Make something of every kind; the addresses of what was made."""
    customer = service.customer()
    sku = sell(service, "TIMED", available=3)
    placed = buy(customer, [(sku, 2)])
    address = f"/api/order/{placed['order_reference']}"
    staff.post(f"{address}/note", json={"text": "a note"}).raise_for_status()
    dispatch(service, placed)
    issue(service, placed)
    pay(service, placed, "1.00")
    cancel(service, buy(customer, [("CABLE", 1)]))
    quote = request_quote(customer)
    price_as_support(service, quote, ("PHONE", "40"))
    shown = staff.get(address).json()
    returned = {"items": [{"id": shown["items"][0]["id"], "quantity": 1}], "reason": "a test"}
    staff.post(f"{address}/return", json=returned).raise_for_status()
    webhook = staff.post("/api/webhook", json={"url": "https://erp.example/"}).json()["id"]
    staff.post(f"/api/webhook/{webhook}/ping").raise_for_status()
    staff.post(f"/api/customer/{customer.id}/key", json={"name": "a key"}).raise_for_status()
    [payment] = staff.get("/api/payment").json()
    staff.post(f"/api/payment/{payment['id']}/reverse", json={"reason": "bounced"}).raise_for_status()
    service.must_load("incoming", [{"sku": sku, "incoming": 5, "expected_on": "2026-07-01T09:00:00"}])
    mine = f"/api/customer/{customer.id}"
    hook = f"/api/webhook/{webhook}"
    number_events(service)
    return [address, f"/api/quote/{quote['confirmation_code']}", f"/api/product/{sku}", mine, f"{mine}/key",
            f"{mine}/user", f"{mine}/statement", hook, f"{hook}/delivery"]  # fmt: skip


def test_the_times_of_all_responses_are_whole_seconds(office: BackOfficeSite) -> None:
    staff = office.caller()
    addresses = happen(office.service, staff)
    lists = ("order", "quote", "customer", "invoice", "payment", "return", "import", "webhook", "job", "event", "audit")
    bodies = {address: staff.get(address).json() for address in addresses}
    bodies |= {name: [each for page in pages(staff, f"/api/{name}") for each in page] for name in lists}
    for address, body in bodies.items():
        times = list(times_in(body))
        assert times or address == "invoice", address
        assert [each for each in times if not is_right(*each)] == [], address
