"""Repeating a creation with an idempotency key replays the first response (specification, section 8)."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx2
import pytest

from support.orders import at, confirm, create, outstanding, rows, sell
from support.quotes import jobs, keyed, was_replayed
from support.service import MORNING, Customer, Service
from support.shop import ADDRESS, STANDARD, order, price
from tradecounter.customers.queries.accounts import edit_account
from tradecounter.customers.settings import CustomerChange
from tradecounter.db.transaction import Transaction
from tradecounter.sites.schedule import periodic_jobs

PATHS = ["/order", "/quote"]
AUTO_CONFIRM = {"auto_confirm": True, "shipping_method": {"id": STANDARD}}


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def orders_of(shop: Service, customer: Customer) -> int:
    [(count,)] = rows(shop, "select count(*) from orders where customer_id = %s", customer.id)
    return int(count)


def send(customer: Customer, path: str, body: bytes, *headers: tuple[str, str]) -> httpx2.Response:
    sent = [("Content-Type", "application/json"), *headers]
    return customer.http.post(path, content=body, headers=sent)


def message_of(response: httpx2.Response) -> str:
    assert response.status_code == 400, response.text
    message: str = response.json()["message"]
    return message


@pytest.mark.spec("4 POST /order", "Idempotency-Key, and Idempotent-Replay on a replay")
@pytest.mark.spec("8 Idempotency rules", "a replay is the first response byte for byte, marked, and creates nothing")
@pytest.mark.parametrize("path", PATHS)
def test_a_repetition_replays_the_first_response_and_creates_nothing(
    shop: Service, customer: Customer, path: str
) -> None:
    first = keyed(customer, "k-1", path=path)
    assert (first.status_code, was_replayed(first)) == (201, False)
    assert "Idempotent-Replay" not in first.headers
    for _ in range(3):
        again = keyed(customer, "k-1", path=path)
        assert (again.status_code, again.content, was_replayed(again)) == (201, first.content, True)
        assert again.headers["Content-Type"] == first.headers["Content-Type"]
        assert again.headers["X-Request-Id"] != first.headers["X-Request-Id"]
    assert orders_of(shop, customer) == 1


@pytest.mark.spec("8 Idempotency key", "kept permanently")
def test_a_key_is_kept_permanently(shop: Service, customer: Customer) -> None:
    async def clean_up(tx: Transaction) -> None:
        for job in periodic_jobs(shop.settings):
            await job.work(tx, shop.clock.now())

    first = keyed(customer, "k-1")
    shop.clock.advance(timedelta(days=3650))
    shop.in_transaction(clean_up)
    again = keyed(customer, "k-1")
    shop.clock.set(MORNING)
    assert (again.status_code, again.content, was_replayed(again)) == (201, first.content, True)


@pytest.mark.spec("4 POST /quote", "Idempotency-Key")
def test_a_repeated_quote_is_mailed_to_support_once(shop: Service, customer: Customer) -> None:
    quote = keyed(customer, "k-1", path="/quote").json()
    keyed(customer, "k-1", path="/quote")
    assert len(jobs(shop, "mail_quote_requested", quote)) == 1


def test_an_auto_confirmed_order_is_charged_and_allocated_once(shop: Service, customer: Customer) -> None:
    sku = sell(shop, "ONCE", 10, available=5)
    body = order([(sku, 2)], **AUTO_CONFIRM)
    first, again = keyed(customer, "k-1", body), keyed(customer, "k-1", body)
    assert again.content == first.content
    assert [found["id"] for found in customer.get("/order").json()] == [first.json()["order_id"]]
    assert rows(shop, "select gross from orders where customer_id = %s", customer.id) == [
        (outstanding(shop, customer),)
    ]


def test_a_replay_ignores_later_changes(shop: Service) -> None:
    sku = sell(shop, "CHANGES", 10, available=5)
    customer = shop.customer(credit="36.00", unique_references=True)
    address = customer.post("/customer/address", ADDRESS).json()["id"]
    body = order([(sku, 1)], shipping_address={"id": address}, **AUTO_CONFIRM)
    first = keyed(customer, "k-1", body)
    assert first.status_code == 201, first.text

    customer.delete(f"/customer/address/{address}")
    shop.must_load("price-list", [price(sku, 99)])
    shop.must_load("products", [{"sku": sku, "active": False}])
    shop.in_transaction(lambda tx: edit_account(tx, customer.id, CustomerChange(credit_limit=Decimal(0))))
    assert keyed(customer, "k-2", body).status_code == 400
    with at(shop, MORNING + timedelta(days=3650)):
        again = keyed(customer, "k-1", body)
    assert (again.status_code, again.content, was_replayed(again)) == (201, first.content, True)


def test_a_replay_shows_a_pending_order_even_after_its_confirmation(customer: Customer) -> None:
    first = keyed(customer, "k-1")
    assert confirm(customer, first.json()).status_code == 200
    assert keyed(customer, "k-1").content == first.content


def test_the_spelling_of_json_does_not_matter(customer: Customer) -> None:
    body = order(external_customer_id="Zoë", ignored=[1.50, 100])
    first = keyed(customer, "k-1", body)
    backwards = json.dumps(dict(reversed(body.items())), indent=3).replace("1.5,", "15e-1,").replace("100\n", "1e2\n")
    again = send(customer, "/order", backwards.encode(), ("Idempotency-Key", "k-1"))
    assert (again.status_code, again.content) == (201, first.content)
    assert was_replayed(again)


@pytest.mark.spec("7 400", "a key with another method, path or body")
@pytest.mark.parametrize(
    "body",
    [
        order([("PHONE", 2)]),
        order(customer_reference="PO-2"),
        order(auto_confirm=False),
        order(ignored=1),
        order([("NOTHING", 1)]),
        {},
    ],
    ids=["quantity", "reference", "explicit default", "ignored field", "unknown product", "nothing"],
)
def test_another_body_with_the_same_key_is_rejected(shop: Service, customer: Customer, body: dict[str, Any]) -> None:
    first = keyed(customer, "k-1")
    assert message_of(keyed(customer, "k-1", body)).startswith("Idempotency-Key: was used for a request with another")
    assert orders_of(shop, customer) == 1
    assert keyed(customer, "k-1").content == first.content


@pytest.mark.spec("7 400", "a key with another method, path or body")
@pytest.mark.spec("8 Idempotency key", "for the account and the identical method, path and body")
@pytest.mark.parametrize(("path", "other"), [("/order", "/quote"), ("/quote", "/order")])
def test_another_path_with_the_same_key_is_rejected(shop: Service, customer: Customer, path: str, other: str) -> None:
    keyed(customer, "k-1", path=path)
    assert message_of(keyed(customer, "k-1", path=other)).startswith("Idempotency-Key: was used")
    assert orders_of(shop, customer) == 1


def test_a_repetition_with_invalid_json_is_rejected_as_such(customer: Customer) -> None:
    keyed(customer, "k-1")
    assert "not valid JSON" in message_of(send(customer, "/order", b"{", ("Idempotency-Key", "k-1")))
    assert "empty" in message_of(send(customer, "/order", b"", ("Idempotency-Key", "k-1")))


@pytest.mark.spec("8 Idempotency key", "for the account and the identical method, path and body")
def test_customers_may_use_the_same_key(shop: Service, customer: Customer) -> None:
    other = shop.customer()
    mine, theirs = keyed(customer, "k-1"), keyed(other, "k-1", order([("CABLE", 3)]))
    assert (theirs.status_code, was_replayed(theirs)) == (201, False)
    assert theirs.json()["confirmation_code"] != mine.json()["confirmation_code"]
    assert keyed(customer, "k-1").content == mine.content
    assert keyed(other, "k-1", order([("CABLE", 3)])).content == theirs.content


def test_different_keys_and_no_key_create_each_time(shop: Service, customer: Customer) -> None:
    responses = [keyed(customer, key) for key in ("k-1", "K-1", "k-1 x")]
    responses += [customer.post("/order", order()) for _ in range(2)]
    assert not any(map(was_replayed, responses))
    assert len({response.json()["confirmation_code"] for response in responses}) == 5
    assert orders_of(shop, customer) == 5


@pytest.mark.spec("8 Idempotency key", "255 characters at most")
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("key", ["", "a" * 256, "tab\there", "clé", "\xff"])
def test_an_invalid_key_is_rejected_with_the_headers_name(
    shop: Service, customer: Customer, path: str, key: str
) -> None:
    response = customer.http.post(path, json=order(), headers=[(b"Idempotency-Key", key.encode("latin-1"))])
    assert message_of(response).startswith("Idempotency-Key: must be 1 to 255")
    assert orders_of(shop, customer) == 0


@pytest.mark.parametrize("key", [b"\x01", b"\x7f"])
def test_control_characters_are_invalid_http(shop: Service, customer: Customer, key: bytes) -> None:
    assert "not valid HTTP" in message_of(
        customer.http.post("/order", json=order(), headers=[(b"Idempotency-Key", key)])
    )
    assert orders_of(shop, customer) == 0


@pytest.mark.spec("8 Idempotency key", "255 characters at most")
def test_the_longest_key_is_accepted(customer: Customer) -> None:
    key = "k" * 255
    assert keyed(customer, key).content == keyed(customer, key).content


def test_repeated_idempotency_keys_must_be_equal(shop: Service, customer: Customer) -> None:
    body = json.dumps(order()).encode()
    twice = send(customer, "/order", body, ("Idempotency-Key", "a"), ("Idempotency-Key", "b"))
    assert "sent twice" in message_of(twice)
    assert orders_of(shop, customer) == 0
    same = send(customer, "/order", body, ("Idempotency-Key", "a"), ("Idempotency-Key", "a"))
    assert same.status_code == 201
    assert was_replayed(keyed(customer, "a"))


def test_the_credential_is_checked_before_the_idempotency_key(shop: Service) -> None:
    assert shop.client().post("/order", json=order(), headers={"Idempotency-Key": ""}).status_code == 401


def test_other_operations_ignore_the_header(customer: Customer) -> None:
    headers = {"Idempotency-Key": "k" * 300}
    pending = create(customer)
    confirmed = customer.put(
        f"/order/{pending['confirmation_code']}", {"shipping_method": {"id": STANDARD}}, headers=headers
    )
    assert confirmed.status_code == 200
    assert "Idempotent-Replay" not in confirmed.headers
    assert customer.post("/customer/address", ADDRESS, headers=headers).status_code == 201
