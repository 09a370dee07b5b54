"""`make failover`: two hundred faults of machines, links and programs under load; then the history is checked.

Three machines with etcd, Patroni and PostgreSQL; two with HAProxy and the program; one with HAProxy before these. Each
machine is a network namespace.
"""

import argparse
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from rigs.failover.cluster import Cluster, wait_until
from rigs.failover.exporters import faults_in_exporters
from rigs.failover.faults import DATA, PROGRAMS, Fault, Site, inflict
from rigs.failover.history import faults_in_history
from rigs.failover.load import Rivals, TimedSender, few_units, poor_customer
from rigs.failover.namespaces import Machine, MachineError, machines
from rigs.failover.operator import Operator
from rigs.failover.programs import FRONT, addresses, mail_folder, programs_on
from rigs.failover.replicas import faults_in_replicas
from rigs.failover.report import Happened, Outcome, summary
from rigs.failover.services import supervised
from rigs.kill.checks import all_faults
from rigs.kill.mails import faults_in_mails
from rigs.kill.trial import SERVED, new_trial, waiting_work
from rigs.told import say, told
from support.mail import read_folder
from support.service import running_service
from support.waiting import wait_for
from tradecounter.db.migrate import upgrade
from tradecounter.kit.clock import SystemClock

MEMORY = Path("/dev/shm")
REPORT = Path(__file__).with_name("report.md")
LOGS = Path(".failover-logs")  # of the latest run
FORMATION_SECONDS = 120
RECOVERY_SECONDS = 120
CATCH_UP_SECONDS = 240
CLIENT_SECONDS = 5
REPEATED = 5  # each fifth key is sent once more after the last fault
FAULTS_FOR_A_ROUND = 100  # in which each kind comes alone once


class Wanted(argparse.Namespace):
    """What the command line asks for."""

    faults: int
    minutes: float
    seed: int


class Campaign:
    """The faults of a run, and what became of them."""

    def __init__(self, site: Site, sender: TimedSender, seed: int) -> None:
        self.site, self.sender, self.seed = site, sender, seed
        self.happened: list[Happened] = []

    def alone(self, faults: int) -> None:
        """Each kind of fault of machines with data once, each when the cluster has recovered from the last one."""
        chance = Random(self.seed + len(self.happened))  # noqa: S311 no secret
        for fault in DATA:
            if len(self.happened) < faults:
                self._once(fault, chance, alone=True)

    def together(self, faults: int, until: float) -> None:
        """Faults of machines with data one by one, and faults of programs at the same time, until there are so many."""
        lanes = [(kinds, Random(self.seed + number)) for number, kinds in enumerate((DATA, PROGRAMS, PROGRAMS), 1)]  # noqa: S311 no secret
        with ThreadPoolExecutor(len(lanes)) as injectors:
            injected = [injectors.submit(self._inject, kinds, chance, faults, until) for kinds, chance in lanes]
            try:
                for each in injected:
                    each.result()
            finally:
                self.site.ended.set()

    def _inject(self, kinds: Sequence[Fault], chance: Random, faults: int, until: float) -> None:
        while len(self.happened) < faults and time.monotonic() < until and not self.site.ended.is_set():
            self._once(chance.choices(kinds, [kind.weight for kind in kinds])[0], chance, alone=False)
            self.site.ended.wait(chance.uniform(0, 2))

    def _once(self, fault: Fault, chance: Random, *, alone: bool) -> None:
        began, ended = inflict(fault, self.site, chance)
        if alone:
            self._wait_for_writes()
            wait_until(self.site.cluster.healthy, RECOVERY_SECONDS, f"recovery from {fault.name}")
            ended = time.monotonic()
        self.happened.append(Happened(fault.name, began, ended, alone))
        say(f"{len(self.happened):4} {fault.name}: {ended - began:.1f} s")

    def _wait_for_writes(self) -> None:
        after = time.monotonic()
        wait_until(
            lambda: self.sender.writes and self.sender.writes[-1] > after, RECOVERY_SECONDS, "a write after a fault"
        )


