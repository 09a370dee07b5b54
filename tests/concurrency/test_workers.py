"""Killed workers, concurrent workers and workers without a database lose no mail; how jobs are queued."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from support.cluster import Cluster
from support.command_line import SECRET, started
from support.mail import drain_to, forget_jobs, jobs, mail_server, running_worker
from support.orders import buy
from support.outage import database_away
from support.service import Service
from support.waiting import wait_for

pytestmark = pytest.mark.long

_BLOCKED: LiteralString = (  # the job, and not the deliverer of webhooks, which looks orders up too
    "from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    " and starts_with(ltrim(query, E' \\n'), 'update orders')"
)
CONTACT: dict[str, Any] = {"order_notifications": {"email_address": "buyer@harbour.example"}}


def expire_heartbeats(service: Service) -> None:
    """Set every worker's last heartbeat to a minute ago."""
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute("update procrastinate_workers set last_heartbeat = now() - interval '1 minute'")


def test_a_killed_workers_mail_is_sent_by_the_next_worker(shop: Service, tmp_path: Path) -> None:
    with mail_server() as inbox:
        inbox.seconds = 30
        environment = {
            "TRADECOUNTER_DATABASE_URL": shop.database_url,
            "TRADECOUNTER_SECRET_KEY": SECRET,
            "TRADECOUNTER_SMTP_URL": inbox.url,
        }
        buy(shop.customer(), **CONTACT)
        with started("worker", "--json", folder=tmp_path, environment=environment) as worker:
            wait_for(lambda: inbox.started == 1)
            worker.process.kill()
        inbox.seconds = 0
        drain_to(shop, inbox.url)
        assert jobs(shop) == [("mail_order_confirmed", "doing", 0)]  # the worker may still be alive
        expire_heartbeats(shop)
        drain_to(shop, inbox.url)
        assert jobs(shop) == []
    assert 1 <= len(inbox.mails) <= 2
    assert len({mail["Message-ID"] for mail in inbox.mails}) == 1


@contextmanager
def blocked_job(shop: Service) -> Iterator[tuple[psycopg.Connection[Any], int]]:
    """A scheduled job that waits for a lock; a connection to its database, and its id."""
    with psycopg.connect(shop.database_url, autocommit=True) as database, mail_server() as inbox:
        row = database.execute(
            "insert into procrastinate_jobs (queue_name, task_name, args)"
            " values ('default', 'expire_orders', '{\"timestamp\": 0}') returning id"
        ).fetchone()
        assert row is not None
        with psycopg.connect(shop.database_url) as other, running_worker(shop, inbox.url):
            other.execute("lock table orders in access exclusive mode")
            wait_for(lambda: database.execute(f"select pid {_BLOCKED}").fetchall())
            yield database, row[0]
            other.rollback()


def test_a_scheduled_job_that_loses_the_database_is_not_given_up(shop: Service) -> None:
    with blocked_job(shop) as (database, job):
        database.execute(f"select pg_terminate_backend(pid) {_BLOCKED}")
        wait_for(lambda: not database.execute("select from procrastinate_jobs where id = %s", [job]).fetchall())


def test_a_scheduled_job_that_the_database_rejects_is_given_up(shop: Service) -> None:
    with blocked_job(shop) as (database, job):
        database.execute(f"select pg_cancel_backend(pid) {_BLOCKED}")
        ended = "delete from procrastinate_jobs where id = %s and status = 'failed'"
        wait_for(lambda: database.execute(ended, [job]).rowcount)


def test_a_running_worker_requeues_the_jobs_of_a_dead_one(shop: Service) -> None:
    buy(shop.customer(), **CONTACT)
    with psycopg.connect(shop.database_url, autocommit=True) as database:
        database.execute(
            "update procrastinate_jobs set status = 'doing', worker_id = (select worker_id from"
            " procrastinate_register_worker_v1()) where task_name = 'mail_order_confirmed'"
        )
    with mail_server() as inbox, running_worker(shop, inbox.url):
        expire_heartbeats(shop)
        wait_for(lambda: not jobs(shop))
    assert len(inbox.mails) == 1


def test_a_worker_goes_on_requeuing_after_an_error(shop: Service, capsys: pytest.CaptureFixture[str]) -> None:
    with (
        psycopg.connect(shop.database_url, autocommit=True) as database,
        mail_server() as inbox,
        running_worker(shop, inbox.url),
    ):
        database.execute("alter table secret_key rename to lost_key")
        try:
            wait_for(lambda: "jobs of dead workers are requeued later" in capsys.readouterr().out, 20)
        finally:
            database.execute("alter table lost_key rename to secret_key")
        job = database.execute(
            "insert into procrastinate_jobs (queue_name, task_name, args, status, worker_id)"
            " select 'default', 'expire_orders', '{\"timestamp\": 0}', 'doing', worker_id"
            " from procrastinate_register_worker_v1() returning id"
        ).fetchone()
        assert job is not None
        expire_heartbeats(shop)
        wait_for(lambda: not database.execute("select from procrastinate_jobs where id = %s", job).fetchall())


def test_a_stopping_worker_finishes_its_current_mail(shop: Service) -> None:
    with mail_server() as inbox:
        inbox.seconds = 0.5
        with running_worker(shop, inbox.url):
            buy(shop.customer(), **CONTACT)
            wait_for(lambda: inbox.started == 1)
            assert inbox.mails == []
    assert len(inbox.mails) == 1
    assert jobs(shop) == []


def test_several_workers_send_each_mail_once(shop: Service) -> None:
    with mail_server() as inbox, running_worker(shop, inbox.url), running_worker(shop, inbox.url):
        placed = [buy(shop.customer(), [("CABLE", 1)], **CONTACT)["order_reference"] for _ in range(10)]
        wait_for(lambda: not jobs(shop))
    assert sorted(mail["Subject"].split()[1] for mail in inbox.mails) == sorted(placed)


def test_queuing_a_mail_sends_no_notification(shop: Service) -> None:
    """Notifications would serialise all commits of the database."""
    with psycopg.connect(shop.database_url, autocommit=True) as listener:
        for channel in ("procrastinate_any_queue_v1", "procrastinate_queue_v1#default", "the_end"):
            listener.execute(SQL("listen {}").format(Identifier(channel)))
        buy(shop.customer(), **CONTACT)
        assert jobs(shop) == [("mail_order_confirmed", "todo", 0)]
        listener.execute("notify the_end")
        notified = [notification.channel for notification in listener.notifies(timeout=30, stop_after=1)]
    assert notified == ["the_end"]
    forget_jobs(shop)


def test_a_worker_that_loses_its_database_while_sending_reconnects(
    shop: Service, postgres: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with mail_server() as inbox:
        inbox.seconds = 0.3
        with running_worker(shop, inbox.url):
            buy(shop.customer(), **CONTACT)
            wait_for(lambda: inbox.started == 1)
            with database_away(postgres, shop.database_url):
                wait_for(lambda: "the worker tries again" in capsys.readouterr().out)
            shop.reconnect()
            assert len(inbox.mails) == 1  # its success could not be recorded
            expire_heartbeats(shop)
            wait_for(lambda: not jobs(shop))
    assert len({mail["Message-ID"] for mail in inbox.mails}) == 1
