"""`make kill`: a thousand operations with idempotency keys, while all processes and the database are killed.

Orders are placed, dispatched, invoiced, paid, credited and sent back. Fails unless every operation that was
acknowledged is there exactly once, the books agree, each event reached the receivers in order, and each mail came.
"""

import argparse
import secrets
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from rigs.kill.checks import all_faults
from rigs.kill.kills import DatabaseServer, Target, running_processes, under_fire
from rigs.kill.mails import faults_in_mails
from rigs.kill.sender import Sender
from rigs.kill.trial import SETTINGS, new_trial, served, waiting_work
from rigs.told import say, told
from support.mail import mail_server
from support.processes import adopt_orphans
from support.service import running_service
from support.waiting import wait_for
from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.migrate import upgrade

COMMANDS = ("serve", "serve", "backoffice", "backoffice", "worker")
PAUSE = 6  # seconds that a process lives on average
DATABASE_PAUSE = 15
MOST_SECONDS_TO_CATCH_UP = 240  # a delivery that a killed worker has begun waits for 30 seconds
MEMORY = Path("/dev/shm")


def trial_on(server: EmbeddedPostgres, folder: Path, operations: int, seed: int) -> list[str]:
    """Send the operations under fire; what was wrong afterwards."""
    url = server.url()
    upgrade(url)
    with ExitStack() as stack:
        with served(url) as (service, sender):
            trial = new_trial(service)
            sender.token = trial.token
            stack.enter_context(trial.receiving(sender))
        inbox = stack.enter_context(mail_server())
        settings = {"smtp_url": inbox.url, **SETTINGS}
        processes = stack.enter_context(running_processes(COMMANDS, PAUSE, url, folder, **settings))
        public, backoffice = ([p.base_url for p in processes if p.name == name] for name in ("serve", "backoffice"))
        targets: list[Target] = [*processes, DatabaseServer(server, DATABASE_PAUSE)]
        with Sender(public, backoffice, trial.token) as sender:
            began = time.monotonic()
            with under_fire(targets, seed):
                trial.run(sender, operations, seed)
            kills = ", ".join(f"{target.name} {target.kills}" for target in targets)
            say(f"{trial.ledger.operations} operations in {time.monotonic() - began:.0f} s; kills: {kills}")
            say(f"{sender.lost} requests without a response, {sender.repeated} with one that asks for a repetition")
            began = time.monotonic()
            wait_for(lambda: waiting_work(url) == 0, seconds=MOST_SECONDS_TO_CATCH_UP)
            attempts = [len(endpoint.attempts) for endpoint in trial.endpoints]
            accepted = [len(endpoint.accepted) for endpoint in trial.endpoints]
            say(f"all done {time.monotonic() - began:.0f} s later: {len(inbox.mails)} mails")
            say(f"deliveries to the reseller and to a customer: {attempts}, of {accepted} events")
            with running_service(url) as service:
                mails = zip(inbox.recipients, inbox.mails, strict=True)
                faults = {**all_faults(service, sender, trial), **faults_in_mails(mails, trial.ledger)}
    return [f"{what}: {details}" for what, details in faults.items()]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make kill", description="e.g. make kill ARGS='--operations 200 --seed 7'")
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument(
        "--seed", type=int, default=1 + secrets.randbelow(1_000_000), help="of the orders and the moments of the kills"
    )
    wanted = parser.parse_args(arguments)
    say(f"{wanted.operations} operations, seed {wanted.seed}")
    warnings.simplefilter("ignore")
    adopt_orphans()
    with (
        tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder,
        EmbeddedPostgres(Path(folder)) as server,
    ):
        faults = trial_on(server, Path(folder), wanted.operations, wanted.seed)
    return told(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
