"""Imports of many products take no longer because of how a statement, or a trigger's, is planned."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any

import psycopg

from support.importing import Importer
from support.service import Service
from tradecounter.imports.run import roll_back_import
from tradecounter.products.queries import importing as changes


def inner_plans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The plans that a nested loop runs for each row of the other side."""
    for child in plan.get("Plans", []):
        if plan["Node Type"] == "Nested Loop" and child["Parent Relationship"] == "Inner":
            yield child
        yield from inner_plans(child)


def test_no_loop_aggregates_all_products_again(service: Service) -> None:
    with psycopg.connect(service.database_url) as connection:
        connection.execute("set local enable_hashjoin = off")
        connection.execute("set local enable_mergejoin = off")
        statement = changes._IMPORTED.sql.replace(b"$1", b"0")  # noqa: SLF001
        ((explained,),) = connection.execute(b"explain (format json) " + statement).fetchall()
    inner = list(inner_plans(explained[0]["Plan"]))
    assert inner
    assert not [each["Node Type"] for each in inner if "Aggregate" in json.dumps(each)]


def test_products_are_changed_as_fast_after_a_removal_of_none(own_importer: Importer) -> None:
    def seconds(work: Callable[[], Any]) -> float:
        began = perf_counter()
        work()
        return perf_counter() - began

    def products(name: str) -> list[dict[str, Any]]:
        return [{"sku": f"MANY-{number}", "name": name, "manufacturer": "acme"} for number in range(2500)]

    own_importer.load("products", products("old"))
    own_importer.change("analyze")
    kept = seconds(lambda: own_importer.load("products", products("new")))
    assert seconds(lambda: own_importer.load("products", products("old"), replace=True)) < 10 * kept
    last = own_importer.one("select max(id) from import_run")
    now = datetime.now(UTC)
    roll_back = partial(roll_back_import, import_id=last, now=now)
    assert seconds(lambda: own_importer.change_by(roll_back)) < 10 * kept
