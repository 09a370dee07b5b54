"""Transactions: the only place where anything is committed.

Leaving the block commits, raising rolls back. A request or a job has one transaction, committed before its answer
is sent.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from psycopg import Rollback

from tradecounter.db.pool import Connection, Database


class Transaction:
    """A transaction under way; the statements of `queries.py` and `store.py` files run on its connection."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.undone = False

    def undo(self) -> None:
        """Let everything that this transaction did be rolled back when its block ends."""
        self.undone = True


@asynccontextmanager
async def transaction(database: Database) -> AsyncIterator[Transaction]:
    """Run a block in a transaction."""
    async with database.connection() as connection, connection.transaction() as block:
        tx = Transaction(connection)
        yield tx
        if tx.undone:
            raise Rollback(block)


@asynccontextmanager
async def attempt(tx: Transaction) -> AsyncIterator[None]:
    """Run a part of a transaction that is undone alone when it raises; what came before it stands."""
    async with tx.connection.transaction():
        yield


@asynccontextmanager
async def reading(database: Database) -> AsyncIterator[Transaction]:
    """Run a block of reads that all see the database at one moment; nothing can be written."""
    async with database.connection() as connection, connection.transaction():
        await connection.execute("set transaction isolation level repeatable read read only")
        yield Transaction(connection)
