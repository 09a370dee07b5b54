"""Several statements in one round trip to the database, for requests that have to be fast (docs/adr/0010).

A driver's cursor costs this process more time than the statement costs the database. So statements that run often are
prepared once per connection and sent together, through the driver's thin wrapper of libpq and its pipeline.
"""

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, LiteralString, TypeVar

import msgspec
import psycopg
from psycopg import AsyncConnection
from psycopg.abc import PQGen
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGconn, PGresult
from psycopg.rows import TupleRow
from psycopg.sql import Composed
from psycopg.types.json import set_json_loads
from psycopg.waiting import Ready, Wait

Row = TypeVar("Row")

_numbers = itertools.count(1)


class OutdatedStatementError(psycopg.OperationalError):
    """A statement returns other types than when it was prepared, as after a migration, or is not prepared any more.

    Nothing of its transaction was carried out, and the connection is closed: it would fail for as long as it lives.
    """


class Nothing:
    """The shape of the rows of a statement that returns none."""


class Connection(AsyncConnection[TupleRow]):
    """A connection that knows which statements it has prepared; no two of a process have the same `number`.

    `made_at` is a monotonic time in seconds.
    """

    def __init__(self, pgconn: PGconn, *values: Any, **options: Any) -> None:
        super().__init__(pgconn, *values, **options)
        self.number = next(_numbers)
        self.made_at = time.monotonic()
        set_json_loads(msgspec.json.decode, self)
        self.prepared: set[bytes] = set()
        self.loading = Transformer(self)


class Statement(Generic[Row]):
    """A statement with `$1`, `$2` … for its values, made once when its module is loaded; rows take a class's shape.

    Values are texts, numbers, moments, bytes or None; what has more to it goes as `array` or `json_of`.
    """

    def __init__(self, sql: LiteralString | Composed, shape: type[Row], *, prepared: bool = True) -> None:
        self.sql = sql.as_bytes() if isinstance(sql, Composed) else sql.encode()
        self.name = b"tradecounter_%d" % next(_numbers) if prepared else b""
        self.shape = shape
        self.columns: list[str] = []  # known when the first result comes

    def __call__(self, *values: Any) -> "Query[Row]":
        """Return the statement with its values, ready to be sent."""
        return Query(self, values)


class Query(Generic[Row]):
    """A statement with its values; once it was sent, it has its rows."""

    __slots__ = ("formats", "rows", "statement", "values")

    def __init__(self, statement: Statement[Row], values: Iterable[Any]) -> None:
        self.statement = statement
        self.values = [_DUMPERS[type(value)](value) for value in values]
        self.formats = [Format.BINARY if isinstance(value, bytes) else Format.TEXT for value in values]
        self.rows: list[Row] = []

    @property
    def first(self) -> Row | None:
        """The first row, or None when there is none."""
        return self.rows[0] if self.rows else None

    @property
    def only(self) -> Row:
        """The row of a statement that always returns one."""
        return self.rows[0]


def array(numbers: Iterable[int]) -> str:
    """Return whole numbers as a value of an array's type."""
    return f"{{{','.join(map(str, numbers))}}}"


def json_of(value: Any) -> str | None:
    """Return a value as JSON for a `json` or `jsonb`; None stays the database's null."""
    return None if value is None else msgspec.json.encode(value).decode()


def _text(value: str) -> bytes:
    if "\x00" in value:  # libpq would take it for the end
        raise psycopg.DataError("a text holds a NUL character")
    return value.encode()


_DUMPERS: dict[type, Callable[[Any], bytes | None]] = {
    type(None): lambda _: None,
    str: _text,
    int: b"%d".__mod__,
    bool: lambda value: b"t" if value else b"f",
    Decimal: lambda value: str(value).encode(),
    datetime: lambda value: value.isoformat().encode(),
    bytes: bytes,
}


async def send(connection: Connection, *queries: Query[Any]) -> None:
    """Send statements together and wait for all their rows. Raises the psycopg.Error of the first that fails.

    Of those after it, none is carried out.
    """
    async with connection.lock:
        await connection.wait(_exchange(connection, queries))


def _exchange(connection: Connection, queries: Iterable[Query[Any]]) -> PQGen[None]:
    pgconn = connection.pgconn
    pgconn.enter_pipeline_mode()
    try:
        awaited = list(_sent(connection, queries))
        pgconn.pipeline_sync()
        while pgconn.flush():
            if ((yield Wait.RW) or 0) & Ready.R:
                pgconn.consume_input()
        failed = None
        for query, preparing in awaited:
            result = yield from _next_result(pgconn)
            if result.status in _FINE:
                if preparing:
                    connection.prepared.add(query.statement.name)
                else:
                    _load(connection, query, result)
            elif failed is None:
                failed = error_from_result(result, connection.info.encoding)
                if isinstance(failed, _OUTDATED) and query.statement.name in connection.prepared:
                    failed = OutdatedStatementError(str(failed))
        yield from _next_result(pgconn)  # of the synchronisation
    finally:
        with suppress(psycopg.OperationalError):  # whoever takes back a connection in that state closes it
            pgconn.exit_pipeline_mode()
    if failed is not None:
        if isinstance(failed, OutdatedStatementError):
            pgconn.finish()
        raise failed


_FINE = {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}

_OUTDATED = (psycopg.errors.FeatureNotSupported, psycopg.errors.InvalidSqlStatementName)


def _sent(connection: Connection, queries: Iterable[Query[Any]]) -> Iterator[tuple[Query[Any], bool]]:
    """Hand statements to libpq; yield for every result to come its query, and whether it is that of the preparation."""
    pgconn, known = connection.pgconn, connection.prepared.copy()
    for query in queries:
        statement = query.statement
        if not statement.name:
            pgconn.send_query_params(statement.sql, query.values, param_formats=query.formats)
        else:
            if statement.name not in known:
                known.add(statement.name)
                pgconn.send_prepare(statement.name, statement.sql)
                yield query, True
            pgconn.send_query_prepared(statement.name, query.values, query.formats)
        yield query, False


def _next_result(pgconn: PGconn) -> PQGen[PGresult]:
    while True:
        while pgconn.is_busy():
            yield Wait.R
            pgconn.consume_input()
        result = pgconn.get_result()
        if result is not None:  # None stands between the results of two statements
            return result


def _load(connection: Connection, query: Query[Any], result: PGresult) -> None:
    if not result.ntuples:
        return
    statement = query.statement
    if not statement.columns:
        statement.columns = [(result.fname(n) or b"").decode() for n in range(result.nfields)]
    shape, columns = statement.shape, statement.columns
    connection.loading.set_pgresult(result)
    query.rows = connection.loading.load_rows(
        0, result.ntuples, lambda values: shape(**dict(zip(columns, values, strict=True)))
    )
    connection.loading.set_pgresult(None)  # which may be large, and the connection idle for long
