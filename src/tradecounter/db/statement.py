"""SQL statements with named parameters, defined as module constants, and rows in the database's wire format."""

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Any, Generic, LiteralString, TypeVar, overload

from psycopg import AsyncConnection
from psycopg.adapt import Transformer
from psycopg.pq.abc import PGresult
from psycopg.rows import TupleRow
from psycopg.sql import SQL, Composable, Composed

Row = TypeVar("Row")

_numbers = itertools.count(1)

# Literals, quoted names, comments and casts are matched so that a colon inside them does not begin a parameter.
_TOKENS = re.compile(
    r"""'(?:[^']|'')*' | "[^"]*" | --[^\n]* | /\*.*?\*/ | :: | :(?P<name>[a-z_][a-z0-9_]*)""", re.DOTALL | re.VERBOSE
)


class Statement(Generic[Row]):
    """A statement with `:name` parameters; `row` creates a row from the selected columns, by default a tuple.

    The parameters become `$1`, `$2` …, in the order of `names`. In a pipeline, and only there, a connection prepares
    the statement at its first use unless `prepared` is False. So statements that are built anew for each use are sent
    outside pipelines.
    """

    @overload
    def __init__(
        self: "Statement[tuple[Any, ...]]", sql: LiteralString | SQL | Composed, *, prepared: bool = True
    ) -> None: ...

    @overload
    def __init__(
        self: "Statement[Row]", sql: LiteralString | SQL | Composed, row: Callable[..., Row], *, prepared: bool = True
    ) -> None: ...

    def __init__(
        self, sql: LiteralString | SQL | Composed, row: Callable[..., Any] = tuple, *, prepared: bool = True
    ) -> None:
        numbers: dict[str, int] = {}

        def numbered(token: re.Match[str]) -> str:
            name = token["name"]
            return token[0] if name is None else f"${numbers.setdefault(name, len(numbers) + 1)}"

        text = sql if isinstance(sql, str) else sql.as_string()
        self.sql = _TOKENS.sub(numbered, text).encode()
        self.names = tuple(numbers)
        self.name = b"tradecounter_%d" % next(_numbers) if prepared else b""
        self._row = row
        self._make_row: Callable[[Any], Any] | None = tuple if row is tuple else None  # set with the first result

    def bind(self, values: Mapping[str, Any]) -> list[Any]:
        """Return the values in the order of `names`. Raises TypeError for a missing or an unknown name."""
        try:
            bound = [values[name] for name in self.names]
        except KeyError:
            bound = []
        if len(bound) != len(values) or len(values) != len(self.names):
            raise TypeError(
                f"parameters of the statement: {', '.join(self.names) or 'none'}; given: {', '.join(values) or 'none'}"
            )
        return bound

    def row_maker(self, result: PGresult) -> Callable[[Any], Row]:
        """Return the function that converts a tuple of result values to a row."""
        if self._make_row is None:
            row, columns = self._row, [(result.fname(n) or b"").decode() for n in range(result.nfields)]
            self._make_row = lambda values: row(**dict(zip(columns, values, strict=True)))
        return self._make_row


def where(wanted: Any, conditions: Mapping[str, Composable], *more: Composable) -> tuple[Composed, dict[str, Any]]:
    """Return the condition that a filter puts on rows, together with `more`, and its values by name.

    The filter is a struct; `conditions` has those of its fields. A field that is None matches all rows.
    """
    values = {name: value for name in conditions if (value := getattr(wanted, name)) is not None}
    chosen = [*(conditions[name] for name in values), *more]
    return SQL(" and ").join(chosen or [SQL("true")]), values


# A trigger joins records as it has planned for those that the connection changed first, such as one, or none.
FORGET_PLANS = Statement("discard plans")


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
