"""The products on no price list, which the database keeps in mind, are those that a comparison of all prices finds."""

import random
from functools import partial
from typing import Any

import pytest

from support.importing import Importer
from support.shop import price, product
from tradecounter.imports.run import roll_back_import
from tradecounter.kit.clock import SystemClock

_KEPT = "select sku from product p join product_without_price w on w.product_id = p.id order by sku"
_COMPARED = "select sku from product p where not exists (select from price c where c.product_id = p.id) order by sku"
_SKUS = [f"N-{number}" for number in range(8)]


def some(chance: random.Random) -> list[dict[str, Any]]:
    lists = chance.sample(["default", "gold", "silver"], chance.randint(1, 2))
    chosen = [(name, sku) for name in lists for sku in chance.sample(_SKUS, chance.randint(1, 4))]
    return [price(sku, chance.randint(1, 99), price_list=name) for name, sku in chosen]


@pytest.mark.sweep
def test_they_are_right_after_random_imports_and_roll_backs(importer: Importer) -> None:
    chance = random.Random(29)  # noqa: S311 the same in each run
    importer.load("products", [product(sku) for sku in _SKUS])
    assert importer.query(_KEPT) == [(sku,) for sku in _SKUS]
    imports: list[int | None] = []
    seen = set()
    for step in range(60):
        if imports and step % 3 == 2:
            undone = imports.pop(chance.randrange(len(imports)))
            assert undone is not None
            now = SystemClock().now()
            importer.change_by(partial(roll_back_import, import_id=undone, now=now, force=True))
        else:
            imports.append(importer.load("price-list", some(chance), replace=chance.random() < 0.5).id)
        kept = importer.query(_KEPT)
        assert kept == importer.query(_COMPARED)
        seen.add(tuple(kept))
    assert len(seen) > 10


def test_they_are_right_after_deletions_by_hand(importer: Importer) -> None:
    importer.load("products", [product("HAND-1"), product("HAND-2")])
    importer.load("price-list", [price("HAND-1", 5), price("HAND-1", 4, price_list="gold")])
    for statement in (
        "delete from price where price_list = 'gold' and product_id in (select id from product where sku = 'HAND-1')",
        "delete from price where product_id in (select id from product where sku = 'HAND-1')",
        "delete from product where sku = 'HAND-2'",
    ):
        importer.change(statement)
        assert importer.query(_KEPT) == importer.query(_COMPARED)
