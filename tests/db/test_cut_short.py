"""Transactions that are cut short at any point, by the network or by who waits: all or nothing, and nothing stuck."""

import asyncio
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest

from support.proxy import Link, linked
from tradecounter.db.pool import Database
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import transaction

NOTE = Statement("insert into noted (number) values (:number)")
WAIT = Statement("select pg_sleep(60)")

IDLE = Statement("show idle_in_transaction_session_timeout")

LONGEST_WAIT = 10  # seconds, for what takes milliseconds


@pytest.fixture(scope="module", autouse=True)
def table(database_url: str) -> None:
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("create table noted (number integer unique)")


@pytest.fixture(scope="module")
def link(database_url: str) -> Iterator[Link]:
    with linked(database_url) as found:
        yield found


async def note(database: Database, number: int) -> None:
    """Two round trips, as an order takes."""
    async with transaction(database) as tx:
        async with tx.pipeline() as p:
            p.execute(NOTE, number=number)
        tx.queue(NOTE, number=-number)


def noted(url: str, number: int) -> list[int]:
    with psycopg.connect(url) as connection:
        found = connection.execute("select number from noted where abs(number) = %s order by number", [number])
        return [row[0] for row in found]


def response_length(link: Link) -> int:
    """How many bytes the database says to a connection that notes something once more."""

    async def measured() -> int:
        async with Database(link.url, connections=1) as database:
            await note(database, 1)
            link.heard = 0
            await note(database, 2)
            return link.heard

    return asyncio.run(measured())


@pytest.mark.sweep
def test_a_connection_cut_after_any_byte_commits_all_or_nothing(database_url: str, link: Link) -> None:
    whole = response_length(link)

    async def broken_after(left: int, number: int) -> bool:
        async with Database(link.url, connections=1) as database:
            await note(database, 2 * number)
            link.left = left
            try:
                async with asyncio.timeout(LONGEST_WAIT):
                    await note(database, 2 * number + 1)
            except psycopg.OperationalError:
                return False
            finally:
                link.left = None
            return True

    outcomes = {}
    for left in range(whole + 1):
        number = 2 * (1000 + left) + 1
        outcomes[left] = asyncio.run(broken_after(left, 1000 + left)), noted(database_url, number)
        assert outcomes[left][1] in ([], [-number, number])
    assert all(found for succeeded, found in outcomes.values() if succeeded)
    assert outcomes[whole][0]
    assert not outcomes[0][0]


@pytest.mark.parametrize("again", [False, True])
def test_a_transaction_cancelled_at_any_moment_commits_all_or_nothing(database_url: str, again: bool) -> None:
    async def cancelled_after(turns: int, database: Database, number: int) -> None:
        task = asyncio.create_task(note(database, number))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        if again:
            await asyncio.sleep(0)
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(task), LONGEST_WAIT)
        assert task.cancelled() or task.exception() is None

    async def work() -> None:
        async with Database(database_url, connections=1) as database:
            await note(database, 10 + again)
            for turns in range(0, 120, 4):
                number = 10_000 * (1 + again) + turns
                await cancelled_after(turns, database, number)
                await asyncio.wait_for(note(database, 100_000 * (1 + again) + turns), LONGEST_WAIT)
                assert noted(database_url, number) in ([], [-number, number])

    asyncio.run(work())


def test_a_statement_that_waits_ends_when_its_transaction_is_cancelled(database_url: str) -> None:
    async def work() -> None:
        async with Database(database_url, connections=1) as database:

            async def waiting() -> None:
                async with transaction(database) as tx:
                    tx.queue(NOTE, number=4)
                    async with tx.pipeline() as p:
                        p.execute(WAIT)

            task = asyncio.create_task(waiting())
            await asyncio.sleep(0.2)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, LONGEST_WAIT)
            await asyncio.wait_for(note(database, 4), LONGEST_WAIT)

    asyncio.run(work())
    assert noted(database_url, 4) == [-4, 4]


def test_a_process_that_is_stopped_in_a_transaction_does_not_keep_its_locks_for_ever(database_url: str) -> None:
    async def longest_wait() -> str:
        async with Database(database_url, connections=1) as database, transaction(database) as tx:
            longest: str = await tx.fetch_value(IDLE)
            return longest

    assert asyncio.run(longest_wait()) == "5min"
