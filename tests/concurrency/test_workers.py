"""Workers that are killed, several at once, and without their database: no mail is lost."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from support.cluster import Cluster
from support.command_line import SECRET, Running, started
from support.embedded_user import wait_for
from support.mail import Inbox, jobs, mail_server, work_off_over
from support.orders import buy
from support.outage import database_away
from support.service import Service

CONTACT: dict[str, Any] = {"order_notifications": {"email_address": "buyer@harbour.example"}}

Start = Callable[[Inbox], Running]


@pytest.fixture
def start(database_url: str, tmp_path: Path) -> Iterator[Start]:
    """Starts worker processes that hand mails to a server."""
    with ExitStack() as stack:

        def started_worker(inbox: Inbox) -> Running:
            environment = {
                "TRADECOUNTER_DATABASE_URL": database_url,
                "TRADECOUNTER_SECRET_KEY": SECRET,
                "TRADECOUNTER_SMTP_URL": inbox.url,
            }
            return stack.enter_context(started("worker", "--json", folder=tmp_path, environment=environment))

        yield started_worker


def let_the_dead_go_silent(service: Service) -> None:
    """Make every worker look as if it had not been heard of for a minute."""
    with psycopg.connect(service.database_url, autocommit=True) as database:
        database.execute("update procrastinate_workers set last_heartbeat = now() - interval '1 minute'")


def test_what_a_killed_worker_was_sending_is_sent_by_the_next(shop: Service, start: Start) -> None:
    with mail_server() as inbox:
        inbox.seconds = 30
        first = start(inbox)
        buy(shop.customer(), **CONTACT)
        wait_for(lambda: inbox.started == 1)
        first.process.kill()
        first.process.wait(timeout=30)
        assert jobs(shop) == [("mail_order_confirmed", "doing", 0)]
        inbox.seconds = 0
        work_off_over(shop, inbox.url)
        assert jobs(shop) == [("mail_order_confirmed", "doing", 0)]  # it might be alive still
        let_the_dead_go_silent(shop)
        second = start(inbox)
        wait_for(lambda: not jobs(shop))
        assert second.stop(signal.SIGTERM) == (0, "")
    assert 1 <= len(inbox.mails) <= 2
    assert len({mail["Message-ID"] for mail in inbox.mails}) == 1
    assert any("job of a worker that is gone put back" in line for line in second.logs)


def test_a_worker_that_is_told_to_stop_finishes_what_it_is_sending(shop: Service, start: Start) -> None:
    with mail_server() as inbox:
        inbox.seconds = 0.5
        worker = start(inbox)
        buy(shop.customer(), **CONTACT)
        wait_for(lambda: inbox.started == 1)
        assert worker.stop(signal.SIGTERM) == (0, "")
    assert len(inbox.mails) == 1
    assert jobs(shop) == []


def test_several_workers_send_each_mail_once(shop: Service, start: Start) -> None:
    with mail_server() as inbox:
        workers = [start(inbox) for _ in range(2)]
        placed = [buy(shop.customer(), [("CABLE", 1)], **CONTACT)["order_reference"] for _ in range(10)]
        wait_for(lambda: not jobs(shop))
        assert [worker.stop(signal.SIGTERM) for worker in workers] == [(0, "")] * 2
    assert sorted(mail["Subject"].split()[1] for mail in inbox.mails) == sorted(placed)


def test_a_worker_that_loses_its_database_while_it_sends_finds_it_back_and_its_job(
    shop: Service, start: Start, postgres: Cluster
) -> None:
    with mail_server() as inbox:
        inbox.seconds = 0.5
        worker = start(inbox)
        buy(shop.customer(), **CONTACT)
        wait_for(lambda: inbox.started == 1)
        with database_away(postgres, shop.database_url):
            wait_for(lambda: any("the worker tries again" in line for line in worker.logs))
        assert len(inbox.mails) == 1  # which could not be written down
        let_the_dead_go_silent(shop)
        wait_for(lambda: not jobs(shop))
        assert worker.stop(signal.SIGTERM) == (0, "")
    assert len({mail["Message-ID"] for mail in inbox.mails}) == 1
