"""Expiry of pending orders (specification, section 3)."""

from datetime import timedelta

import pytest

from support.orders import at, buy, confirm, create, rows
from support.service import MORNING, Customer, Service, running_service
from support.shop import STANDARD, stock_shop
from tradecounter.orders.cancel_order import expire_orders

A_DAY = timedelta(hours=24)
ONE_SECOND = timedelta(seconds=1)


def state(shop: Service, created: dict[str, str]) -> str:
    [(found,)] = rows(shop, "select state from orders where confirmation_code = %s", created["confirmation_code"])
    return str(found)


@pytest.mark.spec("3 pending, by time", "it cannot be confirmed after 24 hours")
def test_only_old_pending_orders_expire(shop: Service) -> None:
    customer = shop.customer()
    old, confirmed = create(customer), buy(customer)
    with at(shop, MORNING + ONE_SECOND):
        young = create(customer)

    assert shop.in_transaction(lambda tx: expire_orders(tx, MORNING + A_DAY)) == 0
    assert shop.in_transaction(lambda tx: expire_orders(tx, MORNING + A_DAY + ONE_SECOND)) == 1
    assert [state(shop, created) for created in (old, confirmed, young)] == ["expired", "confirmed", "pending"]
    assert shop.in_transaction(lambda tx: expire_orders(tx, MORNING + A_DAY + ONE_SECOND)) == 0


@pytest.mark.spec("3 PUT /order/{reference}, expired", "410")
def test_confirming_an_expired_order_is_410(shop: Service) -> None:
    customer = shop.customer()
    pending = create(customer)
    shop.in_transaction(lambda tx: expire_orders(tx, MORNING + A_DAY + ONE_SECOND))
    assert confirm(customer, pending).status_code == 410
    assert customer.get("/order").json() == []


def test_the_lifetime_of_pending_orders_can_be_set(database_url: str) -> None:
    with running_service(database_url, pending_order_lifetime=timedelta(minutes=30)) as service:
        stock_shop(service)
        customer: Customer = service.customer()
        in_time, too_late = create(customer), create(customer)
        service.clock.advance(timedelta(minutes=30))
        assert confirm(customer, in_time, STANDARD).status_code == 200
        service.clock.advance(ONE_SECOND)
        assert confirm(customer, too_late, STANDARD).status_code == 410
