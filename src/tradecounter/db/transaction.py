"""Transactions; no other module commits.

A block commits at its end, and rolls back after an error. Each request and each job has one transaction; a request's is
committed before the response is sent. `begin` is sent with the first statement, `commit` with the queued statements.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg import AsyncRawCursor, AsyncRawServerCursor
from psycopg.pq import TransactionStatus

from tradecounter.db.connection import Connection
from tradecounter.db.pipeline import Pipeline, Result, send, send_commit
from tradecounter.db.pool import Database
from tradecounter.db.statement import RawRows, Statement
from tradecounter.kit.actor import SYSTEM, Actor
from tradecounter.kit.errors import DomainError, Kind
from tradecounter.kit.telemetry import SPANS

log = structlog.get_logger()

Row = TypeVar("Row")

_BEGIN = Statement("begin", prepared=False)
_BEGIN_READING = Statement("begin isolation level repeatable read read only", prepared=False)
_COMMIT = Statement("commit", prepared=False)
_ROLLBACK = Statement("rollback", prepared=False)
_COMMIT_AT_ONCE = Statement("set local synchronous_commit = off", prepared=False)
_SAVEPOINT = Statement("savepoint inner_block", prepared=False)
_RELEASE = Statement("release savepoint inner_block", prepared=False)
_ROLLBACK_TO = Statement("rollback to savepoint inner_block", prepared=False)

# Replicas get the log in order, so a commit after this record waits for everything before it. On a former primary, the
# transaction id raises ReadOnlySqlTransaction; the record alone would be an internal error there.
_MARK_LOG = Statement("select pg_logical_emit_message(true, 'tradecounter', pg_current_xact_id()::text)")

# How the names of foreign keys end whose owner may be deleted while another transaction adds to it. Roll-backs,
# erasures, requests and jobs delete customers, users, lists, webhooks, consents and agents, and expired orders, which
# may get notes. A violation of any other foreign key is a fault of the program.
OWNERS_THAT_ARE_DELETED = (
    "_customer_id_fkey",
    "_user_id_fkey",
    "_in_basket_of_fkey",
    "_requested_by_fkey",
    "_decided_by_fkey",
    "_list_id_fkey",
    "_webhook_id_fkey",
    "_consent_id_fkey",
    "_grant_id_fkey",
    "agent_consent_client_id_fkey",
    "order_note_order_id_fkey",
)

_OPEN = {TransactionStatus.INTRANS, TransactionStatus.INERROR}


class Transaction:
    """An open transaction on behalf of `actor`.

    `pipeline` sends several frequent statements in one round trip. `fetch_all`, `find_row`, `fetch_row`,
    `find_value`, `fetch_value` and `execute` send one statement each. All of them send the queued statements first, and
    raise psycopg.Error.
    """

    def __init__(
        self,
        connection: Connection,
        beginning: Statement[Any],
        actor: Actor = SYSTEM,
        commit_seconds: float | None = None,
    ) -> None:
        self.actor = actor
        self._commit_seconds = commit_seconds
        self._connection = connection
        self._queue: list[Result[Any]] = [Result(beginning, ())]
        self._to_be_rolled_back = False

    def pipeline(self) -> Pipeline:
        """Return a pipeline, which sends its statements in one round trip at its block's end."""
        return Pipeline(self._send)

    def queue(self, statement: Statement[Any], /, **values: Any) -> None:
        """Queue a statement for the next round trip, at the latest the commit; that call raises its error."""
        self._queue.append(Result(statement, statement.bind(values)))

    def acknowledge_earlier(self) -> None:
        """Let the commit wait until the replicas have all that this transaction could read.

        For responses that acknowledge an earlier transaction's change, such as a replay: after a crash, a database
        shows commits that no replica has confirmed yet. A transaction without changes of its own would not wait.
        """
        self.queue(_MARK_LOG)

    def commit_at_once(self) -> None:
        """Commit without waiting for the disk or replicas: a crash may undo what is recorded, such as a use."""
        self.queue(_COMMIT_AT_ONCE)

    async def _send(self, results: Iterable[Result[Any]]) -> None:
        queue, self._queue = self._queue, []
        await send(self._connection, [*queue, *results])

    async def _send_plain(self, *statements: Statement[Any]) -> None:
        await self._send([Result(statement, ()) for statement in statements])

    async def fetch_all(self, statement: Statement[Row], /, **values: Any) -> list[Row]:
        """Run a statement and return its rows."""
        return (await self.fetch_raw(statement, **values)).between(0)

    async def find_row(self, statement: Statement[Row], /, **values: Any) -> Row | None:
        """Run a statement and return its first row, or None."""
        rows = (await self.fetch_raw(statement, **values)).between(0, 1)
        return rows[0] if rows else None

    async def fetch_row(self, statement: Statement[Row], /, **values: Any) -> Row:
        """Run a statement that returns a row, and return its first one. Raises LookupError without one."""
        row = await self.find_row(statement, **values)
        if row is None:
            raise LookupError("the statement returns no row")
        return row

    async def find_value(self, statement: Statement[Any], /, **values: Any) -> Any:
        """Run a statement and return the first column of its first row, or None without a row."""
        row = await (await self._run(statement, values)).fetchone()
        return row[0] if row else None

    async def fetch_value(self, statement: Statement[Any], /, **values: Any) -> Any:
        """Run a statement that returns a row, and return its first column. Raises LookupError without one."""
        row = await (await self._run(statement, values)).fetchone()
        if row is None:
            raise LookupError("the statement returns no row")
        return row[0]

    async def fetch_raw(self, statement: Statement[Row], /, **values: Any) -> RawRows[Row]:
        """Run a statement and return its rows, which stay readable without the connection."""
        result = (await self._run(statement, values)).pgresult
        if result is None:
            raise TypeError("the statement returns no rows")
        return RawRows(result, self._connection, statement)

    async def execute(self, statement: Statement[Any], /, **values: Any) -> int:
        """Run a statement and return the number of affected rows."""
        return (await self._run(statement, values)).rowcount

    async def _run(self, statement: Statement[Any], values: dict[str, Any]) -> AsyncRawCursor[tuple[Any, ...]]:
        bound = statement.bind(values)
        connection = await self.connection()
        if SPANS.recorder is not None:
            connection.sending = " ".join(statement.sql.decode().split())
        return await AsyncRawCursor(connection).execute(statement.sql, bound)

    async def stream(self, statement: Statement[Row], rows_at_once: int = 5000, /, **values: Any) -> AsyncIterator[Row]:
        """Run a statement and yield its rows, with at most `rows_at_once` in memory."""
        async with AsyncRawServerCursor(await self.connection(), "stream") as cursor:
            await cursor.execute(statement.sql, statement.bind(values))
            while (rows := await cursor.fetchmany(rows_at_once)) and (result := cursor.pgresult):
                for row in map(statement.row_maker(result), rows):
                    yield row

    async def connection(self) -> Connection:
        """Return the connection, after sending the queued statements."""
        if self._queue:
            await self._send(())
        return self._connection

    @property
    def session(self) -> int:
        """The connection's number, which is unique in the process."""
        return self._connection.number

    @property
    def can_continue(self) -> bool:
        """Whether further statements can run: the connection is open and no statement has failed."""
        return self._connection.pgconn.transaction_status == TransactionStatus.INTRANS

    @asynccontextmanager
    async def savepoint(self) -> AsyncIterator[None]:
        """Run a block inside a savepoint; an error rolls back only this block."""
        await self._send_plain(_SAVEPOINT)
        try:
            yield
            await self._send_plain(_RELEASE)
        except BaseException:
            self._queue.clear()
            with suppress(psycopg.Error):
                # An outer block's savepoint has the same name: unless released, an outer rollback would stop here.
                await self._send_plain(_ROLLBACK_TO, _RELEASE)
            raise

    def set_rollback(self) -> None:
        """Roll back at the block's end instead of committing.

        The queued statements are sent first: a preview raises their errors, as the change would.
        """
        self._to_be_rolled_back = True

    async def end(self) -> None:
        """Commit, or roll back after `set_rollback`.

        Also raises psycopg.Error if the block ignored a statement's error: the database would roll back at the commit
        and report success; CommitInDoubtError if the commit is not confirmed in time.
        """
        failed = self._connection.pgconn.transaction_status == TransactionStatus.INERROR
        if self._to_be_rolled_back:
            if failed:
                self._queue.clear()
            await self._send_plain(_ROLLBACK)
            return
        if failed:
            raise psycopg.errors.InFailedSqlTransaction("a statement failed, and its error was ignored")
        queue, self._queue = self._queue, []
        await send_commit(self._connection, [*queue, Result(_COMMIT, ())], self._commit_seconds)


