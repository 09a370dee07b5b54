"""An order that is priced from the database reads its own products by index, however many others there are."""

import psycopg

from support.cluster import Cluster
from tradecounter.storefront import queries

FILLED = """
insert into manufacturer (key, name) values ('acme', 'Acme') on conflict do nothing;
insert into product (sku, sku_key, name, manufacturer, description)
select 'SKU-' || n, 'sku-' || n, 'Product', 'acme', repeat('x', 200) from generate_series(1, 20000) as n;
insert into stock_level (product_id) select id from product on conflict do nothing;
"""


def test_the_products_of_an_order_are_found_by_index(postgres: Cluster) -> None:
    with postgres.database() as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(FILLED.encode())
        connection.execute("vacuum analyze product, stock_level")
        types = {"sku_keys": b"json", "customer_id": b"bigint"}
        statement = queries._CURRENT_PRODUCTS  # noqa: SLF001
        given = b", ".join(types[name] for name in statement.names)
        for mode in ("force_generic_plan", "force_custom_plan"):
            connection.execute(f"set plan_cache_mode = {mode}".encode())
            connection.execute(b"prepare current (%s) as %s" % (given, statement.sql))
            values = {"sku_keys": '\'["sku-1", "sku-2", "sku-3"]\'', "customer_id": "1"}
            call = ", ".join(values[name] for name in statement.names)
            plan = "\n".join(row for (row,) in connection.execute(f"explain execute current ({call})".encode()))
            connection.execute("deallocate current")
            assert "Index Scan using product_sku_key_key on product" in plan
            for table in ("product", "stock_level"):
                assert f"Seq Scan on {table}" not in plan, plan
