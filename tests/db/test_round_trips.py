"""Statements that travel together: their rows, what fails among them, and what is left for the commit."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, LiteralString

import psycopg
import pytest

from tradecounter.db.pool import Database
from tradecounter.db.round_trip import Nothing, Statement, array, json_of
from tradecounter.db.transaction import Transaction, attempt, reading, transaction

MOMENT = datetime(2026, 6, 16, 8, 0, 0, 123456, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Found:
    value: Any


ECHO = Statement("select $1::text as value", Found)
NOTED = Statement("select number as value from noted order by number", Found)
NOTE = Statement("insert into noted (number) values ($1)", Nothing)
BROKEN = Statement("select 1 / $1::integer as value", Found)
NONSENSE = Statement("select nothing from nowhere", Found)


@pytest.fixture
def in_database(database_url: str) -> Callable[[Callable[[Database], Awaitable[None]]], None]:
    """Runs something on a database with one connection and a table to note numbers in."""

    def run(work: Callable[[Database], Awaitable[None]]) -> None:
        async def running() -> None:
            async with Database(database_url, connections=1) as database:
                async with transaction(database) as tx:
                    connection = await tx.connection()
                    await connection.execute("drop table if exists noted")
                    await connection.execute("create table noted (number integer unique)")
                await work(database)

        asyncio.run(running())

    return run


async def noted(database: Database) -> list[int]:
    async with reading(database) as tx:
        found = NOTED()
        await tx.ask(found)
    return [row.value for row in found.rows]


async def note(database: Database, *numbers: int) -> None:
    async with transaction(database) as tx:
        for number in numbers:
            tx.leave(NOTE(number))


async def fail(tx: Transaction) -> None:
    async with attempt(tx):
        await tx.ask(NOTE(2))
        tx.leave(NOTE(1))
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("text", "Größe 'x' \\ €", "Größe 'x' \\ €"),
        ("text", None, None),
        ("bigint", 2**62, 2**62),
        ("boolean", True, True),
        ("numeric", Decimal("12.50"), Decimal("12.50")),
        ("timestamptz", MOMENT, MOMENT),
        ("bytea", b"\x00\xff'\\", b"\x00\xff'\\"),
        ("bigint[]", array([3, -1]), [3, -1]),
        ("bigint[]", array([]), []),
        ("jsonb", json_of({"a": [1, "é"]}), {"a": [1, "é"]}),
    ],
)
def test_a_value_comes_back_as_it_was_sent(in_database: Any, kind: str, value: Any, expected: Any) -> None:
    async def work(database: Database) -> None:
        for _ in range(2):  # prepared, and prepared already
            async with transaction(database) as tx:
                found = statement(value)
                await tx.ask(found)
            assert found.only == Found(expected)
            assert found.first == found.only

    statement = Statement(f"select $1::{kind} as value", Found)
    in_database(work)


def test_a_text_with_a_nul_is_refused_and_not_cut_off() -> None:
    with pytest.raises(psycopg.DataError):
        ECHO("a\x00b")


@pytest.mark.parametrize("failing", [BROKEN, NONSENSE])
def test_what_fails_undoes_the_transaction_and_leaves_the_connection_usable(
    in_database: Any, failing: Statement[Found]
) -> None:
    async def broken(tx: Transaction) -> None:
        await tx.ask(NOTE(1), failing(*([0] if failing is BROKEN else [])), NOTE(2))

    async def work(database: Database) -> None:
        for _ in range(2):
            with pytest.raises(psycopg.Error, match=r"division by zero|nowhere"):
                async with transaction(database) as tx:
                    await broken(tx)
        async with transaction(database) as tx:
            await tx.ask(NOTE(3))
        assert await noted(database) == [3]

    in_database(work)


def test_what_is_left_is_carried_out_in_its_turn_at_the_latest_with_the_commit(in_database: Any) -> None:
    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            tx.leave(NOTE(1))
            found = NOTED()
            await tx.ask(found)
            assert [row.value for row in found.rows] == [1]
            tx.leave(NOTE(2))
        async with transaction(database) as tx:
            tx.leave(NOTE(3))
            tx.undo()
        assert await noted(database) == [1, 2]

    in_database(work)


def test_what_is_left_and_fails_is_raised_by_the_end_and_undoes_everything(in_database: Any) -> None:
    async def work(database: Database) -> None:
        with pytest.raises(psycopg.errors.UniqueViolation):
            await note(database, 1, 2, 1)
        assert await noted(database) == []

    in_database(work)


def test_an_attempt_is_undone_alone_together_with_what_it_left(in_database: Any) -> None:
    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            tx.leave(NOTE(1))
            with pytest.raises(ZeroDivisionError):
                await fail(tx)
            with pytest.raises(psycopg.errors.UniqueViolation):
                async with attempt(tx):
                    tx.leave(NOTE(1))
            async with attempt(tx):
                tx.leave(NOTE(3))
        assert await noted(database) == [1, 3]

    in_database(work)


def test_dropping_a_table_with_a_cursor_loses_no_prepared_statement(in_database: Any) -> None:
    """The driver has the server forget all prepared statements then, if it has prepared any itself."""

    async def work(database: Database) -> None:
        assert await noted(database) == []
        async with transaction(database) as tx:
            connection = await tx.connection()
            for _ in range(10):
                await connection.execute("select %s::integer", [1])
            await connection.execute("create table dropped ()")
            await connection.execute("drop table dropped")
        assert await noted(database) == []

    in_database(work)


def test_nothing_can_be_written_while_reading(in_database: Any) -> None:
    async def work(database: Database) -> None:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            async with reading(database) as tx:
                tx.leave(NOTE(1))
        assert await noted(database) == []

    in_database(work)


def test_an_attempt_in_an_attempt_is_undone_with_it(in_database: Any) -> None:
    async def fail_after_a_failure(tx: Transaction) -> None:
        async with attempt(tx):
            tx.leave(NOTE(11))
            with pytest.raises(ZeroDivisionError):
                await fail(tx)
            async with attempt(tx):
                tx.leave(NOTE(12))
            raise KeyError

    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            tx.leave(NOTE(10))
            with pytest.raises(KeyError):
                await fail_after_a_failure(tx)
            async with attempt(tx):
                tx.leave(NOTE(13))
                with pytest.raises(ZeroDivisionError):
                    await fail(tx)
        assert await noted(database) == [10, 13]

    in_database(work)


def test_a_transaction_whose_failed_statement_was_passed_over_is_no_success(in_database: Any) -> None:
    """The database takes the commit of a failed transaction as its rollback, without an error."""

    async def passing_over(database: Database) -> None:
        async with transaction(database) as tx:
            await tx.ask(NOTE(1))
            with suppress(psycopg.errors.UniqueViolation):
                await tx.ask(NOTE(1))

    async def work(database: Database) -> None:
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            await passing_over(database)
        async with transaction(database) as tx:
            with suppress(psycopg.errors.DivisionByZero):
                await tx.ask(NOTE(2), BROKEN(0))
            tx.undo()
        await note(database, 3)
        assert await noted(database) == [3]

    in_database(work)


def test_bytes_come_back_as_they_were_sent_also_when_nothing_is_prepared(in_database: Any) -> None:
    async def work(database: Database) -> None:
        found = Statement("select $1::bytea as value", Found, prepared=False)(b"\x00\xff'\\")
        async with transaction(database) as tx:
            await tx.ask(found)
        assert found.only == Found(b"\x00\xff'\\")

    in_database(work)


def test_a_trip_may_be_larger_than_the_networks_buffers(in_database: Any) -> None:
    async def work(database: Database) -> None:
        large = [letter * 2_000_000 for letter in "abcdefghij"]
        echoes = [ECHO(text) for text in large]
        async with asyncio.timeout(30), transaction(database) as tx:
            await tx.ask(*echoes)
        assert [echo.only.value for echo in echoes] == large

    in_database(work)


def test_rows_that_do_not_take_their_shape_undo_the_transaction(in_database: Any) -> None:
    async def work(database: Database) -> None:
        with pytest.raises(TypeError):
            async with transaction(database) as tx:
                await tx.ask(NOTE(1), Statement("select 1 as other", Found)(), NOTE(2))
        await note(database, 3)
        assert await noted(database) == [3]

    in_database(work)


@pytest.mark.parametrize(
    "value", [Decimal("1E+3"), Decimal("-0.00"), Decimal("1E-10"), Decimal(10) ** 40, Decimal("NaN")]
)
def test_any_decimal_comes_back_as_it_was_sent(in_database: Any, value: Decimal) -> None:
    async def work(database: Database) -> None:
        found = Statement("select $1::numeric as value", Found)(value)
        async with transaction(database) as tx:
            await tx.ask(found)
        assert found.only.value == value or (found.only.value.is_nan() and value.is_nan())

    in_database(work)


@pytest.mark.parametrize("what", ["alter table noted alter column number type bigint", "deallocate all"])
def test_outdated_prepared_statements_fail_once_and_then_work(in_database: Any, what: LiteralString) -> None:
    """As after a migration under a running service: its connections would fail for as long as they live."""

    async def work(database: Database) -> None:
        assert await noted(database) == []
        async with transaction(database) as tx:
            await (await tx.connection()).execute(what)
        with pytest.raises(psycopg.DatabaseError, match=r"cached plan|does not exist"):
            await noted(database)
        assert await noted(database) == []

    in_database(work)
