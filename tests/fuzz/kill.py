"""`make kill`: a thousand orders with idempotency keys, while the API and the worker are killed again and again.

Fails unless every key created exactly one order with identical responses, the books agree, and every order's mail came,
a repeated one with the same Message-ID.
"""

import argparse
import os
import secrets
import sys
import tempfile
import time
import warnings
from collections.abc import Sequence
from pathlib import Path

from support.cluster import cluster
from support.kills import faults_in_mails, faults_in_orders, place_under_fire, running_processes
from support.mail import jobs, mail_server
from support.service import Service, running_service
from support.shop import stock_shop
from support.waiting import wait_for

COMMANDS = ("serve", "serve", "worker")
PAUSE = 3


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def trial(service: Service, folder: Path, orders: int, seed: int) -> list[str]:
    """Place the orders under fire; what was wrong afterwards."""
    stock_shop(service)
    service.must_load("stock", [{"sku": "PHONE", "available": orders // 2}])
    buyer = service.customer(credit="100000000.00")
    keys, started = [f"key-{number}" for number in range(orders)], time.monotonic()
    with mail_server() as inbox:
        with running_processes(COMMANDS, service.database_url, folder, smtp_url=inbox.url) as processes:
            found = place_under_fire(keys, buyer.key, processes, seed=seed, pause=PAUSE)
            kills = ", ".join(f"{process.command} {process.kills}" for process in processes)
            say(f"{orders} orders in {time.monotonic() - started:.0f} s; kills: {kills}; lost: {found.lost}")
            wait_for(lambda: not jobs(service), seconds=120)
        say(f"{len(inbox.mails)} mails, {len(inbox.mails) - orders} of them repeated")
        faults = {**faults_in_orders(service, found), **faults_in_mails(inbox, found)}
    return [f"{what}: {details}" for what, details in faults.items()]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make kill", description="e.g. make kill ARGS='--orders 200 --seed 7'")
    parser.add_argument("--orders", type=int, default=1000)
    parser.add_argument(
        "--seed", type=int, default=1 + secrets.randbelow(1_000_000), help="of the moments of the kills"
    )
    wanted = parser.parse_args(arguments)
    say(f"{wanted.orders} orders, seed {wanted.seed}")
    warnings.simplefilter("ignore")
    with (
        tempfile.TemporaryDirectory() as folder,
        cluster(Path(folder), f"kill{os.getpid()}") as postgres,
        postgres.database() as url,
        running_service(url) as service,
    ):
        faults = trial(service, Path(folder), wanted.orders, wanted.seed)
    for fault in faults:
        say(f"FAILED {fault[:500]}")
    say(f"{len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
