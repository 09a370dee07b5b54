"""Customers with unique references get 409 for a used one (specification, duplicated data)."""

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from support.orders import at, buy, cancel, confirm, create, rows
from support.service import MORNING, Customer, Service
from support.shop import STANDARD, order
from tradecounter.customers.queries.accounts import edit_account
from tradecounter.customers.settings import CustomerChange
from tradecounter.kit.text import INVISIBLE
from tradecounter.orders.cancel_order import expire_orders

EXPIRED = MORNING + timedelta(hours=24, seconds=1)


@pytest.fixture
def customer(shop: Service) -> Customer:
    return shop.customer(unique_references=True)


def place(customer: Customer, reference: str = "PO-1", **values: Any) -> httpx2.Response:
    return customer.post("/order", order(customer_reference=reference, **values))


def conflict(response: httpx2.Response) -> str:
    assert response.status_code == 409, response.text
    message: str = response.json()["message"]
    return message


@pytest.mark.spec("7 409", "duplicate data")
def test_the_reference_of_a_confirmed_order_is_rejected_with_that_order(customer: Customer) -> None:
    placed = buy(customer)
    message = conflict(place(customer))
    assert message == f"customer_reference: 'PO-1' is already used by {placed['order_reference']}"


def test_the_reference_of_a_pending_order_is_rejected_with_its_code(customer: Customer) -> None:
    pending = create(customer)
    assert pending["confirmation_code"] in conflict(place(customer))


def test_confirming_the_pending_order_with_the_reference_is_no_conflict(customer: Customer) -> None:
    placed = confirm(customer, create(customer)).json()
    assert placed["order_reference"] in conflict(place(customer))


def test_an_auto_confirmed_order_is_rejected_too(customer: Customer) -> None:
    create(customer)
    conflict(place(customer, auto_confirm=True, shipping_method={"id": STANDARD}))
    assert customer.get("/order").json() == []


def test_a_rejected_order_stores_nothing(shop: Service, customer: Customer) -> None:
    create(customer)
    conflict(place(customer))
    assert rows(shop, "select count(*) from orders where customer_id = %s", customer.id) == [(1,)]


@pytest.mark.spec("7 409", "duplicate data")
@pytest.mark.parametrize("reference", ["po-1", " PO-1 ", "\tPO-1\n", "PO-1\u00a0", "\ufeffPO-1", "PO\u200b-1"])
def test_references_ignore_case_surrounding_space_and_what_is_invisible(customer: Customer, reference: str) -> None:
    placed = buy(customer)
    assert place(customer, reference).status_code == 409
    [found] = customer.get("/order", params={"customer_reference": reference}).json()
    assert found["order_reference"] == placed["order_reference"]


def test_the_database_knows_the_white_space_and_the_invisible_characters_of_texts(shop: Service) -> None:
    characters = [chr(n) for n in range(1, 0x110000)]
    spaces = [c for c in characters if c.isspace()]
    invisible = [c for c in characters if INVISIBLE.match(c) and not c.isspace()]
    query = "select distinct reference_key('PO' || c || '1') from unnest(%s::text[]) as c"
    assert rows(shop, query, spaces) == [("po 1",)]
    assert rows(shop, query, invisible) == [("po1",)]


@pytest.mark.parametrize("reference", ["PO-2", "PO-10", "PO 1"])
def test_another_reference_is_accepted(customer: Customer, reference: str) -> None:
    create(customer)
    assert place(customer, reference).status_code == 201


def test_the_reference_of_an_expired_order_can_be_used_again(shop: Service, customer: Customer) -> None:
    create(customer)
    with at(shop, MORNING + timedelta(hours=24)):
        conflict(place(customer))
    with at(shop, EXPIRED):
        assert place(customer).status_code == 201


def test_the_reference_of_an_order_marked_expired_can_be_used_again(shop: Service, customer: Customer) -> None:
    create(customer)
    shop.in_transaction(lambda tx: expire_orders(tx, EXPIRED))
    assert place(customer).status_code == 201


def test_the_reference_of_a_cancelled_order_can_be_used_again(shop: Service, customer: Customer) -> None:
    cancel(shop, buy(customer))
    assert place(customer).status_code == 201


def test_another_customers_references_do_not_conflict(shop: Service, customer: Customer) -> None:
    create(shop.customer(unique_references=True))
    assert place(customer).status_code == 201


def test_customers_may_repeat_references_by_default(shop: Service) -> None:
    customer = shop.customer()
    assert [place(customer).status_code for _ in range(2)] == [201, 201]


def test_the_setting_applies_to_earlier_orders_too(shop: Service) -> None:
    customer = shop.customer()
    first = buy(customer)
    buy(customer)
    shop.in_transaction(lambda tx: edit_account(tx, customer.id, CustomerChange(unique_references=True)))
    assert first["order_reference"] in conflict(place(customer))


def test_the_body_is_validated_before_the_reference(customer: Customer) -> None:
    create(customer)
    assert place(customer, shipping_method={"id": 99}).status_code == 400
    assert place(customer, auto_confirm=True).status_code == 412
