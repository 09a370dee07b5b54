"""Reading one part of what is in memory: failures are apart, and tried again after a pause that grows."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest

from tradecounter.db import refresher
from tradecounter.db.changes import Version
from tradecounter.db.pool import Database
from tradecounter.db.refresher import Reader
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import Transaction, reading

OLD, NEW = Version("server", 1), Version("server", 2)


@pytest.fixture
def in_transaction(database_url: str) -> Callable[[Callable[[Transaction], Awaitable[None]]], None]:
    def run(work: Callable[[Transaction], Awaitable[None]]) -> None:
        async def running() -> None:
            async with Database(database_url, connections=1) as database, reading(database) as tx:
                await work(tx)

        asyncio.run(running())

    return run


class Failing:
    """Fails in the database, and notes when it was tried."""

    def __init__(self, tx: Transaction) -> None:
        self.tried: list[float] = []
        self._tx = tx

    async def __call__(self) -> Any:
        self.tried.append(time.monotonic())
        return await self._tx.find_value(Statement("select 1 / 0"))


def test_a_failure_leaves_the_transaction_to_the_other_parts(in_transaction: Any) -> None:
    async def work(tx: Transaction) -> None:
        bad, good = Reader("bad"), Reader("good")
        assert await bad.read(tx, Failing(tx), OLD) is None
        assert await good.read(tx, lambda: tx.find_value(Statement("select 42")), OLD) == 42
        assert (bad.failing, good.failing) == (True, False)

    in_transaction(work)


def test_pauses_double_up_to_a_limit(in_transaction: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresher, "_FIRST_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(refresher, "_LONGEST_PAUSE_SECONDS", 0.1)

    async def work(tx: Transaction) -> None:
        bad, failing = Reader("bad"), Failing(tx)
        while len(failing.tried) < 6:
            assert await bad.read(tx, failing, OLD) is None
            await asyncio.sleep(0)
        pauses = [later - earlier for earlier, later in zip(failing.tried, failing.tried[1:], strict=False)]
        for pause, least in zip(pauses, [0.02, 0.04, 0.08, 0.1, 0.1], strict=True):
            assert pause >= least

    in_transaction(work)


def test_a_new_version_is_read_without_a_pause_and_success_ends_the_pause(in_transaction: Any) -> None:
    async def work(tx: Transaction) -> None:
        bad, failing = Reader("bad"), Failing(tx)
        for version in (OLD, OLD, NEW, NEW):
            assert await bad.read(tx, failing, version) is None
        assert len(failing.tried) == 2
        assert await bad.read(tx, lambda: tx.find_value(Statement("select 42")), OLD) == 42
        assert not bad.failing
        assert await bad.read(tx, failing, NEW) is None
        assert len(failing.tried) == 3

    in_transaction(work)


def test_a_lost_connection_fails_all_parts(in_transaction: Any) -> None:
    async def work(tx: Transaction) -> None:
        with pytest.raises(psycopg.OperationalError):
            await Reader("bad").read(
                tx, lambda: tx.find_value(Statement("select pg_terminate_backend(pg_backend_pid())")), OLD
            )

    with pytest.raises(psycopg.OperationalError):
        in_transaction(work)
