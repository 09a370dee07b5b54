"""The secret key of a service with several processes: the five steps of the operators' guide, by SIGHUP."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from support.cluster import Cluster
from support.command_line import Forker, Program, Running, started
from support.orders import buy, sell
from support.processes import api_processes
from support.secret_keys import NEW, OLD, passwords, registered
from support.service import running_service
from support.shop import stock_shop
from support.waiting import LONG, wait_for
from tradecounter.db.embedded import EmbeddedPostgres

pytestmark = pytest.mark.long

SERVE = ("serve", "--port", "0", "--workers", "2", "--json")


class Installation:
    """A folder with `.env`, a database with an item to configure, and the program."""

    def __init__(self, folder: Path, url: str, forker: Forker, *, embedded: bool) -> None:
        self.url, self.embedded, self.folder = url, embedded, folder
        self.program = Program(folder, None, forker)
        with running_service(url, secret_key=OLD) as service:
            stock_shop(service)
            sell(service, "ROUTER", available=1000, configurable=True)
            self.customer = service.customer()
            self.placed = buy(self.customer, [("ROUTER", 20)])

    def set_keys(self, current: str, former: str | None) -> None:
        """Change the settings as an operator does: in `.env`, or the key in its file."""
        lines = {"TRADECOUNTER_RATE_LIMIT": "0", "TRADECOUNTER_FORMER_SECRET_KEYS": former}
        if self.embedded:
            file = self.folder / ".tradecounter" / "secret.key"
            file.touch(mode=0o600)
            file.write_text(current)
        else:
            lines |= {"TRADECOUNTER_DATABASE_URL": self.url, "TRADECOUNTER_SECRET_KEY": current}
        (self.folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in lines.items() if value))

    @contextmanager
    def serving(self) -> Iterator[Running]:
        with started(*SERVE, folder=self.folder, environment={}) as running:
            wait_for(lambda: len(workers(running)) == 2, LONG)
            wait_for(lambda: self.ready(running).status_code == 200, LONG)
            yield running

    def ready(self, running: Running) -> httpx2.Response:
        return httpx2.get(f"{running.announced['base_url']}/ready", timeout=LONG)

    def configure(self, running: Running, name: str) -> int:
        """Send a configuration with a password; return the status."""
        path = f"/order/{self.placed['order_id']}/item/{self.placed['items'][0]['id']}/configuration"
        body = {"configurations": [{"adsl_username": "line@isp.example", "adsl_password": name}]}
        headers = {"X-Api-Key": self.customer.key}
        return httpx2.post(running.announced["base_url"] + path, json=body, headers=headers, timeout=LONG).status_code

    def shown(self, running: Running) -> list[Any]:
        """The passwords that the API shows."""
        headers = {"X-Api-Key": self.customer.key}
        path = f"{running.announced['base_url']}/order/{self.placed['order_id']}"
        order = httpx2.get(path, headers=headers, timeout=LONG).json()
        return [each["data"].get("adsl_password") for item in order["items"] for each in item["configurations"]]

    def restart(self, running: Running) -> None:
        """Have all processes replaced, and wait for that."""
        former = workers(running)
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: len(now := workers(running)) == 2 and not now & former, LONG)


def workers(running: Running) -> set[int]:
    return api_processes(running.process.pid)


@pytest.fixture(params=["own", "embedded"])
def installation(
    request: pytest.FixtureRequest, postgres: Cluster, tmp_path: Path, forker: Forker
) -> Iterator[Installation]:
    if request.param == "own":
        with postgres.database() as url:
            yield Installation(tmp_path, url, forker, embedded=False)
        return
    with EmbeddedPostgres(tmp_path / ".tradecounter", durable=False) as embedded:
        Program(tmp_path, None, forker).json("db", "upgrade")
        yield Installation(tmp_path, embedded.url(), forker, embedded=True)


def test_a_key_is_replaced_in_five_steps_without_an_outage_or_a_loss(installation: Installation) -> None:
    steps: list[tuple[str, str | None]] = [(OLD, NEW), (NEW, OLD), (NEW, None)]
    names = ["before"]
    installation.set_keys(OLD, None)
    with installation.serving() as running:
        assert installation.configure(running, "before") == 200
        for number, keys in enumerate(steps):
            if keys == (NEW, None):
                rotated: Mapping[str, int] = installation.program.json("secret", "rotate")
                assert (rotated["unreadable"], rotated["rotated"]) == (0, 7)
                assert registered(installation.url) == {NEW}
            installation.set_keys(*keys)
            statuses = [installation.configure(running, name) for name in (f"{number} a", f"{number} b")]
            assert installation.ready(running).status_code == 200
            installation.restart(running)
            statuses += [installation.configure(running, name) for name in (f"{number} c", f"{number} d")]
            assert statuses == [200] * 4
            names += [f"{number} {letter}" for letter in "abcd"]
            assert installation.ready(running).status_code == 200
            assert installation.shown(running) == names
        assert running.stop(signal.SIGTERM) == (0, "")
    with installation.serving() as running:
        assert installation.shown(running) == names
    assert passwords(installation.url, NEW) == names


def test_a_process_whose_key_was_replaced_is_not_ready_and_encrypts_nothing(installation: Installation) -> None:
    installation.set_keys(OLD, NEW)
    with installation.serving() as running:
        assert installation.configure(running, "before") == 200
        installation.set_keys(NEW, OLD)  # and the restart is forgotten
        installation.program.json("secret", "rotate")
        assert installation.configure(running, "lost") == 503
        wait_for(lambda: all(installation.ready(running).status_code == 503 for _ in range(10)))  # of either process
        assert "secret key" in installation.ready(running).json()["reasons"][0]
        installation.set_keys(NEW, None)
        done = installation.program.run("doctor", "--json", TRADECOUNTER_BASE_URL=running.announced["base_url"])
        checks = {check["name"]: check for check in done.document["checks"]}
        assert checks["secret_key"]["ok"]
        assert not checks["ready"]["ok"]
        assert "secret key" in checks["ready"]["message"]
        installation.restart(running)
        assert installation.ready(running).status_code == 200
        assert installation.configure(running, "after") == 200
        assert running.stop(signal.SIGTERM) == (0, "")
    assert any("`tradecounter secret rotate` has replaced this key" in line for line in running.logs)
    assert passwords(installation.url, NEW) == ["before", "after"]


def test_processes_with_a_wrong_key_do_not_replace_those_that_work(installation: Installation) -> None:
    installation.set_keys(OLD, None)
    with installation.serving() as running:
        former = workers(running)
        installation.set_keys(NEW, None)  # the former key is forgotten
        running.process.send_signal(signal.SIGHUP)
        wait_for(lambda: any("an API process cannot start" in line for line in running.logs), LONG)
        assert installation.ready(running).status_code == 200
        assert installation.configure(running, "kept") == 200
        assert workers(running) >= former
        assert running.stop(signal.SIGTERM) == (0, "")
    assert passwords(installation.url, OLD) == ["kept"]
    assert registered(installation.url) == {OLD}
