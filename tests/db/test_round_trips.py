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
from psycopg.sql import SQL, Identifier

from tradecounter.db.pipeline import NotFetchedError, Pipeline, json_of
from tradecounter.db.pool import Database
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction, reading, transaction
from tradecounter.kit.errors import DomainError

MOMENT = datetime(2026, 6, 16, 8, 0, 0, 123456, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Found:
    value: Any


ECHO = Statement("select :value::text as value", Found)
NOTED = Statement("select number as value from noted order by number", Found)
NOTE = Statement("insert into noted (number) values (:number)")
BROKEN = Statement("select 1 / :divisor::integer as value", Found)
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
    async with reading(database) as tx, tx.pipeline() as p:
        found = p.fetch(NOTED)
    return [row.value for row in found.rows]


async def note(database: Database, *numbers: int) -> None:
    async with transaction(database) as tx:
        for number in numbers:
            tx.queue(NOTE, number=number)


async def insert(tx: Transaction, number: int) -> None:
    async with tx.pipeline() as p:
        p.execute(NOTE, number=number)


async def no_send(_results: Any) -> None:
    raise AssertionError


async def fail(tx: Transaction) -> None:
    async with tx.savepoint():
        await insert(tx, 2)
        tx.queue(NOTE, number=1)
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
        ("bigint[]", [3, -1], [3, -1]),
        ("bigint[]", [], []),
        ("jsonb", json_of({"a": [1, "é"]}), {"a": [1, "é"]}),
    ],
)
def test_a_value_comes_back_as_it_was_sent(in_database: Any, kind: str, value: Any, expected: Any) -> None:
    async def work(database: Database) -> None:
        for _ in range(2):  # prepared, and prepared already
            async with transaction(database) as tx, tx.pipeline() as p:
                found = p.fetch(statement, value=value)
            assert found.row == Found(expected)
            assert found.first == found.row

    statement = Statement(f"select :value::{kind} as value", Found)
    in_database(work)


def test_a_text_with_a_nul_is_rejected_and_not_cut_off() -> None:
    with pytest.raises(psycopg.DataError):
        Pipeline(no_send).fetch(ECHO, value="a\x00b")


@pytest.mark.parametrize("value", [["a,b"], [Decimal("1.5")], [None]])
def test_a_list_of_anything_but_whole_numbers_is_rejected(value: list[Any]) -> None:
    with pytest.raises(TypeError):
        Pipeline(no_send).fetch(ECHO, value=value)


@pytest.mark.parametrize("failing", [BROKEN, NONSENSE])
def test_a_failure_rolls_back_the_transaction_and_keeps_the_connection_usable(
    in_database: Any, failing: Statement[Found]
) -> None:
    async def broken(tx: Transaction) -> None:
        async with tx.pipeline() as p:
            p.execute(NOTE, number=1)
            p.execute(failing, **({"divisor": 0} if failing is BROKEN else {}))
            p.execute(NOTE, number=2)

    async def work(database: Database) -> None:
        for _ in range(2):
            with pytest.raises(psycopg.Error, match=r"division by zero|nowhere"):
                async with transaction(database) as tx:
                    await broken(tx)
        async with transaction(database) as tx:
            await insert(tx, 3)
        assert await noted(database) == [3]

    in_database(work)


def test_queued_statements_are_executed_in_order_before_the_commit(in_database: Any) -> None:
    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            tx.queue(NOTE, number=1)
            assert [row.value for row in await tx.fetch_all(NOTED)] == [1]
            tx.queue(NOTE, number=2)
        async with transaction(database) as tx:
            tx.queue(NOTE, number=3)
            tx.set_rollback()
        assert await noted(database) == [1, 2]

    in_database(work)


def test_a_queued_statement_that_fails_rolls_everything_back_at_the_end(in_database: Any) -> None:
    async def work(database: Database) -> None:
        with pytest.raises(psycopg.errors.UniqueViolation):
            await note(database, 1, 2, 1)
        assert await noted(database) == []

    in_database(work)


async def own(database: Database, column: str) -> None:
    """Add a record whose owner does not exist, with a foreign key in this column."""
    async with transaction(database) as tx:
        connection = await tx.connection()
        await connection.execute("create table owner (id integer primary key)")
        await connection.execute(SQL("create table owned ({} integer references owner)").format(Identifier(column)))
        await connection.execute("insert into owned values (1)")


def test_only_an_owner_that_may_be_deleted_meanwhile_is_a_conflict(in_database: Any) -> None:
    async def work(database: Database) -> None:
        with pytest.raises(DomainError, match="is being deleted"):
            await own(database, "customer_id")
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            await own(database, "product_id")

    in_database(work)


def test_a_savepoint_is_rolled_back_alone_together_with_what_it_queued(in_database: Any) -> None:
    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            tx.queue(NOTE, number=1)
            with pytest.raises(ZeroDivisionError):
                await fail(tx)
            with pytest.raises(psycopg.errors.UniqueViolation):
                async with tx.savepoint():
                    tx.queue(NOTE, number=1)
            async with tx.savepoint():
                tx.queue(NOTE, number=3)
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
                tx.queue(NOTE, number=1)
        assert await noted(database) == []

    in_database(work)