def run(folder: Path, found: list[Machine], wanted: Wanted) -> list[str]:
    """Build everything, inflict faults under load and check the history; what was wrong."""
    cluster = Cluster(found[:3], folder)
    began = time.monotonic()
    with ExitStack() as stack:
        stack.callback(cluster.close)
        stack.enter_context(supervised(cluster.services))
        wait_until(cluster.healthy, FORMATION_SECONDS, "a primary with two replicas")
        cluster.create_database()
        upgrade(cluster.url)
        with running_service(cluster.url, now=SystemClock().now(), **SERVED) as service:
            trial = new_trial(service, few_units)
            poor = poor_customer(service, trial)
        started = programs_on(found[3:5], found[5], cluster, folder)
        stack.enter_context(supervised(started))
        public, backoffice = addresses(started, FRONT, "serve"), addresses(started, "backoffice")
        http = httpx2.Client(timeout=CLIENT_SECONDS)
        sender = stack.enter_context(TimedSender(public, backoffice, trial.token, http=http))
        wait_until(lambda: all(_is_up(url) for url in (*public, *backoffice)), FORMATION_SECONDS, "the programs")
        say(f"everything runs after {time.monotonic() - began:.0f} s")
        unknown = faults_in_exporters(found[:3], found[3:])
        campaign, rivals = Campaign(Site(cluster, started), sender, wanted.seed), Rivals(poor, trial, sender)
        operator = Operator(cluster)
        stack.enter_context(operator.watching())
        took = _under_load(campaign, rivals, wanted)
        faults = {**unknown, **_faults_in_recovery(cluster), **_faults_in_number(campaign, wanted)}
        wait_for(lambda: waiting_work(cluster.url) == 0, seconds=CATCH_UP_SECONDS)
        sender.repeat(REPEATED)
        wait_for(lambda: waiting_work(cluster.url) == 0, seconds=CATCH_UP_SECONDS)
        mails = [([str(mail["To"])], mail) for mail in read_folder(mail_folder(started))]
        with running_service(cluster.url) as service:
            faults |= {**all_faults(service, sender, trial), **faults_in_history(service, poor.id)}
        faults |= faults_in_mails(mails, trial.ledger)
        faults |= faults_in_replicas(cluster)
        outcome = Outcome(
            wanted.seed, campaign.happened, took, trial.ledger.operations, rivals.rejected, operator.cloned
        )
        text = summary(outcome, sender, list(faults))
        REPORT.write_text(text)
        say(text)
    return [f"{what}: {details}" for what, details in faults.items()]


def _under_load(campaign: Campaign, rivals: Rivals, wanted: Wanted) -> float:
    """Inflict the faults while clients send orders; how many seconds it took."""
    trial, sender, done = rivals.trial, campaign.sender, threading.Event()
    with ThreadPoolExecutor(2) as clients:
        load = [
            clients.submit(trial.run_until, done.is_set, sender, wanted.seed),
            clients.submit(rivals.run_until, done, wanted.seed),
        ]
        start = time.monotonic()
        try:
            for _ in range(max(1, wanted.faults // FAULTS_FOR_A_ROUND)):
                campaign.alone(wanted.faults)
            campaign.together(wanted.faults, start + wanted.minutes * 60)
            took = time.monotonic() - start
        except BaseException:
            sender.http.close()  # ends the clients, who would go on trying
            raise
        finally:
            sender.calm_since = time.monotonic()
            done.set()
    for each in load:
        if (error := each.exception()) is not None:
            sender.faults.append(f"a client ended: {error!r}")
    return took


def _faults_in_number(campaign: Campaign, wanted: Wanted) -> dict[str, Any]:
    happened = len(campaign.happened)
    return {"campaign: too few faults": happened} if happened < wanted.faults else {}


def _faults_in_recovery(cluster: Cluster) -> dict[str, Any]:
    """A machine that does not come back is a fault; the history is checked all the same."""
    try:
        wait_until(cluster.healthy, RECOVERY_SECONDS, "recovery at the end")
    except TimeoutError as error:
        return {"cluster: not whole": str(error)}
    return {}


def _is_up(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/ready", timeout=2).status_code == 200
    except httpx2.HTTPError:
        return False


def _keep_logs(folder: Path) -> None:
    LOGS.mkdir(exist_ok=True)
    for log in folder.glob("*.log"):
        shutil.copy(log, LOGS)


def _stop(number: int, _frame: object) -> None:
    """End the run, which removes the machines; further signals do not interrupt that."""
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    say("stopping")
    sys.exit(128 + number)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make failover", description="e.g. make failover ARGS='--faults 50 --seed 7'")
    parser.add_argument("--faults", type=int, default=200, help="at least so many")
    parser.add_argument("--minutes", type=float, default=25, help="at most so long for the faults; fewer faults fail")
    parser.add_argument("--seed", type=int, default=1 + secrets.randbelow(1_000_000), help="of faults and orders")
    wanted = parser.parse_args(arguments, Wanted())
    warnings.simplefilter("ignore")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    say(f"{wanted.faults} faults, seed {wanted.seed}")
    try:
        with (
            tempfile.TemporaryDirectory(
                dir=MEMORY if MEMORY.is_dir() else None, prefix="tcfo-", ignore_cleanup_errors=True
            ) as place,
            machines(["db1", "db2", "db3", "app1", "app2", "front"]) as found,
        ):
            folder = Path(place)
            folder.chmod(0o755)
            try:
                faults = run(folder, found, wanted)
            finally:
                _keep_logs(folder)
    except MachineError as error:
        say(f"NOT RUN: {error}")
        return 1
    return told(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
