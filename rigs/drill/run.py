"""`make drill`: a shop is backed up under load, spoilt by an import, destroyed, and restored to the second before it.

One public process runs all the time; the others stop, as the operators' guide says. Afterwards every order from before
the import is there with its number, and none from after it. No number is given out twice, and readers of events learn
of the restore. It fails unless `doctor` and the checks of `make kill` find nothing.
"""

import argparse
import json
import secrets
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from copy import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx2

from rigs.drill.lost import BAD_PRICE, Lost, bad_prices, place, trade_at_bad_prices
from rigs.kill.checks import all_faults
from rigs.kill.kills import Process, running_processes
from rigs.kill.receivers import Endpoint
from rigs.kill.sender import Sender
from rigs.kill.trial import SETTINGS, Trial, new_trial, served, waiting_work
from rigs.told import say, told
from support.backups import Backups, backed_up_server
from support.command_line import SECRET, without_settings
from support.mail import Inbox, mail_server
from support.processes import adopt_orphans
from support.waiting import wait_for
from tradecounter.db.migrate import upgrade

MEMORY = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
PAUSE = 60  # seconds; nothing here kills processes
CATCH_UP_SECONDS = 120
MAIL = {"mail_from": "Orders <orders@shop.example>", "support_email": "support@shop.example"}


