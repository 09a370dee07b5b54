"""Waiting, with a bound, for a condition and for a statement that waits for a lock."""

import asyncio
import time
from collections.abc import Callable

import psycopg

LONG = 120  # seconds: on a busy machine, the start of a few processes takes half of that


def wait_for(condition: Callable[[], object], seconds: float = LONG) -> None:
    """Return as soon as the condition holds. AssertionError when it does not in this time."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


async def happened(condition: Callable[[], object], seconds: float = LONG) -> None:
    """Wait as `wait_for` does, without blocking the event loop."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 what is waited for offers no event
            await asyncio.sleep(0.01)


def waiting_for_a_lock(database_url: str, *, processes: int = 1) -> int:
    """Return a server process that waits for a lock, once that many of them do. AssertionError if they do not."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        found: list[tuple[int]] = []

        def enough() -> bool:
            found[:] = connection.execute(
                "select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
            ).fetchall()
            return len(found) >= processes

        wait_for(enough)
        return found[0][0]


def break_connection(database_url: str, process: int) -> None:
    """Break the connection that a server process serves."""
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("select pg_terminate_backend(%s)", [process])