def test_a_savepoint_in_a_savepoint_is_rolled_back_with_it(in_database: Any) -> None:
    async def fail_after_a_failure(tx: Transaction) -> None:
        async with tx.savepoint():
            tx.queue(NOTE, number=11)
            with pytest.raises(ZeroDivisionError):
                await fail(tx)
            async with tx.savepoint():
                tx.queue(NOTE, number=12)
            raise KeyError

    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            tx.queue(NOTE, number=10)
            with pytest.raises(KeyError):
                await fail_after_a_failure(tx)
            async with tx.savepoint():
                tx.queue(NOTE, number=13)
                with pytest.raises(ZeroDivisionError):
                    await fail(tx)
        assert await noted(database) == [10, 13]

    in_database(work)


def test_a_transaction_that_ignored_a_failed_statement_raises_an_error(in_database: Any) -> None:
    """The database takes the commit of a failed transaction as its rollback, without an error."""

    async def passing_over(database: Database) -> None:
        async with transaction(database) as tx:
            await insert(tx, 1)
            with suppress(psycopg.errors.UniqueViolation):
                await insert(tx, 1)

    async def work(database: Database) -> None:
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            await passing_over(database)
        async with transaction(database) as tx:
            with suppress(psycopg.errors.DivisionByZero):
                async with tx.pipeline() as p:
                    p.execute(NOTE, number=2)
                    p.execute(BROKEN, divisor=0)
            tx.queue(NOTE, number=2)
            tx.set_rollback()
        await note(database, 3)
        assert await noted(database) == [3]

    in_database(work)


def test_bytes_come_back_as_they_were_sent_also_when_nothing_is_prepared(in_database: Any) -> None:
    async def work(database: Database) -> None:
        statement = Statement("select :value::bytea as value", Found, prepared=False)
        async with transaction(database) as tx, tx.pipeline() as p:
            found = p.fetch(statement, value=b"\x00\xff'\\")
        assert found.row == Found(b"\x00\xff'\\")

    in_database(work)


def test_a_round_trip_may_exceed_the_network_buffers(in_database: Any) -> None:
    async def work(database: Database) -> None:
        large = [letter * 2_000_000 for letter in "abcdefghij"]
        async with asyncio.timeout(30), transaction(database) as tx, tx.pipeline() as p:
            echoes = [p.fetch(ECHO, value=text) for text in large]
        assert [echo.row.value for echo in echoes] == large

    in_database(work)


def test_rows_that_cannot_be_converted_roll_back_the_transaction(in_database: Any) -> None:
    async def mismatched(tx: Transaction) -> None:
        async with tx.pipeline() as p:
            p.execute(NOTE, number=1)
            p.fetch(Statement("select 1 as other", Found))
            p.execute(NOTE, number=2)

    async def work(database: Database) -> None:
        with pytest.raises(TypeError):
            async with transaction(database) as tx:
                await mismatched(tx)
        await note(database, 3)
        assert await noted(database) == [3]

    in_database(work)


@pytest.mark.parametrize(
    "value", [Decimal("1E+3"), Decimal("-0.00"), Decimal("1E-10"), Decimal(10) ** 40, Decimal("NaN")]
)
def test_any_decimal_comes_back_as_it_was_sent(in_database: Any, value: Decimal) -> None:
    async def work(database: Database) -> None:
        statement = Statement("select :value::numeric as value", Found)
        async with transaction(database) as tx, tx.pipeline() as p:
            found = p.fetch(statement, value=value)
        assert found.row.value == value or (found.row.value.is_nan() and value.is_nan())

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


def test_a_result_cannot_be_read_before_the_end_of_its_block(in_database: Any) -> None:
    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            async with tx.pipeline() as p:
                found = p.fetch(ECHO, value="here")
                for read in (lambda: found.rows, lambda: found.first, lambda: found.row):
                    with pytest.raises(NotFetchedError, match="after its pipeline's block"):
                        read()
            assert found.row.value == "here"

    in_database(work)


def test_a_block_that_raises_sends_nothing(in_database: Any) -> None:
    async def fail_in_pipeline(tx: Transaction) -> None:
        async with tx.pipeline() as p:
            p.execute(NOTE, number=1)
            raise ZeroDivisionError

    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            with pytest.raises(ZeroDivisionError):
                await fail_in_pipeline(tx)
            await insert(tx, 2)
        assert await noted(database) == [2]

    in_database(work)


def test_results_of_a_pipeline_that_failed_cannot_be_read(in_database: Any) -> None:
    async def work(database: Database) -> None:
        results = []
        with pytest.raises(psycopg.errors.DivisionByZero):
            async with transaction(database) as tx, tx.pipeline() as p:
                results = [p.fetch(BROKEN, divisor=0), p.fetch(ECHO, value="after it")]
        for result in results:
            with pytest.raises(NotFetchedError):
                _ = result.rows

    in_database(work)


def test_statements_are_fetched_one_at_a_time_too(in_database: Any) -> None:
    async def work(database: Database) -> None:
        async with transaction(database) as tx:
            assert await tx.find_row(NOTED) is None
            assert await tx.find_value(NOTED) is None
            with pytest.raises(LookupError):
                await tx.fetch_value(NOTED)
            assert await tx.execute(NOTE, number=7) == 1
            tx.queue(NOTE, number=8)
            assert await tx.find_row(NOTED) == Found(7)
            assert await tx.fetch_all(NOTED) == [Found(7), Found(8)]
            assert await tx.find_value(NOTED) == 7
            assert await tx.fetch_value(NOTED) == 7
            pairs = Statement("select number, :word::text || '%s' from noted order by number desc")
            assert await tx.fetch_all(pairs, word="a") == [(8, "a%s"), (7, "a%s")]
            first = Statement("select number from noted order by 1 limit :most")
            assert [row async for row in tx.stream(first, 1, most=2)] == [(7,), (8,)]

    in_database(work)
