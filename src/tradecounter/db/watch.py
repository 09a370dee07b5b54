"""Detects a database that stops responding while its connections stay open.

The database's timeouts do not help then, and the network reports no error. So during a long transaction, this module
opens another connection. If the database does not respond to it either, the transaction's connection is cut.
"""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import structlog
from psycopg import AsyncConnection

log = structlog.get_logger()

PATIENCE_SECONDS = 2  # before each attempt, and for the database's response


@contextmanager
def watched(connection: AsyncConnection[Any], url: str) -> Iterator[None]:
    """Cut a connection if the database stops responding while the block uses it."""
    watching: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()
    timer = loop.call_later(PATIENCE_SECONDS, lambda: watching.append(loop.create_task(_watch(connection, url))))
    try:
        yield
    finally:
        timer.cancel()
        for task in watching:
            task.cancel()


async def _watch(connection: AsyncConnection[Any], url: str) -> None:
    while await _responds(url):  # noqa: ASYNC110 no event exists for this
        await asyncio.sleep(PATIENCE_SECONDS)
    log.warning("the database does not respond: cutting a connection to it")
    with suppress(OSError, psycopg.Error), socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as s:
        s.shutdown(socket.SHUT_RDWR)


async def _responds(url: str) -> bool:
    """Return whether the database responds to a new connection, even with an error."""
    try:
        await (await AsyncConnection.connect(url, connect_timeout=PATIENCE_SECONDS)).close()
    except psycopg.errors.ConnectionTimeout:
        return False
    except psycopg.OperationalError:
        pass
    return True
