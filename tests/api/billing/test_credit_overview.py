"""`GET /customer/credit` (specification, section 2; credit overview)."""

from decimal import Decimal
from typing import Any

import pytest

from support.billing import invoiced, issue, pay
from support.orders import at, buy, create, dispatch, uk
from support.service import Customer, Service
from support.shop import NEXT_DAY
from tradecounter.customers.queries.accounts import edit_account
from tradecounter.customers.settings import CustomerChange


def overview(customer: Customer) -> dict[str, Any]:
    response = customer.get("/customer/credit")
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


@pytest.mark.spec("4 GET /customer/credit", "the overview")
def test_an_account_without_orders_has_all_its_credit(shop: Service) -> None:
    assert overview(shop.customer(credit="500.00")) == {
        "credit_limit": 500.00,
        "total_outstanding": 0.00,
        "available_credit": 500.00,
        "outstanding_orders": [],
    }


@pytest.mark.spec("4 GET /customer/credit", "the overview")
def test_an_account_without_credit_terms_has_a_limit_of_0(shop: Service) -> None:
    assert overview(shop.customer(credit=None)) == {
        "credit_limit": 0.00,
        "total_outstanding": 0.00,
        "available_credit": 0.00,
        "outstanding_orders": [],
    }


@pytest.mark.spec("2 CreditOverview", "each order with an amount due: the amount and its due date")
def test_an_order_with_its_shipping_is_due_at_the_end_of_its_term(shop: Service) -> None:
    customer = shop.customer(credit="100.00", term_days=30)
    placed = buy(customer, customer_reference="PO-7")
    assert overview(customer) == {
        "credit_limit": 100.00,
        "total_outstanding": 66.60,
        "available_credit": 33.40,
        "outstanding_orders": [
            {
                "total_cost": 66.60,
                "total_paid": 0.00,
                "total_due": 66.60,
                "created_on": "2026-06-16T09:00:00",
                "due_on": "2026-07-16T23:59:59",
                "is_overdue": False,
                "customer_reference": "PO-7",
                "order_reference": placed["order_reference"],
            }
        ],
    }


@pytest.mark.spec("2 CreditOverview", "credit limit, amount owed and available credit")
def test_the_available_credit_is_the_limit_less_the_total_of_all_orders(shop: Service) -> None:
    customer = shop.customer(credit="200.00")
    placed = [buy(customer), buy(customer, method=NEXT_DAY)]
    create(customer)
    found = overview(customer)
    assert (found["total_outstanding"], found["available_credit"]) == (138.60, 61.40)
    assert [order["order_reference"] for order in found["outstanding_orders"]] == [
        order["order_reference"] for order in placed
    ]
    assert [order["total_due"] for order in found["outstanding_orders"]] == [66.60, 72.00]


@pytest.mark.spec("2 CreditOverview", "each order with an amount due: the amount and its due date")
def test_an_order_is_overdue_after_its_due_second(shop: Service) -> None:
    customer = shop.customer(term_days=14)
    buy(customer)
    overdue = []
    for moment in (uk(2026, 6, 30), uk(2026, 6, 30, 23, 59, 59), uk(2026, 7, 1)):
        with at(shop, moment):
            [order] = overview(customer)["outstanding_orders"]
        overdue.append(order["is_overdue"])
        assert order["due_on"] == "2026-06-30T23:59:59"
    assert overdue == [False, False, True]


@pytest.mark.parametrize(
    ("confirmed", "term_days", "due_on"),
    [
        pytest.param(uk(2026, 10, 20, 9), 14, "2026-11-03T23:59:59", id="over the end of summer time"),
        pytest.param(uk(2026, 6, 16, 0, 15), 0, "2026-06-16T23:59:59", id="by the UK day, not that of UTC"),
        pytest.param(uk(2028, 1, 30, 9), 30, "2028-02-29T23:59:59", id="on a leap day"),
    ],
)
def test_due_dates_are_uk_days(shop: Service, confirmed: Any, term_days: int, due_on: str) -> None:
    customer = shop.customer(term_days=term_days)
    with at(shop, confirmed):
        buy(customer)
        [order] = overview(customer)["outstanding_orders"]
    assert order["due_on"] == due_on


