"""Transactions: the only place where anything is committed.

Leaving the block commits, raising rolls back. A request or a job has one transaction, committed before its answer
is sent. The beginning travels to the database with the first statement, the end with what was left for it.
"""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

import psycopg
from psycopg.pq import TransactionStatus

from tradecounter.db.pool import Database
from tradecounter.db.round_trip import Connection, Nothing, Query, Statement, send

_BEGIN = Statement("begin", Nothing, prepared=False)
_BEGIN_READING = Statement("begin isolation level repeatable read read only", Nothing, prepared=False)
_COMMIT = Statement("commit", Nothing, prepared=False)
_ROLLBACK = Statement("rollback", Nothing, prepared=False)
_SAVE = Statement("savepoint attempt", Nothing, prepared=False)
_KEEP = Statement("release savepoint attempt", Nothing, prepared=False)
_GO_BACK = Statement("rollback to savepoint attempt", Nothing, prepared=False)

_OPEN = {TransactionStatus.INTRANS, TransactionStatus.INERROR}


class Transaction:
    """A transaction under way; the statements of `queries.py` and `store.py` files run in it."""

    def __init__(self, connection: Connection, beginning: Statement[Nothing]) -> None:
        self._connection = connection
        self._waiting: list[Query[Any]] = [beginning()]
        self.undone = False

    async def ask(self, *queries: Query[Any]) -> None:
        """Send statements, after those that were left, in one round trip; they have their rows then.

        Raises the psycopg.Error of the first that fails; those after it were not carried out.
        """
        waiting, self._waiting = self._waiting, []
        await send(self._connection, *waiting, *queries)

    def leave(self, query: Query[Nothing]) -> None:
        """Leave a statement to be sent together with what comes next, at the latest with the commit.

        It is carried out in its turn, but only then raises what is wrong with it.
        """
        self._waiting.append(query)

    async def connection(self) -> Connection:
        """Return the connection, for what needs it itself, once everything so far was carried out on it."""
        if self._waiting:
            await self.ask()
        return self._connection

    @property
    def session(self) -> int:
        """The number of the connection: another number means that another connection was made."""
        return self._connection.number

    @property
    def can_go_on(self) -> bool:
        """Whether further statements can be carried out: the connection is there and no failed one was passed over."""
        return self._connection.pgconn.transaction_status == TransactionStatus.INTRANS

    def forget(self) -> None:
        """Send nothing of what was left."""
        self._waiting.clear()

    def undo(self) -> None:
        """Let everything that this transaction did be rolled back when its block ends."""
        self.undone = True

    async def end(self) -> None:
        """Commit, or roll back what is to be undone.

        Raises psycopg.Error also when a statement failed and the block went on all the same: the database takes the
        commit of such a transaction for its rollback, and calls that a success.
        """
        if self._connection.pgconn.transaction_status == TransactionStatus.INERROR and not self.undone:
            raise psycopg.errors.InFailedSqlTransaction("a statement failed, and its error was passed over")
        await self.ask(_ROLLBACK() if self.undone else _COMMIT())


def transaction(database: Database) -> AbstractAsyncContextManager[Transaction]:
    """Run a block in a transaction."""
    return _ending(database, _BEGIN)


def reading(database: Database) -> AbstractAsyncContextManager[Transaction]:
    """Run a block of reads that all see the database at one moment; nothing can be written."""
    return _ending(database, _BEGIN_READING)


@asynccontextmanager
async def _ending(database: Database, beginning: Statement[Nothing]) -> AsyncIterator[Transaction]:
    async with database.connection() as connection:
        tx = Transaction(connection, beginning)
        try:
            yield tx
            await tx.end()
        except BaseException:
            if connection.pgconn.transaction_status in _OPEN:
                with suppress(psycopg.Error):  # the connection is lost, and the transaction with it
                    await send(connection, _ROLLBACK())
            raise


@asynccontextmanager
async def attempt(tx: Transaction) -> AsyncIterator[None]:
    """Run a part of a transaction that is undone alone when it raises; what came before it stands."""
    await tx.ask(_SAVE())
    try:
        yield
        await tx.ask(_KEEP())
    except BaseException:
        tx.forget()
        with suppress(psycopg.Error):
            await tx.ask(_GO_BACK(), _KEEP())  # without the second, an outer attempt would find this one's savepoint
        raise
