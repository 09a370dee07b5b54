"""Noticing a database that has fallen silent: connections stay open, and nothing is ever answered.

Its own time limits are of no use then, and the network sees nothing wrong. So while a transaction takes long, the
database is asked for another connection; when not even that is answered, the transaction's connection is cut.
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

PATIENCE_SECONDS = 2  # until the database is asked, again and again; and for its answer


@contextmanager
def watched(connection: AsyncConnection[Any], url: str) -> Iterator[None]:
    """Let whatever waits for a connection in the block fail when the database falls silent."""
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
    while await _answers(url):  # noqa: ASYNC110 there is no event: it asks each time
        await asyncio.sleep(PATIENCE_SECONDS)
    log.warning("the database does not answer: cutting a connection to it")
    with suppress(OSError, psycopg.Error), socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as s:
        s.shutdown(socket.SHUT_RDWR)


async def _answers(url: str) -> bool:
    """Tell whether the database says anything to a new connection, be it that there are too many."""
    try:
        await (await AsyncConnection.connect(url, connect_timeout=PATIENCE_SECONDS)).close()
    except psycopg.errors.ConnectionTimeout:
        return False
    except psycopg.OperationalError:
        pass
    return True
