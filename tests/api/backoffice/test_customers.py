"""`/api/customer` and what belongs to a customer."""

import itertools
from typing import Any

import httpx2
import pytest

from support.backoffice import BackOfficeSite, pages
from support.orders import rows
from support.shop import ADDRESS

_numbers = itertools.count(1)


def new_customer(**values: Any) -> dict[str, Any]:
    number = next(_numbers)
    return {"email_address": f"new{number}@shop.example", "first_name": "Ada", "last_name": f"New {number}", **values}


@pytest.fixture
def customer_id(staff: httpx2.Client) -> int:
    made: int = staff.post("/api/customer", json=new_customer()).json()["id"]
    return made


def test_a_customer_is_added_changed_and_read(staff: httpx2.Client) -> None:
    body = new_customer(credit_limit=500, term_days=30, discount=2.5)
    made = staff.post("/api/customer", json=body)
    assert made.status_code == 201
    assert made.headers["Location"] == f"/api/customer/{made.json()['id']}"
    assert made.json()["credit"] == {
        "credit_limit": 500, "total_outstanding": 0, "available_credit": 500, "overdue": 0, "unallocated": 0,
    }  # fmt: skip
    address = made.headers["Location"]
    changed = staff.patch(address, json={"company": " Acme ", "credit_limit": None, "term_days": None})
    assert (changed.json()["company"], changed.json()["credit_limit"]) == ("Acme", None)
    assert changed.json()["discount"] == 2.5, "what is not named stays"
    assert staff.get(address).json() == changed.json()
    assert changed.json()["created_at"].endswith("Z")


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"discount": 101}, 400, "discount: must be a number between 0 and 100, not 101"),
        ({"email_address": "nobody"}, 400, "email_address: must be an e-mail address"),
        ({"credit_limit": 5}, 400, "credit_limit: must go together with term_days: set both or neither"),
        ({"price_list": "none"}, 400, "price_list: price list 'none' does not exist: import it first"),
        ({"discount": "5"}, 400, "discount: must be a number, not text"),
        ({"credit_limit": "500.00", "term_days": 30}, 400, "credit_limit: must be a number, not text"),
        ({"first_name": None}, 400, "first_name: must be text, not null"),
        ({}, 400, "customer: name at least one change"),
    ],
)
def test_a_wrong_change_is_rejected(
    staff: httpx2.Client, customer_id: int, change: dict[str, Any], status: int, message: str
) -> None:
    response = staff.patch(f"/api/customer/{customer_id}", json=change)
    assert (response.status_code, response.json()["message"]) == (status, message)


def test_texts_of_a_customer_are_stored_without_blank_ends_by_the_api_and_by_files(
    office: BackOfficeSite, staff: httpx2.Client
) -> None:
    texts = {"first_name": " Ada\u200b", "last_name": "\u00a0Lovelace ", "company": "  Engines\u200b "}
    office.service.must_load("customers", [new_customer() | texts])
    assert staff.post("/api/customer", json=new_customer() | texts).status_code == 201
    stored = "select first_name, last_name, company from customer order by id desc limit 2"
    assert rows(office.service, stored) == [("Ada", "Lovelace", "Engines")] * 2


def test_a_price_list_is_named_in_any_case_and_stored_as_it_is_spelled(staff: httpx2.Client) -> None:
    made = staff.post("/api/customer", json=new_customer(price_list="DEFAULT"))
    assert (made.status_code, made.json()["price_list"]) == (201, "default")
    address = made.headers["Location"]
    assert staff.patch(address, json={"price_list": None}).json()["price_list"] is None
    changed = staff.patch(address, json={"price_list": " Default"})
    assert (changed.status_code, changed.json()["price_list"]) == (200, "default")


def test_credit_terms_are_changed_one_at_a_time_while_both_are_set(staff: httpx2.Client) -> None:
    address = staff.post("/api/customer", json=new_customer(credit_limit=500, term_days=30)).headers["Location"]
    changed = staff.patch(address, json={"term_days": 60})
    assert (changed.status_code, changed.json()["term_days"], changed.json()["credit_limit"]) == (200, 60, 500)
    for half in ({"credit_limit": None}, {"term_days": None}):
        rejected = staff.patch(address, json=half)
        assert (rejected.status_code, rejected.json()["errors"][0]["field"]) == (400, "credit_limit")
    assert staff.get(address).json() == changed.json()


def test_null_clears_what_can_be_empty(staff: httpx2.Client) -> None:
    nothing = {"company": None, "accounts_email": None, "price_list": None, "shipping_method": None}
    made = staff.post("/api/customer", json=new_customer(**nothing))
    assert (made.status_code, made.json()["company"]) == (201, "")
    address = made.headers["Location"]
    named = {"company": "Acme", "accounts_email": "bills@acme.example"}
    assert {**staff.patch(address, json=named).json(), **named} == staff.get(address).json()
    cleared = staff.patch(address, json=nothing)
    assert (cleared.status_code, cleared.json()) == (200, made.json())


