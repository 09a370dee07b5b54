"""Tables that are sorted by a column, filtered, and read page by page with a cursor."""

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import asdict
from psycopg.sql import SQL, Composed

from tradecounter.db.statement import Statement, where
from tradecounter.db.transaction import Transaction

Row = TypeVar("Row")
After = tuple[Any, int] | None

_PAGE = SQL("{select} where {conditions} order by {column} {order}, {key} {order} limit :most")
_LATER = SQL("({column}, {key}) {sign} (:after_value::{kind}, :after_id)")
_ORDERED = SQL("{rows} order by {column} {order}, {key} {order}")


class SortColumn(Struct, Generic[Row], frozen=True):
    """A column to sort by: its expression, its types in SQL and in a cursor, and its value in a row."""

    expression: SQL
    sql_type: SQL
    cursor_type: Any
    value: Callable[[Row], Any]


class SortedTable(Struct, Generic[Row], frozen=True, kw_only=True):
    """What a table selects; `key` is a unique column with whole numbers, `key_of` its value in a row.

    A filter is a struct, whose fields `conditions` names; a field that is None matches all rows, and one without a
    condition is a value in `select` or in the condition of another field. With `joined`, `select` reads narrow rows,
    which are sorted and limited; it joins the rest to those of the page, under the same name. Without `conditions`,
    `page_where` reads the table.
    """

    select: SQL | Composed
    row: Callable[..., Row]
    conditions: Mapping[str, SQL | Composed] = {}
    columns: Mapping[str, SortColumn[Row]]
    key: SQL
    key_of: Callable[[Row], int]
    joined: Callable[[Composed], Composed] | None = None

    @property
    def sorts(self) -> dict[str, Any]:
        """The columns to sort by, with the types of their values in a cursor."""
        return {name: column.cursor_type for name, column in self.columns.items()}

    def place_of(self, row: Row, column: str) -> tuple[Any, int]:
        """Return the place of a row in the order of a column, after which the next page begins."""
        return self.columns[column].value(row), self.key_of(row)

    async def page(
        self, tx: Transaction, wanted: Any, column: str, most: int | None, *, descending: bool, after: After = None
    ) -> list[Row]:
        """Return rows that match a filter, sorted by a column, beginning after `after`; without `most`, all of them."""
        condition, _ = where(wanted, self.conditions)
        found = condition, {name: value for name, value in asdict(wanted).items() if value is not None}
        return await self.page_where(tx, found, column, most, descending=descending, after=after)

    async def page_where(
        self,
        tx: Transaction,
        found: tuple[Composed, Mapping[str, Any]],
        column: str,
        most: int | None,
        *,
        descending: bool,
        after: After,
    ) -> list[Row]:
        """Return a page, as `page` does, of the rows that a condition and its values find."""
        condition, values = found
        by, place = self.columns[column], dict[str, Any]()
        if after is not None:
            sign = SQL("<" if descending else ">")
            later = _LATER.format(column=by.expression, key=self.key, sign=sign, kind=by.sql_type)
            condition = SQL("{} and {}").format(condition, later)
            place = {"after_value": after[0], "after_id": after[1]}
        order = {"column": by.expression, "key": self.key, "order": SQL("desc" if descending else "asc")}
        sql = _PAGE.format(select=self.select, conditions=condition, **order)
        if self.joined is not None:
            sql = _ORDERED.format(rows=self.joined(sql), **order)
        return await tx.fetch_all(Statement(sql, self.row), **values, **place, most=most)
