"""Detects a database that stops responding while its connections stay open.

Its own time limits do not help then, and the network sees no fault. So while a transaction takes long, this opens
another connection; when the database does not respond to that either, it cuts the transaction's connection.
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

PATIENCE_SECONDS = 2  # before each attempt, and for the database to respond to it


@contextmanager
def watched(connection: AsyncConnection[Any], url: str) -> Iterator[None]:
    """Fail the use of a connection in the block when the database stops responding."""
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
    while await _responds(url):  # noqa: ASYNC110 there is no event to wait for
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
