"""Sorted pages of rows, continued behind a cursor: what the tables of the pages read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.sql import SQL, Composed

Sql = SQL | Composed
After = tuple[Any, int] | None

_PAGE = SQL("{select} where {conditions} order by {column} {order}, {key} {order} limit :most")
_BEHIND = SQL("({column}, {key}) {sign} (:after_value::{kind}, :after_id)")
_ALL = SQL("true")


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column that rows are sorted by: its expression, its type in SQL, and its type in a cursor."""

    expression: SQL
    sql_type: SQL
    cursor_type: Any


def sorted_page(
    select: Sql,
    conditions: Sequence[Sql],
    values: Mapping[str, Any],
    column: SortColumn,
    key: SQL,
    *,
    descending: bool,
    after: After,
) -> tuple[Composed, dict[str, Any]]:
    """Return the SQL of a page and its values, without `most`; `key` is a unique column with whole numbers.

    `after` is the value of the column and of the key in the last row before the page.
    """
    conditions, values = list(conditions), dict(values)
    if after is not None:
        sign = SQL("<" if descending else ">")
        conditions.append(_BEHIND.format(column=column.expression, key=key, sign=sign, kind=column.sql_type))
        values |= {"after_value": after[0], "after_id": after[1]}
    sql = _PAGE.format(
        select=select,
        conditions=SQL(" and ").join(conditions or [_ALL]),
        column=column.expression,
        key=key,
        order=SQL("desc" if descending else "asc"),
    )
    return sql, values