def test_amounts_of_a_new_customer_are_numbers(staff: httpx2.Client) -> None:
    response = staff.post("/api/customer", json=new_customer(credit_limit="500", term_days=30, discount="2.5"))
    assert response.status_code == 400
    assert {error["field"] for error in response.json()["errors"]} == {"credit_limit", "discount"}


def test_a_taken_address_is_a_conflict_and_an_unknown_customer_is_not_found(staff: httpx2.Client) -> None:
    body = new_customer()
    assert staff.post("/api/customer", json=body).status_code == 201
    assert staff.post("/api/customer", json=body).status_code == 409
    assert staff.patch("/api/customer/999999", json={"company": "X"}).status_code == 404
    for part in ("", "/key", "/user", "/address"):
        assert staff.get(f"/api/customer/999999{part}").status_code == 404


def test_the_list_is_read_by_cursor(staff: httpx2.Client, customer_id: int) -> None:
    for _ in range(3):
        staff.post("/api/customer", json=new_customer())
    listed = [customer["id"] for page in pages(staff, "/api/customer?limit=2") for customer in page]
    assert listed == sorted(set(listed))
    assert customer_id in listed
    found = staff.get(f"/api/customer/{customer_id}").json()
    assert staff.get("/api/customer", params={"email_address": found["email_address"].upper()}).json() == [found]


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "after=x", "after=-1"])
def test_a_bad_cursor_or_limit_is_rejected(staff: httpx2.Client, query: str) -> None:
    for path in ("customer", "order", "quote", "job", "event", "audit"):
        assert staff.get(f"/api/{path}?{query}").status_code == 400, path


def test_a_key_is_shown_once_also_when_the_request_is_repeated(
    office: BackOfficeSite, staff: httpx2.Client, customer_id: int
) -> None:
    address = f"/api/customer/{customer_id}/key"
    once = {"Idempotency-Key": "k-1"}
    made = staff.post(address, json={"name": "ERP"}, headers=once)
    key = made.json()["key"]
    assert len(key) == 64
    assert key.startswith(made.json()["prefix"])
    assert office.service.client(**{"X-Api-Key": key}).get("/customer").status_code == 200
    again = staff.post(address, json={"name": "ERP"}, headers=once)
    assert (again.status_code, again.headers["Idempotent-Replay"]) == (201, "true")
    assert again.json() == {**made.json(), "key": None}
    assert again.headers["Location"] == made.headers["Location"]
    assert staff.post(address, json={"name": "Other"}, headers=once).status_code == 400
    [listed] = staff.get(address).json()
    assert (listed["name"], listed["disabled_at"]) == ("ERP", None)
    other = office.caller()
    assert other.post(address, json={"name": "ERP"}, headers=once).json()["key"] is not None, "keys are a token's own"
    assert staff.delete(made.headers["Location"]).status_code == 204
    office.service.refresh()
    assert office.service.client(**{"X-Api-Key": key}).get("/customer").status_code == 401
    assert staff.delete(f"{address}/999999").status_code == 404


def test_a_key_has_the_limits_that_it_was_made_with(
    office: BackOfficeSite, staff: httpx2.Client, customer_id: int
) -> None:
    address = f"/api/customer/{customer_id}/key"
    usual = staff.post(address, json={"name": "Usual"}).json()
    assert (usual["scopes"], usual["expires_at"], usual["networks"]) == (["read", "order", "account"], None, [])
    wanted = {
        "scopes": ["order", "read", "read"],
        "expires_at": "2031-01-02T03:04:05Z",
        "networks": ["10.1.2.3/8", "::1"],
    }
    limits = {"scopes": ["read", "order"], "expires_at": "2031-01-02T03:04:05Z", "networks": ["10.0.0.0/8", "::1/128"]}
    made = staff.post(address, json={"name": "Limited", **wanted})
    assert made.status_code == 201
    assert made.json().items() >= limits.items()
    assert staff.get(address).json()[-1].items() >= limits.items()
    [(after,)] = rows(
        office.service, "select after from audit_entry where action = 'key.create' order by id desc limit 1"
    )
    assert (after["scopes"], after["networks"]) == (limits["scopes"], limits["networks"])
    client = office.service.client(**{"X-Api-Key": made.json()["key"], "X-Forwarded-For": "10.9.9.9"})
    assert (client.get("/order").status_code, client.get("/customer").status_code) == (200, 403)


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({"scopes": []}, "scopes"),
        ({"scopes": ["write"]}, "scopes[0]"),
        ({"scopes": "read"}, "scopes"),
        ({"expires_at": "2026-06-15T08:59:59Z"}, "expires_at"),
        ({"expires_at": "2031-01-02T03:04:05"}, "expires_at"),
        ({"expires_at": "9999-12-31T23:59:59-12:00"}, "expires_at"),
        ({"expires_at": "tomorrow"}, "expires_at"),
        ({"networks": ["10.0.0.0/8", "10.0.0.0/33"]}, "networks[1]"),
        ({"networks": ["example.com"]}, "networks[0]"),
        ({"networks": ["10.0.0.1,10.0.0.2"]}, "networks[0]"),
        ({"networks": [""]}, "networks[0]"),
        ({"networks": [f"10.0.0.{n}" for n in range(51)]}, "networks"),
    ],
)
def test_a_limit_that_is_not_valid_is_named_and_makes_no_key(
    staff: httpx2.Client, customer_id: int, limits: dict[str, Any], field: str
) -> None:
    address = f"/api/customer/{customer_id}/key"
    before = staff.get(address).json()
    response = staff.post(address, json={"name": "ERP", **limits})
    assert response.status_code == 400
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert staff.get(address).json() == before


