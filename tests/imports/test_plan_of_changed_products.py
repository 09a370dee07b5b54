"""What an import has changed is found at once, also while the tables have no statistics yet."""

import json
from collections.abc import Iterator
from typing import Any

import psycopg

from support.service import Service
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
