"""Sends several statements to the database in one round trip, for fast requests (docs/adr/0010).

A driver's cursor costs this process more time than the statement costs the database. So frequent statements are
prepared once per connection and sent together, through the driver's thin wrapper of libpq and its pipeline.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import msgspec
import psycopg
from psycopg.abc import PQGen
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.waiting import Ready, Wait

from tradecounter.db.connection import Connection
from tradecounter.db.statement import Statement
from tradecounter.kit.telemetry import SPANS

Row = TypeVar("Row")


_BINARY, _TEXT = Format.BINARY, Format.TEXT  # found faster than in the class: there are sixty values in an order


class OutdatedStatementError(psycopg.OperationalError):
    """A prepared statement's result types have changed, for example by a migration, or it is no longer prepared.

    Its transaction had no effect. The connection is closed, because all its further uses would fail.
    """


class CommitInDoubtError(psycopg.OperationalError):
    """A commit was sent and not confirmed: it may have taken effect, or take effect later. The connection is closed."""


class NotFetchedError(RuntimeError):
    """A result was read before the end of its pipeline's block, or after the pipeline failed."""


class Result(Generic[Row]):
    """A statement's rows, which can be read after the pipeline's block."""

    __slots__ = ("_rows", "formats", "statement", "values")

    def __init__(self, statement: Statement[Row], values: Sequence[Any]) -> None:
        self.statement = statement
        try:
            self.values = [_DUMPERS[type(value)](value) for value in values]
        except KeyError:
            name, unknown = next(
                (name, type(value))
                for name, value in zip(statement.names, values, strict=True)
                if type(value) not in _DUMPERS
            )
            raise TypeError(f"parameter {name!r}: a value of type {unknown.__qualname__} cannot be sent") from None
        self.formats = [_BINARY if type(value) is bytes else _TEXT for value in values]
        self._rows: list[Row] | None = None

    @property
    def rows(self) -> list[Row]:
        """All rows. Raises NotFetchedError."""
        if self._rows is None:
            raise NotFetchedError("a result can be read only after its pipeline's block has ended without an error")
        return self._rows

    @rows.setter
    def rows(self, rows: list[Row]) -> None:
        self._rows = rows

    @property
    def first(self) -> Row | None:
        """The first row, or None."""
        return self.rows[0] if self.rows else None

    @property
    def row(self) -> Row:
        """The first row of a statement that always returns one. Raises IndexError without a row."""
        return self.rows[0]