def test_the_first_user_is_the_owner_and_others_are_invited(staff: httpx2.Client) -> None:
    body = new_customer()
    customer_id = staff.post("/api/customer", json=body).json()["id"]
    address = f"/api/customer/{customer_id}/user"
    [owner] = staff.get(address).json()
    assert (owner["email"], owner["role"], owner["has_password"]) == (body["email_address"], "owner", False)
    email = f"second{customer_id}@shop.example"
    invited = staff.post(address, json={"email": email, "role": "buyer"})
    assert (invited.status_code, invited.json()["role"]) == (201, "buyer")
    assert staff.post(address, json={"email": email, "role": "king"}).status_code == 400
    jobs = staff.get("/api/job?limit=1000").json()
    assert "mail_user_invited" in {job["name"] for job in jobs}
    assert staff.delete(invited.headers["Location"]).status_code == 204
    assert staff.get(address).json()[1]["disabled_at"] is not None
    stranger = staff.post("/api/customer", json=new_customer()).json()["id"]
    taken = staff.post(f"/api/customer/{stranger}/user", json={"email": email, "role": "buyer"})
    assert taken.status_code == 409


def test_an_address_is_saved_and_deleted(staff: httpx2.Client, customer_id: int) -> None:
    address = f"/api/customer/{customer_id}/address"
    saved = staff.post(address, json=ADDRESS)
    assert staff.get(address).json() == [saved.json()]
    wrong = staff.post(address, json={**ADDRESS, "country_code": "XX"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (400, "country_code")
    assert staff.delete(saved.headers["Location"]).status_code == 204
    assert staff.get(address).json() == []
    assert staff.delete(saved.headers["Location"]).status_code == 404


def test_changes_name_the_token_and_the_person_behind_it(office: BackOfficeSite) -> None:
    client = office.caller(**{"X-Forwarded-For": "192.0.2.9"})
    client.headers.update([(b"X-Acting-User", "Zoë Warehouse".encode())])
    made = client.post("/api/customer", json=new_customer()).json()["id"]
    client.post(f"/api/customer/{made}/user", json={"email": f"u{made}@shop.example", "role": "owner"})
    [entry] = client.get("/api/audit", params={"subject": f"user/u{made}@shop.example"}).json()
    assert entry["action"] == "user.invite"
    assert client.get("/api/audit", params={"subject": f"u{made}@shop.example"}).json() == [entry]
    assert entry["actor"] | {"id": 0} == {"kind": "token", "id": 0, "name": "test", "acting_user": "Zoë Warehouse"}
    assert entry["address"] == "192.0.2.9"
    assert entry["after"] == {"customer_id": made, "roles": ["owner"]}
    kind = f"token/{entry['actor']['id']}"
    assert entry in client.get("/api/audit", params={"actor": kind, "from": entry["at"]}).json()
    assert client.get("/api/audit", params={"actor": kind, "to": entry["at"]}).json() == []
    assert client.get("/api/audit?from=yesterday").status_code == 400
    assert client.delete("/api/customer/1/key/1", headers={"X-Acting-User": "x" * 201}).status_code == 400


def test_unknown_fields_are_named(staff: httpx2.Client) -> None:
    made = staff.post("/api/customer", json=new_customer(colour="red"))
    assert made.headers["X-Ignored"] == "colour"
    assert staff.get("/api/customer?mail=x").headers["X-Ignored"] == "mail"
