"""The checks of `make kill` find nothing after an undisturbed trial, and find each kind of damage."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from urllib.parse import urlsplit

import psycopg
import pytest

from rigs.kill.checks import Faults, all_faults
from rigs.kill.damage import ALONE, TOGETHER
from rigs.kill.event_checks import Event, all_events, faults_in_deliveries
from rigs.kill.trial import Trial, new_trial, served, waiting_work
from support.cluster import Cluster
from support.mail import mail_server, running_worker
from support.service import Service
from support.waiting import wait_for

pytestmark = pytest.mark.long

OPERATIONS = 40


@dataclass(frozen=True)
class Finished:
    """A finished trial and the database that it left."""

    cluster: Cluster
    url: str
    trial: Trial
    log: list[Event]

    @contextmanager
    def copied(self) -> Iterator[str]:
        """A copy of the database, to be damaged; its name."""
        original = urlsplit(self.url).path.removeprefix("/")
        name = f"{original}_copy"
        self.cluster.execute("create database {} template {} strategy file_copy", name, original)
        try:
            yield name
        finally:
            self.cluster.execute("drop database {} with (force)", name)


def all_done(service: Service) -> bool:
    """Let a little time pass, in which rejected deliveries come due; whether the worker has nothing left to do."""
    service.clock.advance(timedelta(seconds=0.2))
    return waiting_work(service.database_url) == 0


@pytest.fixture(scope="module")
def finished(postgres: Cluster) -> Iterator[Finished]:
    with ExitStack() as stack:
        url = stack.enter_context(postgres.database())
        with served(url) as (service, sender):
            trial = new_trial(service)
            sender.token = trial.token
            with trial.receiving(sender), mail_server() as inbox, running_worker(service, inbox.url):
                trial.run(sender, OPERATIONS, seed=1)
                wait_for(lambda: all_done(service), seconds=60)
            log = all_events(sender, trial)
        yield Finished(postgres, url, trial, log)


def faults_after(finished: Finished, *damage: str) -> Faults:
    """What the checks find after damage to a copy of the database."""
    with finished.copied() as name:
        with psycopg.connect(finished.cluster.administrator_url_of(name), autocommit=True) as database:
            database.execute("set session_replication_role = replica")  # no triggers, no foreign keys
            for statement in damage:
                assert database.execute(statement.encode()).rowcount > 0, statement
        with served(finished.cluster.url_of(name), finished.trial) as (service, sender):
            return all_faults(service, sender, finished.trial)


def test_nothing_is_wrong_after_an_undisturbed_trial(finished: Finished) -> None:
    assert finished.trial.ledger.operations >= OPERATIONS
    assert faults_after(finished) == {}


@pytest.mark.parametrize("name", ALONE)
def test_damage_to_the_database_is_found(finished: Finished, name: str) -> None:
    damage, fault = ALONE[name]
    assert fault in faults_after(finished, damage)


def test_several_kinds_of_damage_are_found_together(finished: Finished) -> None:
    first, last = (pick(finished.trial.ledger.orders, key=lambda order: order.id) for pick in (min, max))
    customer = min(finished.trial.ledger.entries)
    names = {"first": first.id, "last": last.id, "reference": last.reference, "customer": customer}
    expected = {fault.format(**names) for _, fault in TOGETHER.values()}
    assert expected - faults_after(finished, *(damage for damage, _ in TOGETHER.values())).keys() == set()


@pytest.mark.parametrize("which", [0, 1], ids=["the reseller", "a customer"])
def test_wrong_deliveries_are_found(finished: Finished, which: int) -> None:
    endpoints = [replace(e, attempts=e.attempts[:], accepted=set(e.accepted)) for e in finished.trial.endpoints]
    trial, endpoint = replace(finished.trial, endpoints=endpoints), endpoints[which]
    name, attempts = f"webhook of {endpoint.customer_id or 'the reseller'}", endpoint.attempts
    assert faults_in_deliveries(trial, finished.log) == {}
    sooner = next(n for n, event in enumerate(attempts) if event["type"] == "order.dispatched")
    later = next(n for n, event in enumerate(attempts) if n > sooner and is_next(event, attempts[sooner]))
    attempts[sooner], attempts[later] = attempts[later], attempts[sooner]
    assert faults_in_deliveries(trial, finished.log).keys() == {f"{name}: out of order"}
    attempts[later] = {**attempts[later], "type": "order.amended"}
    endpoint.accepted.discard(attempts[sooner]["id"])
    endpoint.faults = ["a wrong signature"]
    assert faults_in_deliveries(trial, finished.log).keys() == {
        f"{name}: {what}"
        for what in ("out of order", "skipped", "not in the log, or different", "not as the standard says")
    }


def is_next(event: Event, sooner: Event) -> bool:
    """Whether an event is of the same subject as another one, and happened later."""
    return bool(event["subject"] == sooner["subject"] and event["sequence"] > sooner["sequence"])
