"""`db upgrade` beside a service in use: nobody waits for a change that waits for its lock."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from support.cluster import Cluster
from support.other_releases import Release, next_release
from support.waiting import waiting_for_a_lock
from tradecounter.db import migrate
from tradecounter.db.migrate import upgrade
from tradecounter.db.pool import Database
from tradecounter.db.schema_state import newest_revision, schema_state
from tradecounter.db.statement import Statement
from tradecounter.db.transaction import reading
from tradecounter.kit.errors import OperatorError

CHANGE = "alter table orders add column colour text"


@pytest.fixture
def url(postgres: Cluster) -> Iterator[str]:
    with postgres.database() as found:
        yield found


@pytest.fixture
def newer(tmp_path: Path) -> Release:
    """The next release, whose migration changes `orders`."""
    release = next_release(tmp_path / "newer")
    release.add_migration(CHANGE)
    return release


@pytest.mark.sweep
def test_a_migration_retries_until_its_table_is_unlocked(url: str, newer: Release) -> None:
    with psycopg.connect(url) as reader, ThreadPoolExecutor(1) as threads:
        reader.execute("select from orders")  # a backup, say
        upgrading = threads.submit(newer.run, "db", "upgrade", url=url)
        waiting_for_a_lock(url)
        with psycopg.connect(url, options="-c lock_timeout=2500ms") as request:
            for _ in range(3):  # each is queued behind the change for a moment at most
                request.execute("select from orders")
                request.rollback()
        assert schema_state(url).revision == newest_revision()
        reader.rollback()
        assert "trying again in 1 s (1 of 30)" in upgrading.result(timeout=60)
    assert schema_state(url).revision == newer.revision


def test_a_request_waits_longer_for_a_lock_than_a_change_of_its_table_does(url: str) -> None:
    async def bound() -> str:
        async with Database(url, connections=1, for_requests=True) as database, reading(database) as tx:
            found: str = await tx.find_value(Statement("show lock_timeout"))
            return found

    assert asyncio.run(bound()) == "2500ms"
    assert migrate._LOCK_TIMEOUT == "100ms"  # noqa: SLF001


@pytest.mark.sweep
def test_a_migration_of_a_table_that_stays_locked_changes_nothing(url: str, newer: Release) -> None:
    newer.edit("db/migrate.py", "_ATTEMPTS = 30", "_ATTEMPTS = 2")  # instead of some four minutes
    with psycopg.connect(url) as reader:
        reader.execute("select from orders")
        assert "was not changed" in newer.run("db", "upgrade", url=url, status=1)
    assert schema_state(url).revision == newest_revision()


def test_a_schema_from_before_the_first_release_is_named(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("update alembic_version set version_num = '0033'")
    with pytest.raises(OperatorError, match="revision 0033, of a version before the first release"):
        upgrade(url)
