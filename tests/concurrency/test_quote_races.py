"""Concurrent pricing and confirmation of a quote: the order has one price or the other, never a mixture."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx2
import psycopg
import pytest

from support.orders import confirm, faults_in_the_books, in_parallel, rows
from support.quotes import jobs, price_as_support, request_quote
from support.service import Customer, Service
from support.shop import order
from support.waiting import waiting_for_a_lock
from tradecounter.kit.errors import DomainError
from tradecounter.quotes.handle_quotes import decline_quote

pytestmark = pytest.mark.sweep

ITEMS = [("PHONE", 1), ("CABLE", 1)]


def price_again(shop: Service, quote: dict[str, str]) -> str:
    """Price a quote; return the error message, empty on success."""
    try:
        price_as_support(shop, quote, ("PHONE", "20"), ("CABLE", "2"))
    except DomainError as error:
        return error.message
    return ""


def priced_while_confirmed(shop: Service, customer: Customer, quote: dict[str, str]) -> tuple[str, httpx2.Response]:
    """Price and confirm a quote concurrently; return the result of `price_again` and the confirmation's response."""
    calls: list[Callable[[], Any]] = [partial(price_again, shop, quote), partial(confirm, customer, quote)]
    rejected, response = in_parallel(calls)
    return rejected, response


def test_a_quote_is_confirmed_at_its_old_or_its_new_price_never_a_mixture(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(10):
        quote = request_quote(customer, ITEMS)
        price_as_support(shop, quote, ("PHONE", "10"), ("CABLE", "1"))

        rejected, response = priced_while_confirmed(shop, customer, quote)

        assert rejected.endswith(", which is awaiting dispatch") or rejected == ""
        again = not rejected
        assert response.json()["cost_net"] == (22 if again else 11)
        assert [item["cost_net"] for item in response.json()["items"]] == ([20, 2] if again else [10, 1])
        assert len(jobs(shop, "mail_quote_priced", quote)) == (2 if again else 1)
    assert faults_in_the_books(shop) == {}


def test_a_quote_priced_during_confirmation_has_that_price_or_fails(shop: Service) -> None:
    customer = shop.customer()
    for _ in range(10):
        quote = request_quote(customer, ITEMS)

        _, response = priced_while_confirmed(shop, customer, quote)

        assert response.status_code in {200, 412}
        assert response.status_code == 412 or response.json()["cost_net"] == 22
    assert faults_in_the_books(shop) == {}


def test_concurrent_pricings_are_counted_and_mailed_one_by_one(shop: Service) -> None:
    quote = request_quote(shop.customer(), ITEMS)
    assert in_parallel([partial(price_again, shop, quote)] * 8) == [""] * 8
    assert [job["pricing"] for job in jobs(shop, "mail_quote_priced", quote)] == list(range(1, 9))


def test_many_confirmations_of_a_quote_make_one_order(shop: Service) -> None:
    customer = shop.customer()
    quote = request_quote(customer, ITEMS)
    price_as_support(shop, quote, ("PHONE", "10"))
    responses = in_parallel([partial(confirm, customer, quote)] * 20)
    assert {response.status_code for response in responses} == {200}
    assert len({response.content for response in responses}) == 1
    assert faults_in_the_books(shop) == {}


def test_one_of_several_orders_and_quotes_with_a_unique_reference_is_created(shop: Service) -> None:
    customer: Customer = shop.customer(unique_references=True)
    responses = in_parallel([partial(customer.post, path, order()) for path in ("/order", "/quote") * 8])
    assert sorted(response.status_code for response in responses) == [201, *[409] * 15]
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(1,)]


def test_a_quote_that_its_customer_accepts_first_is_not_declined(shop: Service) -> None:
    customer = shop.customer()
    quote = request_quote(customer, ITEMS)
    price_as_support(shop, quote, ("PHONE", "10"))

    def decline() -> None:
        shop.in_transaction(partial(decline_quote, code=quote["confirmation_code"], reason="No", now=shop.clock.now()))

    with ThreadPoolExecutor(2) as threads, psycopg.connect(shop.database_url) as holder:
        holder.execute("select from orders where confirmation_code = %s for update", [quote["confirmation_code"]])
        confirmed = threads.submit(confirm, customer, quote)
        waiting_for_a_lock(shop.database_url)
        declined = threads.submit(decline)
        waiting_for_a_lock(shop.database_url, processes=2)
        holder.commit()
        reference = confirmed.result(timeout=30).json()["order_reference"]
        with pytest.raises(DomainError, match=f"the quote is already order {reference}"):
            declined.result(timeout=30)
    assert customer.get(f"/order/{reference}").json()["status"] == "Awaiting dispatch"
    assert faults_in_the_books(shop) == {}
