"""The migration that ends twins, on a database with keys that differ only in case, composition or white space."""

import psycopg
import pytest

from support.cluster import Cluster
from tradecounter.db.migrate import upgrade

BEFORE = "0033"

TWINS = """
insert into price_list values ('default'), ('Default'), ('DEFAULT '), ('Caf\u00e9'), ('Cafe\u0301'), ('Trade');
insert into manufacturer (key, name) values ('acme', 'Acme'), ('ACME', 'Acme Ltd');
insert into category (key, name, parent_key) values ('phones', 'Phones', null), ('Phones', 'Phones too', null),
    ('desk', 'Desk', 'Phones');
insert into attribute (key, name, type) values ('colour', 'Colour', 'string'), ('Colour', 'Tint', 'string');
insert into product (sku, sku_key, name, manufacturer, categories, attributes, components) values
    ('P1', 'p1', 'One', 'ACME', '["Phones", "desk"]', '{"Colour": "red", "colour": "blue"}', '[]'),
    ('P2 ', 'p2 ', 'Two', 'acme', '["phones"]', '{}', '[]'), ('P3', 'p3', 'Three', 'acme', '[]', '{}', '[]'),
    ('P3 ', 'p3 ', 'Twin', 'acme', '[]', '{}', '[]'),
    ('KIT', 'kit', 'Kit', 'acme', '[]', '{}', '[{"key": "p2 ", "quantity": 2}, {"key": "p1", "quantity": 1}]');
insert into price (price_list, product_id, single_unit_cost)
    select l.key, p.id, case l.key when 'default' then 1 else 2 end
    from product p, price_list l where p.sku = 'P1' and l.key ilike 'default%';
insert into customer (email_address, email_key, first_name, last_name, price_list)
    values ('a@b.example', 'a@b.example', 'A', 'B', 'Default');
"""


def test_twins_are_renamed_with_all_that_refers_to_them(postgres: Cluster) -> None:
    with postgres.empty_database() as url:
        upgrade(url, revision=BEFORE)
        with psycopg.connect(url) as old:
            old.execute(TWINS.encode())
        upgrade(url)
        with psycopg.connect(url) as new:

            def rows(statement: str) -> list[tuple[object, ...]]:
                return new.execute(statement.encode()).fetchall()

            assert rows('select key from price_list order by key collate "C"') == [
                ("Cafe\u0301 ~2",), ("Caf\u00e9",), ("DEFAULT ~3",), ("Default ~2",), ("Trade",), ("default",),
            ]  # fmt: skip
            assert rows("select price_list, single_unit_cost::int from price where price_list = 'default'") == [
                ("default", 1)
            ]
            assert rows("select single_unit_cost::int from price join customer using (price_list)") == [(2,)]
            assert rows("select manufacturer, categories, attributes from product where sku = 'P1'") == [
                ("ACME ~2", ["Phones ~2", "desk"], {"Colour ~2": "red", "colour": "blue"})
            ]
            assert rows("select parent_key from category where key = 'desk'") == [("Phones ~2",)]
            assert rows("select sku, sku_key from product where sku like 'P%' order by sku") == [
                ("P1", "p1"), ("P2", "p2"), ("P3", "p3"), ("P3 ", "p3 "),
            ]  # fmt: skip
            assert rows("select components -> 0 ->> 'key' from product where sku = 'KIT'") == [("p2",)]


@pytest.mark.parametrize("table", ["price_list (key)", "manufacturer (key, name)"])
def test_the_database_takes_no_twins(table: str, database_url: str) -> None:
    values = "('Twin'), ('tWIN ')" if "name" not in table else "('Twin', 'A'), ('tWIN ', 'B')"
    with psycopg.connect(database_url) as connection, pytest.raises(psycopg.errors.UniqueViolation):
        connection.execute(f"insert into {table} values {values}".encode())  # noqa: S608 of the test