@dataclass
class Drill:
    """A shop on a server that is backed up, and what was wrong with it."""

    backups: Backups
    folder: Path
    inbox: Inbox
    trial: Trial
    operations: int
    seed: int
    faults: dict[str, Any] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return self.backups.url

    def check(self, what: str, *, holds: object, shown: object = None) -> None:
        """Note a fault unless something holds."""
        if not holds:
            self.faults[what] = shown

    def command(self, *words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        """Run a command as an operator does."""
        chosen: Mapping[str, str] = {**SETTINGS, **MAIL, "smtp_url": self.inbox.url, **settings}
        environment = {f"TRADECOUNTER_{name.upper()}": value for name, value in chosen.items()}
        return subprocess.run(
            [sys.executable, "-m", "tradecounter", *words, "--json"],
            env={
                **without_settings(),
                **environment,
                "TRADECOUNTER_DATABASE_URL": self.url,
                "TRADECOUNTER_SECRET_KEY": SECRET,
            },
            cwd=self.folder,
            text=True,
            capture_output=True,
            check=False,
        )

    def told(self, *words: str, **settings: str) -> Any:
        """The document that a command prints, which has to succeed."""
        done = self.command(*words, **settings)
        assert done.returncode == 0, done
        return json.loads(done.stdout)

    def processes(self, stack: ExitStack, *commands: str) -> list[Process]:
        """Start processes; they stop with the stack."""
        settings = {**SETTINGS, **MAIL, "smtp_url": self.inbox.url}
        return stack.enter_context(running_processes(commands, PAUSE, self.url, self.folder, **settings))

    def events_after(self, sender: Sender, position: int) -> list[dict[str, Any]]:
        """What a program reads that asks from its position on."""
        found: list[dict[str, Any]] = sender.staff_get(f"/api/event?limit=1000&after={position}").json()
        return found

    def run(self) -> None:
        with ExitStack() as always:
            [survivor] = self.processes(always, "serve")
            with ExitStack() as before:
                moment, lost = self._until_the_accident(always, before, survivor.base_url)
                mails = len(self.inbox.mails)
            began = time.monotonic()
            self.backups.destroy()
            self.backups.restore(moment)
            say(f"restored as at {moment} in {time.monotonic() - began:.1f} s")
            with served(self.url, self.trial) as (service, sender):
                self.faults |= all_faults(service, sender, self.trial)
            self.told(
                "db", "restored", "--last-invoice", str(max(lost.invoices)),
                "--last-credit-note", str(self._last("credit_note_number")), "--yes",
            )  # fmt: skip
            office, _ = self.processes(always, "backoffice", "worker")
            with Sender([survivor.base_url], [office.base_url], self.trial.token) as sender:
                self._check_what_goes_on(sender, lost, mails)
            self._check_doctor(survivor.base_url)

    def _until_the_accident(self, always: ExitStack, stack: ExitStack, public: str) -> tuple[str, Lost]:
        office, _ = self.processes(stack, "backoffice", "worker")
        sender = stack.enter_context(Sender([public], [office.base_url], self.trial.token))
        always.enter_context(self.trial.receiving(sender))
        with ThreadPoolExecutor(1) as other:
            trading = other.submit(self.trial.run, sender, self.operations, self.seed)
            wait_for(lambda: trading.done() or self.trial.ledger.operations > self.operations / 4)
            began = time.monotonic()
            self.backups.back_up()
            say(f"backed up in {time.monotonic() - began:.1f} s, after {self.trial.ledger.operations} operations")
            trading.result()
        wait_for(lambda: waiting_work(self.url) == 0, seconds=CATCH_UP_SECONDS)
        say(f"{self.trial.ledger.operations} operations before the import")
        self.trial.endpoints = [_until_now(endpoint) for endpoint in self.trial.endpoints]
        time.sleep(1.1)  # so that "the second before" is after all of them
        (self.folder / "bad.csv").write_text(bad_prices())
        self.told("import", "price-list", "bad.csv", "--force")
        found = self.told("imports", "list")[0]
        imported = datetime.fromisoformat(found["at"]).astimezone(UTC)
        buyer = self.trial.buyers[0]
        product = f"{public}/product/PHONE"
        headers = {"X-Api-Key": buyer.key}
        wait_for(lambda: _price(sender.http.get(product, headers=headers)) == BAD_PRICE)
        lost = trade_at_bad_prices(sender, buyer)
        lost.tag = sender.http.get(product, headers=headers).headers["ETag"]
        wait_for(lambda: waiting_work(self.url) == 0, seconds=CATCH_UP_SECONDS)
        lost.position = self.events_after(sender, self.trial.first_sequence)[-1]["sequence"]
        while more := self.events_after(sender, lost.position):
            lost.position = more[-1]["sequence"]
        self.backups.wait_for_archive()
        # The import's record has whole seconds, so this is the second in which it began, and before its commit.
        return f"{imported:%Y-%m-%d %H:%M:%S} UTC", lost

    def _check_what_goes_on(self, sender: Sender, lost: Lost, mails: int) -> None:
        buyer = self.trial.buyers[0]
        headers = {"X-Api-Key": buyer.key}
        address = f"{sender.public[0]}/product/PHONE"
        shown = sender.http.get(address, headers={**headers, "If-None-Match": lost.tag})
        self.check("the bad price is shown", holds=_price(shown) not in {None, BAD_PRICE},
                   shown=(shown.status_code, shown.text[:300]))  # fmt: skip
        for key, reference in zip(lost.keys, lost.references, strict=True):
            gone = sender.http.get(f"{sender.public[0]}/order/{reference}", headers=headers)
            self.check(f"{reference} exists", holds=gone.status_code == 404, shown=gone.text[:300])
            again = place(sender, buyer, key)
            self.check(f"{key} has a lost number", holds=again["order_reference"] not in lost.references, shown=again)
            self.check(f"{key} has a lost id", holds=again["order_id"] not in lost.ids, shown=again)
            self.check(f"{key} has a bad price", holds=float(again["cost_gross"]) > 1, shown=again)
        path = f"/api/order/{again['order_reference']}"
        items = [{"id": item["id"], "quantity": item["quantity"]} for item in again["items"]]
        sender.staff_post(f"{path}/dispatch", "after-dispatch", {"items": items, "tracking_number": "after"})
        [invoice] = sender.staff_post(f"{path}/invoice", "after-invoice", {"part": False})["invoices"]
        self.check("an invoice number is wrong", holds=invoice == max(lost.invoices) + 1, shown=invoice)
        wait_for(lambda: waiting_work(self.url) == 0, seconds=CATCH_UP_SECONDS)
        self._check_events(sender, lost)
        self.check("a mail was sent again", holds=not _doubled(self.inbox, mails), shown=_doubled(self.inbox, mails))

    def _check_events(self, sender: Sender, lost: Lost) -> None:
        """A program that has read lost events misses nothing and learns what is void, and so does a customer's."""
        read = self.events_after(sender, lost.position)
        told = [event for event in read if event["type"] == "log.restored"]
        customers = {buyer.id for buyer in self.trial.buyers}
        self.check("readers are not told", holds={event.get("customer_id") for event in told} >= {None, *customers},
                   shown=told)  # fmt: skip
        if not told:
            return
        last = told[0]["data"]["last_sequence"]
        self.check("the end of the log is wrong", holds=self.trial.first_sequence < last < lost.position, shown=last)
        confirmed = [event for event in read if event["type"] == "order.confirmed"]
        self.check("events are missed", holds=len(confirmed) == len(lost.keys), shown=read)
        self.check("a sequence is used again", holds=min(event["sequence"] for event in read) > lost.position)

    def _check_doctor(self, base_url: str) -> None:
        done = self.command("doctor", base_url=base_url)
        # A program on plain HTTP has an issuer of no use; its check does not concern the database.
        wrong = [check for check in json.loads(done.stdout)["checks"] if not check["ok"]]
        self.check("doctor finds faults", holds=not wrong, shown=wrong)

    def _last(self, table: str) -> int:
        return int(self.backups.query(f"select last from {table}")[0][0])  # noqa: S608 a table's name


def _until_now(endpoint: Endpoint) -> Endpoint:
    """What an endpoint had got, apart from what it still gets."""
    copied = copy(endpoint)
    copied.attempts, copied.accepted, copied.faults = list(endpoint.attempts), set(endpoint.accepted), endpoint.faults
    return copied


def _price(response: httpx2.Response) -> str | None:
    """The price of a product; None while the service is busy."""
    return str(response.json()["single_unit_cost"]) if response.status_code == HTTPStatus.OK else None


def _doubled(inbox: Inbox, before: int) -> list[str]:
    """The mails after the restore that had been sent before it."""
    sent = {mail["Message-ID"] for mail in inbox.mails[:before]}
    return [mail["Subject"] for mail in inbox.mails[before:] if mail["Message-ID"] in sent]


class Wanted(argparse.Namespace):
    """What the command line asks for."""

    operations: int
    seed: int


def wanted_by(program: str, arguments: Sequence[str]) -> Wanted:
    """Read the command line, and print what the run can be repeated with."""
    parser = argparse.ArgumentParser(prog=program, description=f"e.g. {program} ARGS='--operations 500 --seed 7'")
    parser.add_argument("--operations", type=int, default=300, help="before the bad import")
    parser.add_argument("--seed", type=int, default=1 + secrets.randbelow(1_000_000), help="of the orders")
    wanted = parser.parse_args(arguments, Wanted())
    warnings.simplefilter("ignore")
    say(f"{wanted.operations} operations, seed {wanted.seed}")
    return wanted


def faults_of(backups: Backups, folder: Path, wanted: Wanted) -> list[str]:
    """Spoil, destroy and restore a new shop; what was wrong afterwards."""
    upgrade(backups.url)
    with served(backups.url) as (service, _):
        trial = new_trial(service)
    with mail_server() as inbox:
        drill = Drill(backups, folder, inbox, trial, wanted.operations, wanted.seed)
        drill.run()
    return [f"{what}: {shown}" for what, shown in drill.faults.items()]


def main(arguments: Sequence[str]) -> int:
    wanted = wanted_by("make drill", arguments)
    adopt_orphans()
    with tempfile.TemporaryDirectory(dir=MEMORY) as name, backed_up_server(Path(name), MEMORY) as backups:
        faults = faults_of(backups, Path(name), wanted)
    return told(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
