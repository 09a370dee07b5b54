"""Blocked customers: their keys are rejected, they cannot order, and what is open stays."""

import pytest

from support.orders import buy, create, read, rows
from support.service import Customer, Service
from tradecounter.customers.change_account import block_customer, unblock_customer
from tradecounter.kit.errors import DomainError, Kind


def block(shop: Service, customer: Customer, reason: str = "does not pay") -> None:
    shop.in_transaction(lambda tx: block_customer(tx, customer.id, reason, shop.clock.now()))
    shop.refresh()


def unblock(shop: Service, customer: Customer) -> None:
    shop.in_transaction(lambda tx: unblock_customer(tx, customer.id, shop.clock.now()))
    shop.refresh()


def test_the_keys_of_a_blocked_customer_are_rejected_until_it_is_unblocked(own_shop: Service) -> None:
    customer = own_shop.customer()
    placed, pending = buy(customer), create(customer)
    block(own_shop, customer)
    assert customer.get("/order").status_code == 401
    assert customer.put(f"/order/{pending['confirmation_code']}", {}).status_code == 401
    assert rows(own_shop, "select state from orders where id = %s", placed["order_id"]) == [("confirmed",)]
    with pytest.raises(DomainError, match="already blocked") as rejected:
        block(own_shop, customer)
    assert rejected.value.kind is Kind.CONFLICT
    unblock(own_shop, customer)
    assert read(customer, placed)["status"] == "Awaiting dispatch"
    with pytest.raises(DomainError, match="is not blocked"):
        unblock(own_shop, customer)


def test_orders_for_a_blocked_customer_are_rejected(own_shop: Service) -> None:
    customer = own_shop.customer()
    pending = create(customer)
    # The key is still cached, as it is in another process for up to five seconds.
    own_shop.in_transaction(lambda tx: block_customer(tx, customer.id, "x", own_shop.clock.now()))
    found = rows(own_shop, "select for_customer, data->>'reason' from unnumbered_event where type = 'customer.blocked'")
    assert found == [(False, "x")]
    response = customer.put(f"/order/{pending['confirmation_code']}", {})
    assert response.status_code in {401, 409}
    if response.status_code == 409:
        assert "the account is blocked" in response.json()["message"]


def test_a_reason_is_needed_and_unknown_customers_are_not_found(shop: Service) -> None:
    customer = shop.customer()
    with pytest.raises(DomainError, match="reason"):
        block(shop, customer, " ")
    with pytest.raises(DomainError, match="not found"):
        shop.in_transaction(lambda tx: block_customer(tx, 99, "x", shop.clock.now()))
