"""The migration that counts cancelled units, on a database with cancelled orders."""

import psycopg
import pytest

from support.cluster import Cluster
from tradecounter.db.migrate import upgrade

BEFORE = "0013"

_ORDER = """
    insert into orders (customer_id, kind, state, confirmation_code, customer_reference, billing_address,
                        shipping_address, shipping_region, shipping_options, shipping_weight, cost_net, cost_tax,
                        tax_rate, created_at)
    values (%s, 'order', %s, %s, 'PO', '{}', '{}', 1, '[]', 1, 0, 0, 20, now()) returning id
"""
_LINE = """
    insert into order_line (order_id, position, product_id, sku, name, quantity, unit_cost, cost_net, cost_tax,
                            bundle_line_id)
    values (%s, %s, %s, 'KIT', '', %s, 0, 0, 0, %s) returning id
"""


def _one(connection: psycopg.Connection, statement: str, *values: object) -> int:
    found = connection.execute(statement.encode(), values).fetchone()
    assert found is not None
    return int(found[0])


@pytest.mark.parametrize(("state", "cancelled"), [("cancelled", [2, 6]), ("pending", [0, 0])])
def test_all_units_of_cancelled_orders_are_counted(postgres: Cluster, state: str, cancelled: list[int]) -> None:
    with postgres.empty_database() as url:
        upgrade(url, revision=BEFORE)
        with psycopg.connect(url) as old:
            customer = _one(
                old,
                "insert into customer (email_address, email_key, first_name, last_name)"
                " values ('a@b.example', 'a@b.example', 'A', 'B') returning id",
            )
            old.execute("insert into manufacturer (key, name) values ('acme', 'Acme')")
            product = _one(
                old,
                "insert into product (sku, sku_key, name, manufacturer) values ('KIT', 'kit', 'Kit', 'acme')"
                " returning id",
            )
            order = _one(old, _ORDER, customer, state, "code")
            bundle = _one(old, _LINE, order, 1, product, 2, None)
            _one(old, _LINE, order, 2, product, 6, bundle)
        upgrade(url)
        with psycopg.connect(url) as new:
            lines = new.execute("select cancelled, quantity from order_line order by position").fetchall()
    assert lines == list(zip(cancelled, [2, 6], strict=True))
