"""A process reads again only the prices that have changed, and misses none."""

from datetime import timedelta
from functools import partial
from typing import Any

import psycopg

from support.orders import sell
from support.service import Service
from support.shop import price
from tradecounter.db.changes import read_versions
from tradecounter.db.transaction import Transaction
from tradecounter.storefront.changes.journal import forget_catalogue_changes
from tradecounter.storefront.changes.queries import read_changed_products


def version(shop: Service) -> int:
    async def read(tx: Transaction) -> int:
        return (await read_versions(tx)).of("prices").number

    return shop.in_transaction(read)


def changed_since(shop: Service, after: int, most: int = 500) -> list[int] | None:
    found: Any = shop.in_transaction(lambda tx: read_changed_products(tx, "prices", after, most))
    return None if found is None else found.tolist()


def id_of(shop: Service, sku: str) -> int:
    with psycopg.connect(shop.database_url) as connection:
        row = connection.execute("select id from product where sku = %s", [sku]).fetchone()
    assert row is not None
    product_id: int = row[0]
    return product_id


def test_the_products_whose_prices_changed_after_a_version_are_known(shop: Service) -> None:
    first, second = sell(shop, "CHANGED-1", 10), sell(shop, "CHANGED-2", 20)
    before = version(shop)
    assert changed_since(shop, before) == []
    shop.must_load("price-list", [price(second, 21), price(second, 19, price_list="gold")])
    between = version(shop)
    shop.must_load("price-list", [price(first, 11)])
    assert changed_since(shop, before) == sorted([id_of(shop, first), id_of(shop, second)])
    assert changed_since(shop, between) == [id_of(shop, first)]
    assert changed_since(shop, before, most=2) is None, "two prices of one product and one of another"


def test_deleted_changes_are_not_known(shop: Service) -> None:
    sku, keep, now = sell(shop, "FORGOTTEN", 10), timedelta(days=7), shop.clock.now()
    before = version(shop)
    shop.must_load("price-list", [price(sku, 11)])
    for moment in (now, now + keep + timedelta(hours=2)):
        shop.in_transaction(partial(forget_catalogue_changes, now=moment, keep=keep))
    assert changed_since(shop, before) is None
    assert changed_since(shop, version(shop)) == []
    assert shop.customer().get(f"/product/{sku}").json()["single_unit_cost"] == 11


def test_a_price_written_after_its_version_was_raised_is_shown(shop: Service) -> None:
    customer, sku = shop.customer(), sell(shop, "WRITTEN-LATE", 10)
    shop.refresh()
    with psycopg.connect(shop.database_url) as connection:
        connection.execute("update change set version = version + 1 where topic = 'prices'")
        connection.execute(
            "update price set single_unit_cost = 7, five_plus_unit_cost = null, ten_plus_unit_cost = null "
            "where product_id = %s",
            [id_of(shop, sku)],
        )
    shop.refresh()
    assert customer.get(f"/product/{sku}").json()["single_unit_cost"] == 7


def test_a_list_price_that_is_deleted_becomes_the_default_price(shop: Service) -> None:
    sku = sell(shop, "WITHOUT-GOLD", 10)
    shop.must_load("price-list", [price(sku, 8, price_list="gold")])
    customer = shop.customer(price_list="gold")
    shop.refresh()
    assert customer.get(f"/product/{sku}").json()["single_unit_cost"] == 8
    for price_list, left in (("gold", 10), ("default", None)):
        with psycopg.connect(shop.database_url) as connection:
            connection.execute(
                "delete from price where price_list = %s and product_id = %s", [price_list, id_of(shop, sku)]
            )
            connection.execute("update change set version = version + 1 where topic = 'prices'")
        shop.refresh()
        assert customer.get(f"/product/{sku}").json().get("single_unit_cost") == left
