"""`GET /quote` and `POST /quote/{confirmation_code}/decline`."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from support.events import events
from support.orders import confirm, rows
from support.quotes import price_as_support, request_quote
from support.service import Customer, Service


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer()


def decline(customer: Customer, code: str, **body: object) -> int:
    return int(customer.post(f"/quote/{code}/decline", body).status_code)


def test_quotes_are_listed_newest_first_as_each_is_shown(shop: Service, customer: Customer) -> None:
    codes = [request_quote(customer)["confirmation_code"] for _ in range(3)]
    price_as_support(shop, {"confirmation_code": codes[0]}, ("PHONE", "40"))
    request_quote(shop.customer())
    found = customer.get("/quote").json()
    assert [quote["confirmation_code"] for quote in found] == codes[::-1]
    assert found == [customer.get(f"/quote/{code}").json() for code in codes[::-1]]
    assert [quote["status"] for quote in found] == ["Waiting", "Waiting", "Priced"]


def test_quotes_come_in_pages(customer: Customer) -> None:
    codes = [request_quote(customer)["confirmation_code"] for _ in range(3)]
    page = customer.get("/quote?limit=2&page=2")
    assert [quote["confirmation_code"] for quote in page.json()] == codes[:1]
    assert page.headers["X-Total-Count"] == "3"
    tag = customer.get("/quote").headers["ETag"]
    assert customer.get("/quote", headers={"If-None-Match": tag}).status_code == 304


def test_declining_is_an_event_once_and_never_a_mail(shop: Service, customer: Customer) -> None:
    code = request_quote(customer)["confirmation_code"]
    for _ in range(2):
        response = customer.post(f"/quote/{code.upper()}/decline", {"reason": "Too dear"})
        assert (response.status_code, response.json()["status"]) == (200, "Declined")
    assert [event["type"] for event in events(shop, customer)].count("quote.declined") == 1
    audited = "select actor_kind, after ->> 'reason' from audit_entry where action = 'quote.decline'"
    assert rows(shop, f"{audited} order by id desc limit 1") == [("key", "Too dear")]


def test_two_who_decline_at_once_both_succeed(shop: Service, customer: Customer) -> None:
    code = request_quote(customer)["confirmation_code"]
    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: decline(customer, code), range(8))) == {200}
    assert [event["type"] for event in events(shop, customer)].count("quote.declined") == 1


def test_what_is_ordered_expired_or_another_customers_cannot_be_declined(shop: Service, customer: Customer) -> None:
    ordered = request_quote(customer)
    price_as_support(shop, ordered, ("PHONE", "40"))
    assert confirm(customer, ordered).status_code == 200
    assert decline(customer, ordered["confirmation_code"]) == 409
    waiting = request_quote(customer)["confirmation_code"]
    stranger = shop.customer()
    unknown = stranger.post(f"/quote/{waiting}/decline", {})
    assert (unknown.status_code, unknown.json()) == (404, stranger.get(f"/quote/{waiting}").json())
    assert decline(customer, waiting, reason="x" * 1001) == 400
    assert customer.get(f"/quote/{waiting}").json()["status"] == "Waiting"


def test_a_declined_quote_cannot_be_confirmed(shop: Service, customer: Customer) -> None:
    quote = request_quote(customer)
    price_as_support(shop, quote, ("PHONE", "40"))
    assert decline(customer, quote["confirmation_code"]) == 200
    assert confirm(customer, quote).status_code == 410
