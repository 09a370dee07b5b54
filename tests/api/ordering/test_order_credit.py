"""Credit when ordering: 402 without terms and beyond the limit (specification, sections 1 and 7; credit)."""

from decimal import Decimal
from typing import Any

import httpx2
import pytest

from support.orders import at, buy, confirm, create, level, outstanding, rows, sell, uk
from support.service import Customer, Service
from support.shop import EUROPE, GERMAN_ADDRESS, NEXT_DAY, STANDARD, order
from tradecounter.customers.queries.accounts import edit_account
from tradecounter.customers.settings import CustomerChange

# One phone: 50.00 net and 10.00 tax; shipping 5.50 net and 1.10 tax by STANDARD, 10.00 and 2.00 by NEXT_DAY.
ITEMS, BY_STANDARD, BY_NEXT_DAY = "60.00", "66.60", "72.00"


def edit(shop: Service, customer: Customer, **values: Any) -> None:
    shop.in_transaction(lambda tx: edit_account(tx, customer.id, CustomerChange(**values)))


def a_penny_less(amount: str) -> str:
    return str(Decimal(amount) - Decimal("0.01"))


def place(customer: Customer, **values: Any) -> httpx2.Response:
    return customer.post("/order", order(**values))


@pytest.mark.spec("1 General rules", "an order needs credit terms and enough available credit, else 402")
@pytest.mark.spec("7 402", "no credit terms, or not enough credit")
def test_an_account_without_credit_terms_cannot_order(shop: Service) -> None:
    customer = shop.customer(credit=None)
    for values in ({}, {"shipping_method": {"id": STANDARD}}, {"shipping_method": {"id": 11}, "auto_confirm": True}):
        response = place(customer, **values)
        assert response.status_code == 402
        assert "no credit terms" in response.json()["message"]


@pytest.mark.spec("1 General rules", "an order needs credit terms and enough available credit, else 402")
@pytest.mark.parametrize(
    ("values", "default", "gross"),
    [
        pytest.param({}, None, ITEMS, id="items alone without a method and a default"),
        pytest.param({"shipping_method": {"id": STANDARD}}, None, BY_STANDARD, id="the named method's shipping counts"),
        pytest.param({"shipping_method": {"id": STANDARD}}, NEXT_DAY, BY_STANDARD, id="not the default's shipping"),
        pytest.param({}, NEXT_DAY, BY_NEXT_DAY, id="the default's shipping counts"),
        pytest.param({}, EUROPE, ITEMS, id="a default that is not an option is not used"),
        pytest.param({"shipping_address": GERMAN_ADDRESS}, EUROPE, "70.00", id="no tax, not even on shipping"),
        pytest.param({"shipping_method": {"id": 12}, "auto_confirm": True}, None, BY_NEXT_DAY, id="auto-confirmed"),
    ],
)
def test_an_order_may_use_all_the_credit_but_no_more(
    shop: Service, values: dict[str, Any], default: int | None, gross: str
) -> None:
    enough = shop.customer(credit=gross, shipping_method=default)
    assert place(enough, **values).status_code == 201
    too_little = shop.customer(credit=a_penny_less(gross), shipping_method=default)
    response = place(too_little, **values)
    assert response.status_code == 402
    assert gross in response.json()["message"]
    assert a_penny_less(gross) in response.json()["message"]
    assert rows(shop, "select count(*) from orders where customer_id = %s", too_little.id) == [(0,)]


@pytest.mark.spec("3 POST /order, to be confirmed", "enough credit must be available")
def test_outstanding_debt_is_not_available_credit(shop: Service) -> None:
    customer = shop.customer(credit="133.20")
    buy(customer)
    assert place(customer, shipping_method={"id": STANDARD}).status_code == 201
    assert place(customer, shipping_method={"id": NEXT_DAY}).status_code == 402
    assert outstanding(shop, customer) == Decimal(BY_STANDARD)


def test_pending_orders_do_not_reserve_credit(shop: Service) -> None:
    customer = shop.customer(credit=BY_STANDARD)
    for _ in range(3):
        create(customer, shipping_method={"id": STANDARD})
    assert customer.get("/customer/credit").json()["available_credit"] == 66.60


@pytest.mark.spec("7 402", "no credit terms, or not enough credit")
def test_credit_is_checked_again_at_confirmation(shop: Service) -> None:
    sku = sell(shop, "TWICE", 50, available=10)
    customer = shop.customer(credit="100.00")
    first, second = create(customer, [(sku, 1)]), create(customer, [(sku, 1)])
    assert confirm(customer, first).status_code == 200

    rejected = confirm(customer, second)
    assert rejected.status_code == 402
    assert "66.60" in rejected.json()["message"]
    assert "33.40" in rejected.json()["message"]
    assert outstanding(shop, customer) == Decimal(BY_STANDARD)
    assert level(shop, sku) == (9, 1, 0)
    assert len(customer.get("/order").json()) == 1


def test_an_order_rejected_for_lack_of_credit_stays_pending(shop: Service) -> None:
    customer = shop.customer(credit=ITEMS)
    pending = create(customer)
    assert confirm(customer, pending).status_code == 402
    edit(shop, customer, credit_limit=Decimal(BY_STANDARD))
    assert confirm(customer, pending).status_code == 200
    assert outstanding(shop, customer) == Decimal(BY_STANDARD)


def test_a_more_expensive_method_at_confirmation_needs_more_credit(shop: Service) -> None:
    customer = shop.customer(credit=BY_STANDARD)
    pending = create(customer, shipping_method={"id": STANDARD})
    assert confirm(customer, pending, NEXT_DAY).status_code == 402
    assert confirm(customer, pending, None).status_code == 200


def test_removing_the_credit_terms_prevents_the_confirmation(shop: Service) -> None:
    customer = shop.customer()
    pending = create(customer)
    edit(shop, customer, credit_limit=None, term_days=None)
    rejected = confirm(customer, pending)
    assert rejected.status_code == 402
    assert "no credit terms" in rejected.json()["message"]
    assert outstanding(shop, customer) == 0


def test_an_expired_order_is_410_even_without_credit(shop: Service) -> None:
    customer = shop.customer(credit=ITEMS)
    pending = create(customer)
    with at(shop, uk(2026, 6, 18)):
        assert confirm(customer, pending).status_code == 410


def test_a_missing_method_is_412_even_without_credit(shop: Service) -> None:
    assert place(shop.customer(credit="0.00"), auto_confirm=True).status_code == 412
