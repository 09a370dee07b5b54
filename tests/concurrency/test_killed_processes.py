"""Processes of the API are killed at any moment: every order is there exactly once, and its mail is not lost.

`make kill` does it with a thousand orders, and kills the worker too.
"""

from pathlib import Path

from support.kills import faults_in_mails, faults_in_orders, place_under_fire, running_processes
from support.mail import mail_server, work_off_over
from support.service import Service
from support.shop import stock_shop

ORDERS = 80


def test_orders_survive_killed_processes_exactly_once_with_their_mail(
    service: Service, database_url: str, tmp_path: Path
) -> None:
    stock_shop(service)
    buyer = service.customer(credit="100000000.00")
    with running_processes(["serve", "serve"], database_url, tmp_path) as processes:
        trial = place_under_fire([f"key-{n}" for n in range(ORDERS)], buyer.key, processes, seed=1, pause=2)
    assert trial.kills >= 2
    assert faults_in_orders(service, trial) == {}
    with mail_server() as inbox:
        work_off_over(service, inbox.url)
        assert len(inbox.mails) == ORDERS
    assert faults_in_mails(inbox, trial) == {}