def transaction(database: Database, actor: Actor = SYSTEM) -> AbstractAsyncContextManager[Transaction]:
    """Run a block in a transaction; the audit log says that `actor` made its changes."""
    return _ending(database, _BEGIN, actor)


def reading(database: Database) -> AbstractAsyncContextManager[Transaction]:
    """Run a read-only block whose reads all see the same snapshot of the database."""
    return _ending(database, _BEGIN_READING, SYSTEM)


@asynccontextmanager
async def _ending(database: Database, beginning: Statement[Any], actor: Actor) -> AsyncIterator[Transaction]:
    async with database.connection() as connection:
        tx = Transaction(connection, beginning, actor, database.commit_seconds)
        try:
            yield tx
            await tx.end()
        except BaseException as error:
            if connection.pgconn.transaction_status in _OPEN:
                with suppress(psycopg.Error):  # the connection and its transaction are lost
                    await send(connection, [Result(_ROLLBACK, ())])
            if isinstance(error, psycopg.errors.ForeignKeyViolation) and _owner_is_deleted(error):
                log.warning("a record's owner was deleted meanwhile", exc_info=error)
                raise DomainError(Kind.CONFLICT, "what this belongs to is being deleted; nothing is changed") from error
            raise


def _owner_is_deleted(error: psycopg.errors.ForeignKeyViolation) -> bool:
    return (error.diag.constraint_name or "").endswith(OWNERS_THAT_ARE_DELETED)
