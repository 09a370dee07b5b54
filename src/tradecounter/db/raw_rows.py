"""Rows in the database's wire format, which needs a fraction of the memory that objects need."""

from typing import Generic, TypeVar

from psycopg import AsyncConnection
from psycopg.adapt import Transformer
from psycopg.pq.abc import PGresult
from psycopg.rows import TupleRow

from tradecounter.db.statement import Statement

Row = TypeVar("Row")


class RawRows(Generic[Row]):
    """A statement's rows, which are converted to objects on demand."""

    def __init__(self, result: PGresult, connection: AsyncConnection[TupleRow], statement: Statement[Row]) -> None:
        self._result = result
        self._loading = Transformer(connection)
        self._loading.set_pgresult(result)
        self._make_row = statement.row_maker(result)

    def __len__(self) -> int:
        return self._result.ntuples

    def between(self, start: int, end: int | None = None) -> list[Row]:
        """Return the rows from `start` up to but not including `end`, or up to the last row."""
        return self._loading.load_rows(start, len(self) if end is None else min(end, len(self)), self._make_row)
