"""`db upgrade` beside a service in use: nobody waits for a change that waits for its lock."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import psycopg
import pytest

from support.cluster import Cluster
from support.waiting import waiting_for_a_lock
from tradecounter.db import migrate
from tradecounter.db.migrate import TablesInUseError, upgrade
from tradecounter.db.pool import Database
from tradecounter.db.schema_state import newest_revision, schema_state
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import reading

BEFORE = "0003"  # the next one changes `orders`


@pytest.fixture
def url(postgres: Cluster) -> Iterator[str]:
    with postgres.empty_database() as found:
        upgrade(found, revision=BEFORE)
        yield found


def test_a_migration_retries_until_its_table_is_unlocked(url: str) -> None:
    reports: Queue[str] = Queue()
    with ThreadPoolExecutor(1) as threads, psycopg.connect(url) as reader:
        reader.execute("select from orders")  # a backup, say
        upgrading = threads.submit(upgrade, url, report=reports.put)
        waiting_for_a_lock(url)
        with psycopg.connect(url, options="-c lock_timeout=2500ms") as request:
            for _ in range(3):  # each is queued behind the change for a second at most
                request.execute("select from orders")
                request.rollback()
        assert "trying again in 1 s (1 of 30)" in reports.get(timeout=30)
        assert schema_state(url).revision == BEFORE
        reader.rollback()
        assert upgrading.result(timeout=60).revision == newest_revision()


def test_a_request_waits_longer_for_a_lock_than_a_change_of_its_table_does(url: str) -> None:
    async def bound() -> str:
        async with Database(url, connections=1, for_requests=True) as database, reading(database) as tx:
            found: str = await tx.fetch_value(Statement("show lock_timeout"))
            return found

    assert asyncio.run(bound()) == "2500ms"
    assert migrate._LOCK_TIMEOUT == "1s"  # noqa: SLF001


def test_a_migration_of_a_table_that_stays_locked_changes_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "_ATTEMPTS", 2)
    monkeypatch.setattr(migrate, "_LONGEST_PAUSE_SECONDS", 0)
    with psycopg.connect(url) as reader:
        reader.execute("select from orders")
        with pytest.raises(TablesInUseError, match="was not changed"):
            upgrade(url)
    assert schema_state(url).revision == BEFORE