def test_an_invoice_restarts_the_term(shop: Service) -> None:
    customer = shop.customer(term_days=10)
    placed = buy(customer)
    dispatch(shop, placed)
    [before] = overview(customer)["outstanding_orders"]
    with at(shop, uk(2026, 6, 28, 0, 15)):
        assert overview(customer)["outstanding_orders"][0]["is_overdue"]
        issue(shop, placed)
        [after] = overview(customer)["outstanding_orders"]
    assert (before["due_on"], after["due_on"]) == ("2026-06-26T23:59:59", "2026-07-08T23:59:59")
    assert (after["is_overdue"], after["created_on"]) == (False, before["created_on"])
    with at(shop, uk(2026, 7, 9)):
        assert overview(customer)["outstanding_orders"][0]["is_overdue"]


def test_orders_are_sorted_by_confirmation_whatever_is_invoiced_first(shop: Service) -> None:
    customer = shop.customer()
    placed = [buy(customer) for _ in range(3)]
    for order in placed[:0:-1]:
        dispatch(shop, order)
        issue(shop, order)
    found = [order["order_reference"] for order in overview(customer)["outstanding_orders"]]
    assert found == [order["order_reference"] for order in placed]


@pytest.mark.spec("2 CreditOverview", "each order with an amount due: the amount and its due date")
def test_a_part_payment_leaves_the_rest_due_and_a_full_payment_leaves_nothing(shop: Service) -> None:
    customer = shop.customer(credit="100.00")
    placed = invoiced(shop, customer)
    pay(shop, placed, "60.00")
    found = overview(customer)
    [order] = found["outstanding_orders"]
    assert (order["total_cost"], order["total_paid"], order["total_due"]) == (66.60, 60.00, 6.60)
    assert (found["total_outstanding"], found["available_credit"]) == (6.60, 93.40)

    pay(shop, placed, "6.60")
    assert overview(customer) == {
        "credit_limit": 100.00,
        "total_outstanding": 0.00,
        "available_credit": 100.00,
        "outstanding_orders": [],
    }
    with at(shop, uk(2027, 1, 1)):
        assert overview(customer)["outstanding_orders"] == []


def test_an_order_keeps_the_term_it_was_confirmed_with(shop: Service) -> None:
    customer = shop.customer(term_days=10)
    buy(customer)
    changes = (CustomerChange(term_days=90), CustomerChange(credit_limit=None, term_days=None))
    for change in changes:
        shop.in_transaction(lambda tx, change=change: edit_account(tx, customer.id, change))  # type: ignore[misc]
        [order] = overview(customer)["outstanding_orders"]
        assert (order["due_on"], order["is_overdue"]) == ("2026-06-26T23:59:59", False)


def test_a_lowered_limit_shows_a_negative_available_credit(shop: Service) -> None:
    customer = shop.customer(credit="100.00")
    buy(customer)
    change = CustomerChange(credit_limit=Decimal("50.00"))
    shop.in_transaction(lambda tx: edit_account(tx, customer.id, change))
    assert (overview(customer)["credit_limit"], overview(customer)["available_credit"]) == (50.00, -16.60)


def test_an_order_that_costs_nothing_is_not_outstanding(shop: Service) -> None:
    customer = shop.customer()
    shop.must_load("contract-prices", [{"customer_id": customer.id, "sku": "PHONE", "single_unit_cost": 0}])
    shop.must_load("shipping-methods", [{"id": NEXT_DAY, "base_cost_net": 0}])
    buy(customer, method=NEXT_DAY)
    shop.must_load("shipping-methods", [{"id": NEXT_DAY, "base_cost_net": 10}])
    assert overview(customer)["outstanding_orders"] == []


def test_a_customer_sees_only_its_own_debts(shop: Service) -> None:
    buy(shop.customer())
    found = overview(shop.customer(credit="10.00"))
    assert (found["total_outstanding"], found["outstanding_orders"]) == (0.00, [])