class Pipeline:
    """Statements that are sent together, in order, when the block ends; nothing is sent if the block raises an error.

    The block's end raises the psycopg.Error of the first failed statement; later statements are not executed.
    """

    __slots__ = ("_results", "_send")

    def __init__(self, send_all: Callable[[list[Result[Any]]], Awaitable[None]]) -> None:
        self._send = send_all
        self._results: list[Result[Any]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None and self._results:
            await self._send(self._results)

    def fetch(self, statement: Statement[Row], /, **values: Any) -> Result[Row]:
        """Add a statement and return its result.

        Values are str, int, bool, Decimal, datetime, bytes, None, lists of int, or results of `json_of`. Raises
        TypeError for a value of another type, and for a missing or an unknown parameter.
        """
        result = Result(statement, statement.bind(values))
        self._results.append(result)
        return result

    def execute(self, statement: Statement[Any], /, **values: Any) -> None:
        """Add a statement without a result. Raises TypeError as `fetch` does."""
        self.fetch(statement, **values)


def json_of(value: Any) -> str | None:
    """Return a value as a `json` or `jsonb` parameter; None is null."""
    return None if value is None else msgspec.json.encode(value).decode()


def _text(value: str) -> bytes:
    if "\x00" in value:  # libpq would take it for the string's end
        raise psycopg.DataError("a string contains a NUL character")
    return value.encode()


_DUMPERS: dict[type, Callable[[Any], bytes | None]] = {
    type(None): lambda _: None,
    str: _text,
    int: b"%d".__mod__,
    bool: lambda value: b"t" if value else b"f",
    Decimal: lambda value: str(value).encode(),
    datetime: lambda value: value.isoformat().encode(),
    bytes: bytes,
    list: lambda numbers: f"{{{','.join(map(int.__repr__, numbers))}}}".encode(),
}


async def send(connection: Connection, results: Iterable[Result[Any]]) -> None:
    """Send statements together and return all rows; a failure prevents later statements. Raises psycopg.Error."""
    async with connection.lock:
        exchange = _exchange(connection, _named_in_span(connection, results))
        try:
            await connection.exchange(exchange)
        except asyncio.CancelledError:
            if connection.pgconn.transaction_status == TransactionStatus.ACTIVE:
                await connection.end_cancelled(exchange)
            raise


async def send_commit(connection: Connection, results: Iterable[Result[Any]], seconds: float | None) -> None:
    """Send statements that end with a commit, and wait at most `seconds` for its confirmation; None: without a limit.

    Raises psycopg.Error; CommitInDoubtError, with the connection closed, if it is unknown whether it took effect.
    """
    async with connection.lock:
        try:
            # When the caller is cancelled, the statement is not. A commit that waits for a replica and is cancelled
            # takes effect and is visible without being on any replica.
            await connection.exchange(_exchange(connection, _named_in_span(connection, results)), seconds)
        except TimeoutError as error:
            connection.pgconn.finish()
            raise CommitInDoubtError(f"the database did not confirm a commit within {seconds:g} seconds") from error
        except asyncio.CancelledError:
            connection.pgconn.finish()
            raise
        except psycopg.OperationalError as error:
            if connection.pgconn.status == ConnStatus.OK:
                raise
            raise CommitInDoubtError(f"the connection was lost during a commit: {error}") from error


def _named_in_span(connection: Connection, results: Iterable[Result[Any]]) -> Iterable[Result[Any]]:
    if SPANS.recorder is not None:
        results = list(results)
        connection.sending = "; ".join(" ".join(result.statement.sql.decode().split()) for result in results)
    return results


def _exchange(connection: Connection, results: Iterable[Result[Any]]) -> PQGen[None]:
    pgconn = connection.pgconn
    pgconn.enter_pipeline_mode()
    try:
        awaited = list(_sent(connection, results))
        pgconn.pipeline_sync()
        while pgconn.flush():
            if ((yield Wait.RW) or 0) & Ready.R:
                pgconn.consume_input()
        failed = None
        for result, preparing in awaited:
            received = yield from _next_result(pgconn)
            if received.status in _FINE:
                if preparing:
                    connection.prepared.add(result.statement.name)
                else:
                    _load(connection, result, received)
            elif failed is None:
                failed = error_from_result(received, connection.info.encoding)
                if isinstance(failed, _OUTDATED) and result.statement.name in connection.prepared:
                    failed = OutdatedStatementError(str(failed))
        yield from _next_result(pgconn)  # the synchronisation's result
    finally:
        with suppress(psycopg.OperationalError):  # the pool closes a connection that stays in pipeline mode
            pgconn.exit_pipeline_mode()
    if failed is not None:
        if isinstance(failed, OutdatedStatementError):
            pgconn.finish()
        raise failed


_FINE = {ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK}

_OUTDATED = (psycopg.errors.FeatureNotSupported, psycopg.errors.InvalidSqlStatementName)


def _sent(connection: Connection, results: Iterable[Result[Any]]) -> Iterator[tuple[Result[Any], bool]]:
    """Send statements through libpq; yield each result, and whether it only confirms a preparation."""
    pgconn, prepared = connection.pgconn, connection.prepared.copy()
    for result in results:
        statement = result.statement
        if not statement.name:
            pgconn.send_query_params(statement.sql, result.values, param_formats=result.formats)
        else:
            if statement.name not in prepared:
                prepared.add(statement.name)
                pgconn.send_prepare(statement.name, statement.sql)
                yield result, True
            pgconn.send_query_prepared(statement.name, result.values, result.formats)
        yield result, False


def _next_result(pgconn: PGconn) -> PQGen[PGresult]:
    while True:
        while pgconn.is_busy():
            yield Wait.R
            pgconn.consume_input()
        received = pgconn.get_result()
        if received is not None:  # None separates the results of two statements
            return received


def _load(connection: Connection, result: Result[Any], received: PGresult) -> None:
    if not received.ntuples:
        result.rows = []
        return
    connection.loading.set_pgresult(received)
    result.rows = connection.loading.load_rows(0, received.ntuples, result.statement.row_maker(received))
    connection.loading.set_pgresult(None)  # an idle connection must not keep a large result
