"""Orders placed with idempotency keys while processes of the API and the worker are killed again and again.

Nothing of this is pretended: real processes get a real SIGKILL, clients retry as clients do, and mail goes to a real
server.
"""

import itertools
import json
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx2

from support.command_line import SECRET, Running, started
from support.mail import Inbox
from support.orders import faults_in_the_books, rows
from support.service import Service
from support.shop import STANDARD, order

_CLIENTS = 8
_AFTER_AN_ERROR = 0.5
_FIRST_LIFE_SECONDS = 0.5
_PATIENCE_SECONDS = 300


class Process:
    """A service in a process of its own, which can be killed and started again; the API keeps its address."""

    def __init__(self, command: str, folder: Path, environment: Mapping[str, str]) -> None:
        self.command = command
        self.base_url = ""
        self.kills = 0
        self._folder = folder
        self._environment = environment
        self._stack = ExitStack()
        self._running: Running | None = None

    def start(self) -> None:
        """Start it and wait until it is ready."""
        words = [self.command, "--json"]
        if self.command == "serve":
            words += ["--port", self.base_url.rpartition(":")[2] or "0"]
        self._running = self._stack.enter_context(started(*words, folder=self._folder, environment=self._environment))
        self.base_url = self._running.announced.get("base_url", "")

    def kill(self) -> None:
        """End it without a warning."""
        assert self._running is not None
        os.kill(self._running.process.pid, signal.SIGKILL)
        self._stack.close()
        self.kills += 1

    def stop(self) -> None:
        """End it as it should be ended."""
        self._stack.close()


@contextmanager
def running_processes(
    commands: Sequence[str], database_url: str, folder: Path, **settings: str
) -> Iterator[list[Process]]:
    """Processes of the program on one database while the block runs."""
    environment = {
        "TRADECOUNTER_DATABASE_URL": database_url,
        "TRADECOUNTER_SECRET_KEY": SECRET,
        "TRADECOUNTER_DATA_DIR": str(folder),
        **{f"TRADECOUNTER_{name.upper()}": value for name, value in settings.items()},
    }
    processes = [Process(command, folder, environment) for command in commands]
    try:
        with ThreadPoolExecutor(len(processes)) as starters:
            list(starters.map(Process.start, processes))
        yield processes
    finally:
        for process in processes:
            process.stop()


@dataclass
class Trial:
    """The result of placing orders under fire: the response bodies by key, and how many requests got no response."""

    keys: list[str]
    responses: defaultdict[str, set[bytes]] = field(default_factory=lambda: defaultdict(set))
    lost: int = 0
    kills: int = 0


def place_under_fire(keys: list[str], api_key: str, processes: list[Process], *, seed: int, pause: float) -> Trial:
    """Place an order per key from several clients at once, while each process is killed and started again and again.

    `pause` is the mean time in seconds that a process lives; the first ones die while the first orders are placed.
    """
    trial, done = Trial(keys), threading.Event()
    base_urls = [process.base_url for process in processes if process.base_url]

    def fire_at(process: Process, chance: Random) -> None:
        life = chance.uniform(0, _FIRST_LIFE_SECONDS)
        while not done.wait(life):
            process.kill()
            process.start()
            life = chance.uniform(0, 2 * pause)

    with (
        httpx2.Client(headers={"X-Api-Key": api_key}, timeout=30) as http,
        ThreadPoolExecutor(len(processes)) as gunmen,
        ThreadPoolExecutor(_CLIENTS) as clients,
    ):
        fires = [gunmen.submit(fire_at, p, Random(seed + n)) for n, p in enumerate(processes)]  # noqa: S311 no secret
        try:
            list(clients.map(lambda turn: _place(http, base_urls, turn, trial), range(len(keys))))
        finally:
            done.set()
        for fire in fires:
            fire.result()
    trial.kills = sum(process.kills for process in processes)
    return trial


def _place(http: httpx2.Client, base_urls: Sequence[str], turn: int, trial: Trial) -> None:
    """Repeat an order until it gets a response; then send it once more, for the same response from another."""
    key, give_up = trial.keys[turn], time.monotonic() + _PATIENCE_SECONDS
    received = 0
    for url in itertools.islice(itertools.cycle(base_urls), turn % len(base_urls), None):
        assert time.monotonic() < give_up, f"{key} never got a response"
        try:
            response = http.post(f"{url}/order", json=_body(key), headers={"Idempotency-Key": key})
        except httpx2.TransportError:
            trial.lost += 1
            time.sleep(_AFTER_AN_ERROR)
            continue
        if response.status_code in {409, 503}:
            time.sleep(_AFTER_AN_ERROR)
            continue
        assert response.status_code == 201, response.text
        assert received == 0 or response.headers["Idempotent-Replay"] == "true"
        trial.responses[key].add(response.content)
        received += 1
        if received == 2:
            return


def _body(key: str) -> dict[str, Any]:
    contact = {"email_address": recipient_of(key)}
    return order(
        customer_reference=key, auto_confirm=True, shipping_method={"id": STANDARD}, order_notifications=contact
    )


def recipient_of(key: str) -> str:
    """Whom the order of a key tells."""
    return f"{key}@buyer.example"


def faults_in_orders(service: Service, trial: Trial) -> dict[str, object]:
    """What is wrong with the orders of a trial: one for each key is right, and it is the one in the response."""
    placed = rows(service, "select customer_reference, order_reference from orders order by id")
    counts = {key: sum(reference == key for reference, _ in placed) for key in trial.keys}
    references = {key: {json.loads(body)["order_reference"] for body in trial.responses[key]} for key in trial.keys}
    return {
        **{f"{key} made {count} orders": placed for key, count in counts.items() if count != 1},
        **{
            f"{key} had {len(trial.responses[key])} responses": references[key]
            for key in trial.keys
            if len(references[key]) != 1
        },
        **{f"{key} got a wrong response": references[key] for key, name in placed if references.get(key) != {name}},
        **{f"{key}'s responses differ": "" for key in trial.keys if len(trial.responses[key]) != 1},
        **faults_in_the_books(service),
    }


def faults_in_mails(inbox: Inbox, trial: Trial) -> dict[str, set[str]]:
    """Whose mail is missing, or was repeated with another Message-ID."""
    ids: dict[str, set[str]] = {recipient_of(key): set() for key in trial.keys}
    for recipients, mail in zip(inbox.recipients, inbox.mails, strict=True):
        for recipient in recipients:
            ids[recipient].add(mail["Message-ID"])
    return {recipient: found for recipient, found in ids.items() if len(found) != 1}
