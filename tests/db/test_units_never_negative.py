"""The database rejects negative units and prices, whatever a step does."""

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from support.orders import create, sell
from support.service import Service

ORDER_LINE = ("quantity", "allocated", "back_ordered", "dispatched", "cancelled", "returned", "unbilled", "unit_cost")
STOCK_LEVEL = ("available", "allocated", "back_ordered")


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("table", "column"),
    [*(("order_line", column) for column in ORDER_LINE), *(("stock_level", column) for column in STOCK_LEVEL)],
)
def test_the_database_rejects_a_negative_number(shop: Service, table: str, column: str) -> None:
    sku = sell(shop, f"{table}-{column}", available=3)
    create(shop.customer(), [(sku, 1)])
    change = SQL("update {} set {} = {} where product_id = (select id from product where sku = {})")

    def set_to(number: int) -> None:
        with psycopg.connect(shop.database_url) as database:
            database.execute(change.format(Identifier(table), Identifier(column), number, sku))

    set_to(0)
    with pytest.raises(psycopg.errors.CheckViolation):
        set_to(-1)
    names = {"table": Identifier(table), "column": Identifier(column)}
    with psycopg.connect(shop.database_url) as database:
        where = SQL("select {column} from {table} join product p on p.id = product_id where p.sku = {sku}")
        assert database.execute(where.format(**names, sku=sku)).fetchall() == [(0,)]
