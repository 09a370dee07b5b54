"""`GET /customer/credit` with many outstanding orders: sent in chunks, from one database snapshot."""

import json
from decimal import Decimal
from typing import Any

import pytest

from support.billing import invoiced, pay
from support.orders import buy
from support.service import Customer, Service
from support.slow_reader import slow_reader

MANY = 105  # two chunks
PATH = "/customer/credit"


@pytest.fixture(scope="module")
def placed(shop: Service, customer: Customer) -> list[dict[str, Any]]:
    """The customer's orders; only the last is invoiced."""
    orders = [buy(customer, [("CABLE", 1)], customer_reference=f"PO-{number}") for number in range(MANY)]
    return [*orders, invoiced(shop, customer, ("CABLE", 1))]


@pytest.fixture(scope="module")
def customer(shop: Service) -> Customer:
    return shop.customer()


@pytest.mark.sweep
def test_all_outstanding_orders_are_listed_oldest_first(customer: Customer, placed: list[dict[str, Any]]) -> None:
    response = customer.get(PATH)
    assert "Content-Length" not in response.headers, "the response is chunked"
    found = json.loads(response.content, parse_float=Decimal)
    orders = found["outstanding_orders"]
    assert [order["order_reference"] for order in orders] == [order["order_reference"] for order in placed]
    assert sum(order["total_due"] for order in orders) == found["total_outstanding"]
    assert found["available_credit"] == found["credit_limit"] - found["total_outstanding"]


def test_a_payment_during_the_response_changes_neither_the_total_nor_the_orders(
    shop: Service, customer: Customer, placed: list[dict[str, Any]]
) -> None:
    before = customer.get(PATH).json()
    with slow_reader(shop, customer, PATH) as reader:
        reader.take()
        pay(shop, placed[-1], "1.00")
        assert json.loads(reader.rest()) == before
    after = customer.get(PATH).json()
    assert after["total_outstanding"] == pytest.approx(before["total_outstanding"] - 1)
    assert after["outstanding_orders"][-1]["total_paid"] == 1
