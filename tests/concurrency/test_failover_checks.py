"""The checks of `make failover` beyond those of `make kill`: the event log by positions, jobs, and the report."""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, LiteralString

import psycopg
import pytest

from rigs.failover import shipped
from rigs.failover.history import faults_in_history
from rigs.failover.load import LIMIT, SKU, UNITS, Rivals, TimedSender, few_units, poor_customer
from rigs.failover.namespaces import Machine
from rigs.failover.replicas import differing
from rigs.failover.report import Happened, longest_silence, table
from rigs.kill.checks import all_faults
from rigs.kill.ledger import Ledger
from rigs.kill.mails import faults_in_mails
from rigs.kill.trial import Trial, new_trial, served
from support.cluster import Cluster
from support.events import number_events
from support.orders import rows
from support.service import Service

pytestmark = pytest.mark.long


@dataclass(frozen=True)
class Competed:
    """A trial in which only rivals took part."""

    service: Service
    sender: TimedSender
    trial: Trial
    rivals: Rivals

    @property
    def faults(self) -> set[str]:
        return set(faults_in_history(self.service, self.rivals.buyer.id))


@pytest.fixture(scope="module")
def competed(postgres: Cluster) -> Iterator[Competed]:
    with postgres.database() as url, served(url) as (service, plain):
        trial = new_trial(service, few_units)
        with TimedSender(plain.public, plain.backoffice, trial.token) as sender:
            rivals, done = Rivals(poor_customer(service, trial), trial, sender), threading.Event()
            competing = threading.Thread(target=rivals.run_until, args=(done, 1))
            competing.start()
            time.sleep(6)
            done.set()
            competing.join()
            number_events(service)
            yield Competed(service, sender, trial, rivals)


def damage(competed: Competed, statement: LiteralString, *values: Any) -> None:
    with psycopg.connect(competed.service.database_url, autocommit=True) as database:
        assert database.execute(statement, values).rowcount == 1


def test_rivals_are_rejected_and_leave_a_clean_history(competed: Competed) -> None:
    assert competed.rivals.rejected["402"] > 0
    assert competed.trial.ledger.operations > 0
    assert len(competed.sender.writes) == competed.trial.ledger.operations
    assert competed.trial.ledger.marks["payment"].total() > 0
    assert competed.faults == set()
    faults = all_faults(competed.service, competed.sender, competed.trial)
    assert {name for name in faults if not name.startswith("tables: missing")} == set()


def test_a_key_with_another_response_than_before_is_found(competed: Competed) -> None:
    competed.sender.repeat(every=1)
    assert competed.sender.faults == []
    damage(
        competed,
        "update caller_idempotency_key set body = '{}' where ctid = (select min(ctid) from caller_idempotency_key)",
    )
    competed.sender.repeat(every=1)
    [fault] = competed.sender.faults
    assert "got different responses" in fault
    competed.sender.faults.clear()


def test_a_mail_that_no_job_sent_is_found(competed: Competed) -> None:
    order = replace(competed.trial.ledger.orders[0], recipient="someone@buyer.example")
    assert list(faults_in_mails([], Ledger(orders=[order]))) == [f"mails about {order.reference}"]


def test_an_exceeded_credit_is_found_at_its_position(competed: Competed) -> None:
    raised = "update orders set cost_net = cost_net + %s where id = (select max(id) from orders)"
    damage(competed, raised, LIMIT)
    assert competed.faults == {"credit: exceeded at positions of the log"}
    damage(competed, raised, -LIMIT)
    assert competed.faults == set()


def test_a_unit_more_than_had_come_by_then_is_found(competed: Competed) -> None:
    data = json.dumps({"items": [{"sku": SKU, "quantity": UNITS + 1}]})
    damage(
        competed,
        "insert into event select last + 1, 'evt_planted', 'order.dispatched', now(), 'order/1', null, false, %s::jsonb"
        " from event_sequence",
        data,
    )
    assert competed.faults == {"stock: more units left than had come at positions of the log"}
    damage(competed, "delete from event where id = 'evt_planted'")


def test_a_job_that_failed_is_found(competed: Competed) -> None:
    damage(
        competed,
        "insert into procrastinate_jobs (queue_name, task_name, args, status, priority, attempts)"
        " values ('default', 'planted', '{}', 'failed', 0, 1)",
    )
    assert competed.faults == {"jobs: not done"}
    damage(competed, "delete from procrastinate_jobs where task_name = 'planted'")
    assert rows(competed.service, "select id from procrastinate_jobs where status = 'failed'") == []


def test_the_longest_silence_lies_between_the_fault_and_its_recovery() -> None:
    writes = [1.0, 2.0, 3.0, 9.0, 10.0, 30.0]
    assert longest_silence(writes, 3.5, 9.5) == 5.5
    assert longest_silence(writes, 1.5, 3.1) == 1.0
    assert longest_silence(writes, 9.5, 40.0) == 20.0
    assert longest_silence([], 1.0, 3.0) == 2.0


def test_the_report_measures_only_faults_that_came_alone() -> None:
    happened = [Happened("cut", 1.5, 4.5, alone=True), Happened("cut", 5.0, 8.0, alone=False)]
    assert table(happened, [1.0, 4.0, 3.0, 9.0]).endswith("| cut | 2 | 1 | 1.5 | 1.5 | - |")


def test_the_report_says_whether_a_killed_primary_met_the_goal() -> None:
    happened = [Happened("primary: PostgreSQL killed", 1.0, 12.0, alone=True)]
    assert table(happened, [0.5, 11.0]).endswith("| 1 | 10.0 | 10.0 | 10, met |")
    assert table(happened, [0.5, 11.5]).endswith("| 1 | 10.5 | 10.5 | 10, missed |")


def test_a_replica_with_other_rows_is_found(postgres: Cluster) -> None:
    with postgres.database() as primary, postgres.database() as replica:
        for url, last in ((primary, 2), (replica, 3)):
            with psycopg.connect(url, autocommit=True) as database:
                database.execute("create table kept as select 1 as id")
                database.execute("create table lost as select unnest(array[1, %s]) as id", [last])
        tables = [("public", "kept"), ("public", "lost")]
        assert differing(primary, replica, tables, seconds=0) == [("public", "lost")]
        assert differing(primary, primary, tables, seconds=0) == []


def test_each_machine_gets_the_shipped_settings_with_its_own_name_and_addresses() -> None:
    machines = [Machine(f"db{number}", f"10.0.0.{number}") for number in (1, 2, 3)]
    patroni = shipped.environment("patroni.env", machines, machines[1])
    assert (patroni["PATRONI_NAME"], patroni["PATRONI_POSTGRESQL_CONNECT_ADDRESS"]) == ("db2", "10.0.0.2:5432")
    etcd = shipped.environment("etcd.env", machines, machines[2])
    assert etcd["ETCD_ADVERTISE_CLIENT_URLS"] == "http://10.0.0.3:2379"
    members = "db1=http://10.0.0.1:2380,db2=http://10.0.0.2:2380,db3=http://10.0.0.3:2380"
    assert etcd["ETCD_INITIAL_CLUSTER"] == members
    assert "[10.0.0.1:2379, 10.0.0.2:2379, 10.0.0.3:2379]" in shipped.text("patroni.yaml", machines)
    with pytest.raises(AssertionError, match="machine that does not exist"):
        shipped.text("primary.cfg", machines[:2])
