"""Statements' parameters: named where they are written, numbered where the database reads them."""

from datetime import date
from typing import Any

import pytest
from psycopg.sql import SQL, Literal

from tradecounter.db.pipeline import Result
from tradecounter.db.statement import Statement

CHARGE = Statement("update account set balance = balance + :gross where id = :customer_id and :gross < most")


def test_names_become_numbers_in_the_order_in_which_they_first_appear() -> None:
    assert CHARGE.sql == b"update account set balance = balance + $1 where id = $2 and $1 < most"
    assert CHARGE.names == ("gross", "customer_id")


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("select :ids::bigint[]", b"select $1::bigint[]"),
        ("select a::text, :b", b"select a::text, $1"),
        ("select ':a', 'it''s :b', :c", b"select ':a', 'it''s :b', $1"),
        ('select ":a", :b', b'select ":a", $1'),
        ("select :a -- :b, 'c\n, :d", b"select $1 -- :b, 'c\n, $2"),
        ("select /* :a\n ' */ :b", b"select /* :a\n ' */ $1"),
        ("select x[1:2], :a_1", b"select x[1:2], $1"),
        ("select a like '%s%%', a % 2", b"select a like '%s%%', a % 2"),
    ],
)
def test_only_what_the_database_does_not_read_otherwise_is_a_parameter(written: str, sent: bytes) -> None:
    assert Statement(written).sql == sent


def test_composed_statements_keep_the_colons_of_their_literals() -> None:
    composed = SQL("select {text}, :number").format(text=Literal("a :b"))
    assert Statement(composed).sql == b"select 'a :b', $1"
    assert Statement(SQL("select :a")).names == ("a",)


def test_values_are_bound_in_the_order_of_the_numbers() -> None:
    assert CHARGE.bind({"customer_id": 7, "gross": None}) == [None, 7]
    assert Statement("select 1").bind({}) == []


@pytest.mark.parametrize(
    "values", [{}, {"gross": 1}, {"gross": 1, "customer": 2}, {"gross": 1, "customer_id": 2, "most": 3}]
)
def test_a_missing_or_an_unknown_name_is_rejected(values: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="parameters of the statement: gross, customer_id; given: "):
        CHARGE.bind(values)


def test_a_value_that_a_pipeline_cannot_send_is_named_with_its_type() -> None:
    with pytest.raises(TypeError, match=r"^parameter 'customer_id': a value of type date cannot be sent$"):
        Result(CHARGE, CHARGE.bind({"gross": 1, "customer_id": date(2026, 1, 5)}))
