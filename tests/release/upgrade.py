"""Upgrades from the previous release to this one, by the commands of docs/deployment.md, under load.

Only the addresses and the program that restarts units are replaced: there may be no systemd here.
"""

import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from rigs.kill.stories import Buyer
from support.cluster import Cluster
from support.command_line import without_settings
from support.day_at_noon import Day, environment
from support.other_releases import ROOT, Release, previous_release
from support.rolling import Node, behind_haproxy, running_nodes
from tradecounter.db.migrate import upgrade
from tradecounter.db.schema_state import schema_state

_COMMANDS = re.compile(
    r"^## Upgrade without a failed request\n.*?^```sh\n(systemctl .*?)^```$", re.MULTILINE | re.DOTALL
)
_PORTS = "8000 8002"
_FILL = """
import json, sys
from support.service import running_service
from support.shop import stock_shop
from support.backoffice import ALL_SCOPES
from tradecounter.access.tokens import add_token
with running_service(sys.argv[1]) as shop:
    stock_shop(shop)
    shop.must_load("stock", [{"sku": sku, "available": 1000000} for sku in ("PHONE", "CABLE")])
    customers = [shop.customer(credit="100000000.00") for _ in range(2)]
    token = shop.in_transaction(lambda tx: add_token(tx, "day", ALL_SCOPES, shop.clock.now()))[1]
    print(json.dumps([[[each.id, each.key] for each in customers], token]))
"""
# Leaves a file with the units to restart, and waits until it is gone.
_SYSTEMCTL = """#!/bin/sh
case "$1" in restart | try-restart) ;; *) echo "no systemctl $1 here" >&2; exit 1 ;; esac
shift
for unit; do
    echo "$unit" > "$FOLDER/asked.new"
    mv "$FOLDER/asked.new" "$FOLDER/asked"
    while [ -e "$FOLDER/asked" ]; do sleep 0.1; done
done
"""


@pytest.fixture
def previous(tmp_path: Path) -> Release:
    return previous_release(tmp_path / "previous")


def day_of(previous: Release, url: str) -> Day:
    """A shop that the previous release has filled, by its own code."""
    paths = f"{previous.root / 'src'}{os.pathsep}{previous.root / 'tests'}"
    done = subprocess.run(
        [previous.python, "-c", _FILL, url],
        env={**without_settings(), "PYTHONPATH": paths},
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    customers, token = json.loads(done.stdout.splitlines()[-1])
    return Day(url, [Buyer(*each) for each in customers], token)


@contextmanager
def in_place_of_systemd(nodes: Mapping[str, Node], url: str, folder: Path) -> Iterator[dict[str, str]]:
    """Restart what `systemctl` is asked for, as this release, while the block runs; yield the environment for it."""
    programs = folder / "bin"
    programs.mkdir()
    (programs / "systemctl").write_text(_SYSTEMCTL)
    (programs / "systemctl").chmod(0o755)
    asked, over = folder / "asked", threading.Event()

    def serve() -> None:
        while not over.wait(0.05):
            if asked.exists():
                unit = asked.read_text().strip()
                if unit == "tradecounter-migrate":
                    upgrade(url)
                else:
                    nodes[unit].release = None
                    nodes[unit].restart()
                asked.unlink()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "FOLDER": str(folder)}
    finally:
        over.set()
        thread.join(timeout=120)


def documented(public: list[Node]) -> str:
    """The commands of the guide, with the ports of these nodes."""
    [commands] = _COMMANDS.findall((ROOT / "docs" / "deployment.md").read_text())
    assert _PORTS in commands
    return str(commands).replace(_PORTS, " ".join(node.address.rpartition(":")[2] for node in public))


@dataclass(frozen=True, slots=True)
class Shop:
    """The previous release behind HAProxy, and a day of its customers and staff."""

    url: str
    day: Day
    public: list[Node]
    office: Node
    worker: Node

    @property
    def nodes(self) -> list[Node]:
        return [*self.public, self.office, self.worker]


@pytest.fixture
def shop(postgres: Cluster, previous: Release, tmp_path: Path) -> Iterator[Shop]:
    with postgres.empty_database() as url:
        previous.run("db", "upgrade", url=url)
        made = partial(Node, folder=tmp_path, environment=environment(url))
        shop = Shop(url, day_of(previous, url), [made("serve"), made("serve")], made("backoffice"), made("worker"))
        for node in shop.nodes:
            node.release = previous
        with (
            running_nodes(*shop.nodes),
            behind_haproxy(shop.public, shop.office) as (site, backoffice),
            shop.day.at_work(site.url, backoffice.url),
        ):
            shop.day.goes_on()
            yield shop
            shop.day.goes_on()
        assert shop.day.faults() == []


def test_the_documented_upgrade_from_the_previous_release_fails_no_request(
    shop: Shop, previous: Release, tmp_path: Path
) -> None:
    assert schema_state(shop.url).revision == previous.revision
    units = {f"tradecounter-serve@{node.address.rpartition(':')[2]}": node for node in shop.public}
    units |= {"tradecounter-backoffice": shop.office, "tradecounter-worker": shop.worker}
    with in_place_of_systemd(units, shop.url, tmp_path) as path:
        done = subprocess.run(
            ["sh", "-e"], input=documented(shop.public), env=path, text=True, capture_output=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert [node.restarts for node in shop.nodes] == [1, 1, 1, 1]
    assert schema_state(shop.url).current


def test_the_previous_release_works_on_the_new_schema_alone_and_beside_this_one(shop: Shop, previous: Release) -> None:
    upgrade(shop.url)
    shop.day.goes_on()
    shop.public[1].release = None
    shop.public[1].restart()
    if knows_newer_schemas(previous):
        shop.day.goes_on()
        shop.public[0].restart()
    else:
        assert "run `tradecounter db upgrade`" in previous.run("db", "check", url=shop.url, status=1)


def knows_newer_schemas(release: Release) -> bool:
    """Whether a release starts on a newer schema; the first releases do not."""
    return "oldest_program" in (release.root / "src/tradecounter/db/schema_state.py").read_text()
