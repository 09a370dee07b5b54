"""The event loop watches a connection between its round trips, and lets it go before its socket is closed."""

import asyncio
import socket
import struct
import time
from collections.abc import Awaitable, Callable
from decimal import Decimal

import psycopg
import pytest
import uvloop

from support.proxy import linked
from tradecounter.db.connection import Connection
from tradecounter.db.pipeline import CommitInDoubtError, Result, send, send_commit
from tradecounter.db.statement import Statement

BACKEND = Statement("select pg_backend_pid()")
LENGTH = Statement("select length(:text::text)")
SLEEP = Statement("select pg_sleep(:seconds)")
SLEEP_AND_SEND = Statement("select pg_sleep(:seconds), repeat('x', 20000)")  # more than the server keeps to send
END = Statement("select pg_terminate_backend(:backend)")


@pytest.fixture
def connected(database_url: str) -> Callable[[Callable[[Connection], Awaitable[None]]], None]:
    """Runs something with a connection of its own."""

    def run(work: Callable[[Connection], Awaitable[None]]) -> None:
        async def running() -> None:
            connection = await Connection.connect(database_url, autocommit=True)
            await work(connection)
            await connection.close()

        asyncio.run(running())

    return run


async def asked(connection: Connection, statement: Statement[tuple[int]], *values: object) -> int:
    result = Result(statement, values)
    await send(connection, [result])
    return result.row[0]


Connected = Callable[[Callable[[Connection], Awaitable[None]]], None]


def test_a_cursor_may_use_the_connection_between_round_trips(connected: Connected) -> None:
    async def work(connection: Connection) -> None:
        backend = await asked(connection, BACKEND)
        found = await (await connection.execute("select pg_backend_pid()")).fetchone()
        assert found == (backend,) == (await asked(connection, BACKEND),)

    connected(work)


def test_more_is_sent_than_the_socket_takes_at_once(connected: Connected) -> None:
    async def work(connection: Connection) -> None:
        assert await asked(connection, BACKEND)
        assert await asked(connection, LENGTH, "a" * 20_000_000) == 20_000_000
        assert await asked(connection, LENGTH, "a") == 1

    connected(work)


def test_a_cancelled_round_trip_ends_its_statement_and_keeps_the_connection(connected: Connected) -> None:
    async def work(connection: Connection) -> None:
        backend = await asked(connection, BACKEND)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await asked(connection, SLEEP, 60)
        assert await asked(connection, BACKEND) == backend

    start = time.monotonic()
    connected(work)
    assert time.monotonic() - start < 30


def test_a_commit_that_takes_too_long_is_in_doubt(connected: Connected) -> None:
    async def work(connection: Connection) -> None:
        await asked(connection, BACKEND)
        with pytest.raises(CommitInDoubtError):
            await send_commit(connection, [Result(SLEEP, (60,))], 0.3)
        assert connection.closed

    connected(work)


def test_a_commit_whose_results_come_one_by_one_waits_no_longer(connected: Connected) -> None:
    async def work(connection: Connection) -> None:
        await asked(connection, BACKEND)
        with pytest.raises(CommitInDoubtError):
            await send_commit(connection, [Result(SLEEP_AND_SEND, (Decimal("0.4"),)) for _ in range(10)], 1)

    start = time.monotonic()
    connected(work)
    assert time.monotonic() - start < 3


def test_the_number_of_a_socket_that_the_database_closed_can_be_used_again(
    connected: Connected, database_url: str
) -> None:
    async def work(connection: Connection) -> None:
        backend, socket = await asked(connection, BACKEND), connection.pgconn.socket
        async with await Connection.connect(database_url, autocommit=True) as other:
            await asked(other, END, backend)
        await asyncio.sleep(0.2)  # until the loop has seen the end
        with pytest.raises(psycopg.OperationalError):
            await asked(connection, BACKEND)
        async with await Connection.connect(database_url, autocommit=True) as again:
            assert again.pgconn.socket == socket
            assert await asked(again, BACKEND) != backend

    connected(work)


def test_a_connection_that_is_lost_during_a_round_trip_lets_its_socket_go(
    connected: Connected, database_url: str
) -> None:
    async def work(connection: Connection) -> None:
        backend, socket = await asked(connection, BACKEND), connection.pgconn.socket
        async with await Connection.connect(database_url, autocommit=True) as other:
            sleeping = asyncio.create_task(asked(connection, SLEEP, 60))
            await asyncio.sleep(0.2)
            await asked(other, END, backend)
            with pytest.raises(psycopg.OperationalError):
                await sleeping
            assert not asyncio.get_running_loop().remove_reader(socket)

    connected(work)


def test_a_round_trip_ends_when_the_connection_is_reset_before_all_data_are_read(database_url: str) -> None:
    body = b"SNOTICE\0VNOTICE\0C00000\0Mgoing\0\0"
    notice = b"N" + struct.pack("!I", 4 + len(body)) + body

    async def work() -> None:
        with linked(database_url) as link:
            connection = await Connection.connect(link.url, autocommit=True)
            assert await asked(connection, BACKEND)
            link.hang()
            waiting = asyncio.create_task(asked(connection, BACKEND))
            await asyncio.sleep(0.2)
            end = link.sockets[0]
            end.sendall(notice)
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets
            end.close()
            ended, _ = await asyncio.wait([waiting], timeout=10)
            assert ended
            assert isinstance(waiting.exception(), psycopg.OperationalError)
            await connection.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work())
