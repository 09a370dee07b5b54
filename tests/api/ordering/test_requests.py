"""`POST /request` and `GET /request`, and the back office's `/api/request`."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, backoffice_of
from support.events import events
from support.mail import deliver_mail, plain
from support.orders import buy, dispatch, rows
from support.pages import staff_member, text_of
from support.service import Customer, Service


@pytest.fixture(scope="module")
def office(shop: Service) -> Iterator[BackOfficeSite]:
    with backoffice_of(shop) as running:
        yield running


@pytest.fixture(scope="module")
def erp(office: BackOfficeSite) -> httpx2.Client:
    return office.caller("orders:write")


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer(company="Asking Ltd")


def asked(customer: Customer, placed: dict[str, Any], **body: Any) -> httpx2.Response:
    return customer.post(
        "/request", {"kind": "message", "order_reference": placed["order_reference"], "text": "Where is it?", **body}
    )


def test_a_program_asks_to_cancel_and_reads_the_answer(customer: Customer, erp: httpx2.Client) -> None:
    placed = buy(customer, [("PHONE", 5)])
    units = {"id": placed["items"][0]["id"], "quantity": 2}
    opened = asked(customer, placed, kind="cancel", items=[units], text="Two too many")
    assert opened.status_code == 201
    request = opened.json()
    assert (request["kind"], request["state"], request["text"]) == ("cancel", "open", "Two too many")
    assert request["items"] == [{**units, "sku": "PHONE"}]
    assert "answer" not in request
    assert customer.get("/request").json() == [request]
    closed = erp.post(f"/api/request/{request['id']}/close", json={"text": "Two are cancelled."}).json()
    assert (closed["state"], closed["answer"], closed["customer_id"]) == ("closed", "Two are cancelled.", customer.id)
    [found] = customer.get("/request?state=closed").json()
    assert (found["state"], found["answer"]) == ("closed", "Two are cancelled.")
    assert found["closed_on"]
    assert customer.get("/request?state=open").json() == []
    assert (
        customer.get(f"/order/{placed['order_reference']}").json()["items"][0]["quantity"] == 5
    )  # asking changes nothing


def test_the_answer_goes_to_the_account_and_both_are_events(
    shop: Service, customer: Customer, erp: httpx2.Client
) -> None:
    placed = buy(customer)
    number = asked(customer, placed).json()["id"]
    [told] = [
        mail for mail in deliver_mail(shop) if mail["Subject"].startswith(f"Message: {placed['order_reference']}")
    ]
    assert "Where is it?" in plain(told)
    erp.post(f"/api/request/{number}/close", json={"text": "On its way."})
    [mail] = [
        found for found in deliver_mail(shop) if found["Subject"] == f"Your request about {placed['order_reference']}"
    ]
    [(email,)] = rows(shop, "select email_address from customer where id = %s", customer.id)
    assert [address.addr_spec for address in mail["To"].addresses] == [email]
    assert "On its way." in plain(mail)
    types = [event["type"] for event in events(shop, customer)]
    assert [name for name in types if name.startswith("request.")] == ["request.opened", "request.closed"]
    entries = "select actor_kind from audit_entry where subject = %s and action like 'request.%%' order by id"
    assert rows(shop, entries, f"order/{placed['order_reference']}") == [("key",), ("token",)]


def test_a_repeated_request_asks_once(customer: Customer) -> None:
    placed = buy(customer)
    body = {"kind": "message", "order_reference": placed["order_reference"], "text": "Hello"}
    headers = {"Idempotency-Key": "ask-1"}
    with ThreadPoolExecutor(4) as pool:
        statuses = set(
            pool.map(lambda _: customer.http.post("/request", json=body, headers=headers).status_code, range(4))
        )
    assert statuses <= {201, 409}
    again = customer.http.post("/request", json=body, headers=headers)
    assert (again.status_code, again.headers["Idempotent-Replay"]) == (201, "true")
    assert customer.get("/request").json() == [again.json()]
    other = customer.http.post("/request", json={**body, "text": "Other"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (400, "idempotency_key_reused")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"kind": "destroy"}, "kind"),
        ({"kind": "cancel", "items": [{"id": 1, "quantity": 1}]}, "items[0].id"),
        ({"kind": "cancel"}, "items"),
        ({"kind": "message", "text": " "}, "text"),
        ({"kind": "message", "text": "x" * 5001}, "text"),
        ({"items": [{"id": "x"}]}, "items[0].id"),
        ({"items": [{"quantity": 1}]}, "items[0].id"),
        ({"order_reference": 7}, "order_reference"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_is_asked(customer: Customer, body: dict[str, Any], field: str) -> None:
    rejected = asked(customer, buy(customer), **body)
    assert rejected.status_code == 400, rejected.text
    assert rejected.json()["errors"][0]["field"] == field
    assert customer.get("/request").json() == []


def test_units_must_be_there_to_cancel_or_to_return(shop: Service, customer: Customer) -> None:
    placed = buy(customer, [("PHONE", 2)])
    units = [{"id": placed["items"][0]["id"], "quantity": 2}]
    rejected = asked(customer, placed, kind="return", items=units)
    assert (rejected.status_code, rejected.json()["message"]) == (
        400,
        "items[0].quantity: PHONE has nothing left to return",
    )
    dispatch(shop, placed)
    assert asked(customer, placed, kind="cancel", items=units).status_code == 400
    assert asked(customer, placed, kind="return", items=units, text="").status_code == 201


def test_an_order_is_named_in_any_case_and_with_white_space_around_it(customer: Customer) -> None:
    placed = buy(customer)
    opened = asked(customer, placed, order_reference=f" {placed['order_reference'].lower()} ")
    assert opened.json()["order_reference"] == placed["order_reference"]
    assert asked(customer, placed, order_reference=f"{placed['order_id']} ").status_code == 201


def test_orders_and_requests_of_others_are_unknown(shop: Service, customer: Customer) -> None:
    placed = buy(shop.customer())
    rejected = asked(customer, placed)
    assert (rejected.status_code, rejected.json()["code"]) == (404, "not_found")
    assert customer.get("/request").json() == []


def test_staff_see_which_program_asked(office: BackOfficeSite, customer: Customer) -> None:
    number = asked(customer, buy(customer)).json()["id"]
    sam = staff_member(office.service, office.url, "support")
    assert "the program test" in text_of(sam.get(f"/request/{number}"))


def test_requests_are_listed_for_the_reseller(customer: Customer, erp: httpx2.Client) -> None:
    numbers = [asked(customer, buy(customer)).json()["id"] for _ in range(3)]
    first = erp.get("/api/request", params={"customer_id": customer.id, "limit": 2})
    assert [request["id"] for request in first.json()] == numbers[:0:-1]
    following = erp.get(first.links["next"]["url"]).json()
    assert [request["id"] for request in following] == numbers[:1]
    assert erp.get(f"/api/request/{numbers[0]}").json() == following[0]
    erp.post(f"/api/request/{numbers[0]}/close", json={"text": "Done."})
    found = erp.get("/api/request", params={"customer_id": customer.id, "state": "closed"}).json()
    assert [(request["id"], request["closed_by"]) for request in found] == [(numbers[0], "test")]


def test_a_request_is_closed_once_and_needs_an_answer(customer: Customer, erp: httpx2.Client) -> None:
    path = f"/api/request/{asked(customer, buy(customer)).json()['id']}/close"
    assert erp.post(path, json={"text": " "}).json()["errors"][0]["field"] == "text"
    with ThreadPoolExecutor(4) as pool:
        statuses = sorted(pool.map(lambda n: erp.post(path, json={"text": f"Answer {n}"}).status_code, range(4)))
    assert statuses == [200, 409, 409, 409]
    assert erp.post("/api/request/999999999/close", json={"text": "x"}).status_code == 404
