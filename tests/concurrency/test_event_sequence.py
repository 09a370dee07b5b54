"""Sequences are contiguous and keep each subject's order, whatever commits first and whichever process dies."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from support.command_line import SECRET, started
from support.events import assert_contiguous, number_events
from support.orders import rows
from support.service import Service
from tradecounter.events.queries import BATCH

pytestmark = pytest.mark.long

SUBJECTS = [f"subject/{number}" for number in range(5)]
WRITERS = 8
EACH = 30

_INSERT = (
    "insert into unnumbered_event (id, type, occurred_at, subject, for_customer, data)"
    " select 'evt_' || gen_random_uuid(), 'order.created', now(), %(subject)s, false,"
    " jsonb_build_object('count', count) from counted where subject = %(subject)s"
)


@pytest.fixture(scope="module")
def counted(service: Service) -> Iterator[Service]:
    """A database in which every subject has a row to lock, with a count that its events carry."""
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute("create table counted (subject text primary key, count integer not null default 0)")
        database.execute("insert into counted (subject) select unnest(%s::text[])", [SUBJECTS])
    yield service
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute("drop table counted")


@contextmanager
def written(service: Service, subject: str) -> Iterator[None]:
    """Write an event under the lock of its subject, and commit when the block ends."""
    with psycopg.connect(service.database_url) as database:
        database.execute("update counted set count = count + 1 where subject = %s", [subject])
        database.execute(_INSERT, {"subject": subject})
        yield


def write(service: Service, seed: int) -> None:
    drawn = random.Random(seed)  # noqa: S311 not for secrets
    for _ in range(EACH):
        with written(service, drawn.choice(SUBJECTS)):
            time.sleep(drawn.random() / 200)


def assert_in_order(service: Service) -> None:
    for subject in SUBJECTS:
        found = rows(
            service, "select (data->>'count')::integer from event where subject = %s order by sequence", subject
        )
        counts = [count for (count,) in found]
        assert counts == list(range(1, len(counts) + 1))


def test_subjects_stay_in_order_while_many_write_and_workers_are_killed(counted: Service, tmp_path: Path) -> None:
    environment = {"TRADECOUNTER_DATABASE_URL": counted.database_url, "TRADECOUNTER_SECRET_KEY": SECRET}
    with (
        ThreadPoolExecutor(WRITERS) as writers,
        started("worker", "--json", folder=tmp_path, environment=environment) as first,
        started("worker", "--json", folder=tmp_path, environment=environment),
    ):
        writing = [writers.submit(write, counted, seed) for seed in range(WRITERS)]
        time.sleep(0.3)
        first.process.kill()
        with psycopg.connect(counted.database_url, autocommit=True) as database:
            database.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where query like '%%delete from unnumbered_event%%' and pid <> pg_backend_pid()"
            )
        for writer in writing:
            writer.result()
    number_events(counted)
    assert rows(counted, "select count(*) from event where subject like 'subject/%%'") == [(WRITERS * EACH,)]
    assert_contiguous(counted)
    assert_in_order(counted)


def test_a_long_transaction_delays_only_its_own_event(counted: Service) -> None:
    before = number_events(counted)
    with written(counted, SUBJECTS[0]):
        with written(counted, SUBJECTS[1]):
            pass
        assert number_events(counted) == 1
    assert number_events(counted) == 1
    assert before == 0
    assert_contiguous(counted)
    assert_in_order(counted)


def test_more_events_than_one_batch_are_numbered_in_the_order_of_their_positions(counted: Service) -> None:
    count = 2 * BATCH + 1
    number_events(counted)
    [(last,)] = rows(counted, "select last from event_sequence")
    with psycopg.connect(counted.database_url) as database:
        database.execute(
            "insert into unnumbered_event (id, type, occurred_at, subject, for_customer, data)"
            " select 'evt_' || gen_random_uuid(), 'order.created', now(), 'many', false, to_jsonb(n)"
            " from generate_series(1, %s) as n",
            [count],
        )
    assert number_events(counted) == count
    numbered = rows(counted, "select sequence, data::integer from event where subject = 'many' order by sequence")
    assert numbered == [(last + n, n) for n in range(1, count + 1)]
    assert_contiguous(counted)
