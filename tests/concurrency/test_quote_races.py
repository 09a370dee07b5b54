"""Pricing a quote and confirming it at the same moment: the order has the one price or the other, whole."""

from collections.abc import Callable
from functools import partial
from typing import Any

import httpx2

from support.orders import confirm, faults_in_the_books, in_parallel, rows
from support.quotes import jobs, price_as_support, request_quote
from support.service import Customer, Service
from support.shop import order
from tradecounter.kit.errors import DomainError

ITEMS = [("PHONE", 1), ("CABLE", 1)]


def price_again(shop: Service, quote: dict[str, str]) -> str:
    """Price a quote; why that was refused, or nothing."""
    try:
        price_as_support(shop, quote, ("PHONE", "20"), ("CABLE", "2"))
    except DomainError as refusal:
        return refusal.message
    return ""


def priced_while_confirmed(shop: Service, customer: Customer, quote: dict[str, str]) -> tuple[str, httpx2.Response]:
    """What `price_again` said, and the answer to confirming at the same moment."""
    calls: list[Callable[[], Any]] = [partial(price_again, shop, quote), partial(confirm, customer, quote)]
    refused, answer = in_parallel(calls)
    return refused, answer


def test_a_quote_is_confirmed_at_the_price_before_or_after_never_between(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(10):
        quote = request_quote(customer, ITEMS)
        price_as_support(shop, quote, ("PHONE", "10"), ("CABLE", "1"))

        refused, answer = priced_while_confirmed(shop, customer, quote)

        assert "already confirmed" in refused or refused == ""
        again = not refused
        assert answer.json()["cost_net"] == (22 if again else 11)
        assert [item["cost_net"] for item in answer.json()["items"]] == ([20, 2] if again else [10, 1])
        assert len(jobs(shop, "mail_quote_priced", quote)) == (2 if again else 1)
    assert faults_in_the_books(shop) == {}


def test_a_quote_priced_during_confirmation_has_that_price_or_fails(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(10):
        quote = request_quote(customer, ITEMS)

        _, answer = priced_while_confirmed(shop, customer, quote)

        assert answer.status_code in {200, 412}
        assert answer.status_code == 412 or answer.json()["cost_net"] == 22
    assert faults_in_the_books(shop) == {}


def test_many_prices_at_once_are_counted_and_told_one_by_one(shop: Service) -> None:
    quote = request_quote(shop.customer(), ITEMS)
    assert in_parallel([partial(price_again, shop, quote)] * 8) == [""] * 8
    assert [job["pricing"] for job in jobs(shop, "mail_quote_priced", quote)] == list(range(1, 9))


def test_many_confirmations_of_a_quote_make_one_order(shop: Service) -> None:
    customer = shop.customer()
    quote = request_quote(customer, ITEMS)
    price_as_support(shop, quote, ("PHONE", "10"))
    answers = in_parallel([partial(confirm, customer, quote)] * 20)
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert faults_in_the_books(shop) == {}


def test_of_orders_and_quotes_with_one_unique_reference_one_is_held(shop: Service) -> None:
    customer: Customer = shop.customer(unique_references=True)
    answers = in_parallel([partial(customer.post, path, order()) for path in ("/order", "/quote") * 8])
    assert sorted(answer.status_code for answer in answers) == [201, *[409] * 15]
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(1,)]
