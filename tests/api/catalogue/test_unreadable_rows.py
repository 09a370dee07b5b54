"""What cannot be read stops nothing else: prices, terms, deliveries and stock are followed all the same."""

from collections.abc import Iterator
from typing import Any, LiteralString

import psycopg
import pytest

from support.cluster import Cluster
from support.service import Customer, Service, running_service
from support.shop import price, product, stock_shop


@pytest.fixture
def shop(postgres: Cluster) -> Iterator[Service]:
    with postgres.database() as url, running_service(url) as service:
        stock_shop(service)
        yield service


def by_hand(service: Service, statement: LiteralString) -> None:
    """Run SQL past the program, as an operator might."""
    with psycopg.connect(service.database_url, autocommit=True) as connection:
        connection.execute(statement)


def shown(customer: Customer, sku: str = "PHONE") -> tuple[Any, ...]:
    found = customer.get(f"/product/{sku}").json()
    return found["single_unit_cost"], found["availability"]["available"], found["availability"]["incoming"]


def test_prices_stock_terms_and_deliveries_are_followed_while_the_catalogue_cannot_be_read(shop: Service) -> None:
    customer = shop.customer()
    shop.refresh()
    assert shown(customer)[:2] == (50, 100)
    by_hand(shop, "alter table attribute rename to mislaid")
    shop.load("products", [product("PHONE", name="Renamed")])
    shop.load("price-list", [price("PHONE", 60)])
    shop.load("stock", [{"sku": "PHONE", "available": 7}])
    shop.load("incoming", [{"sku": "PHONE", "incoming": 3, "expected_on": "2026-09-01"}])
    late = shop.customer(discount="50.00")
    shop.load("contract-prices", [{"customer_id": customer.id, "sku": "PHONE", "single_unit_cost": 55}])
    shop.refresh()
    deliveries = [{"incoming": 3, "expected_on": "2026-09-01T00:00:00"}]
    assert shown(customer) == (55, 7, deliveries)
    assert shown(late) == (30, 7, deliveries)
    assert customer.get("/product/PHONE").json()["name"] == "Product PHONE"
    by_hand(shop, "alter table mislaid rename to attribute")
    shop.load("manufacturers", [{"key": "acme", "name": "Acme again"}])  # newer data are read without a pause
    assert customer.get("/product/PHONE").json()["name"] == "Renamed"
