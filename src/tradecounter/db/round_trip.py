"""The former names of `statement.py` and `pipeline.py`, until `ordering` has left them."""

from typing import Any, Generic, LiteralString, TypeVar

from psycopg.sql import Composed

from tradecounter.db import statement as named
from tradecounter.db.pipeline import Result, array, json_of

Row = TypeVar("Row")

__all__ = ["Nothing", "Query", "Statement", "array", "json_of"]


class Nothing:
    """The shape of the rows of a statement that returns none."""


class Query(Result[Row]):
    """A statement with its values; once it was sent, it has its rows."""

    __slots__ = ()

    @property
    def only(self) -> Row:
        """The row of a statement that always returns one."""
        return self.one


class Statement(Generic[Row]):
    """A statement with `$1`, `$2` … for its values."""

    def __init__(self, sql: LiteralString | Composed, shape: type[Row], *, prepared: bool = True) -> None:
        self.named = named.Statement(sql, shape, prepared=prepared)

    @property
    def sql(self) -> bytes:
        """The statement's text."""
        return self.named.sql

    def __call__(self, *values: Any) -> Query[Row]:
        """Return the statement with its values, ready to be sent."""
        return Query(self.named, values)
