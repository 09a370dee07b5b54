"""What the program logs while everything goes wrong."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import httpx2
import psycopg
import pytest

from support.cluster import Cluster
from support.interface import checked_client
from support.outage import database_away
from support.service import Customer, Service

KEPT = "Serving "


@dataclass
class Program:
    url: str
    lines: list[str]

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines if line and not line.startswith(KEPT)]


@contextmanager
def served(database_url: str, folder: Path) -> Iterator[Program]:
    """Run `tradecounter serve` as a process; collect the lines of its standard error."""
    environment = {
        **os.environ,
        "TRADECOUNTER_DATABASE_URL": database_url,
        "TRADECOUNTER_SECRET_KEY": "s" * 64,
        "TRADECOUNTER_LOG_REQUESTS": "true",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "tradecounter", "serve", "--port", "0"],
        env=environment,
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    program = Program("", [])
    first: queue.SimpleQueue[str] = queue.SimpleQueue()

    def collect(stream: IO[str]) -> None:
        for line in stream:
            program.lines.append(line.rstrip("\n"))
            if line.startswith(KEPT):
                first.put(line.split()[1])

    reader = threading.Thread(target=collect, args=(process.stderr,))
    reader.start()
    try:
        program.url = first.get(timeout=30)
        yield program
    finally:
        process.terminate()
        process.wait(timeout=30)
        reader.join(timeout=30)
        process.stderr.close()


def request_in_every_way(program: Program, customer: Customer) -> dict[str, int]:
    """Return the statuses of requests with the key, by path; some are invalid HTTP."""
    with checked_client(base_url=program.url) as client:
        statuses = {}
        for path in ("/customer/address", "/nowhere", "/order/x", "/product?sort=x"):
            separator = "&" if "?" in path else "?"
            client.get(path, headers={"X-Api-Key": customer.key})
            request_id = path.strip("/").partition("?")[0].replace("/", "-")
            found = client.get(f"{path}{separator}api-key={customer.key}", headers={"X-Request-Id": request_id})
            statuses[path] = found.status_code
        client.get("/customer", headers={"Authorization": f"Bearer {customer.key}"})
        client.post(f"/order?api-key={customer.key}", content=b"{", headers={"Content-Type": "application/json"})
    return statuses


@pytest.fixture(scope="module")
def written(
    service: Service, database_url: str, postgres: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Customer, Program, dict[str, int], int]:
    """A customer, the program after losing a table and then the database, and the statuses of requests."""
    customer = service.customer()
    with served(database_url, tmp_path_factory.mktemp("serve")) as program:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("alter table address rename to mislaid")
        broken = request_in_every_way(program, customer)
        with database_away(postgres, database_url):
            away = httpx2.get(f"{program.url}/customer/address?api-key={customer.key}", timeout=30).status_code
    return customer, program, broken, away


Written = tuple[Customer, Program, dict[str, int], int]


@pytest.mark.sweep
def test_a_key_is_never_logged(written: Written) -> None:
    customer, program, _, _ = written
    everything = "\n".join(program.lines)
    assert customer.key not in everything
    assert customer.key[8:40] not in everything, "no part of it either"


def test_an_unexpected_error_is_logged_with_its_cause_and_request_id(written: Written) -> None:
    _, program, broken, _ = written
    assert broken["/customer/address"] == 500
    [fault] = [
        event
        for event in program.events()
        if event["event"] == "unexpected error" and event["request_id"] == "customer-address"
    ]
    assert (fault["level"], fault["method"], fault["path"]) == ("error", "GET", "/customer/address")
    assert fault["exception"][0]["exc_type"] == "UndefinedTable"
    assert "address" in fault["exception"][0]["exc_value"]


def test_no_values_of_variables_are_logged(written: Written) -> None:
    _, program, _, _ = written
    frames = [
        frame for event in program.events() for exception in event.get("exception", []) for frame in exception["frames"]
    ]
    assert frames
    assert all(not frame.get("locals") for frame in frames)


def test_an_absent_database_is_logged_as_such(written: Written) -> None:
    _, program, _, away = written
    assert away == 503
    assert any(event["event"] == "database away" for event in program.events())


def test_every_line_of_the_log_names_the_process(written: Written) -> None:
    _, program, _, _ = written
    assert {(event["process"], type(event["pid"])) for event in program.events()} == {("public", int)}


def test_every_request_is_logged_with_its_path_but_not_its_query(written: Written) -> None:
    _, program, broken, _ = written
    requests = [event for event in program.events() if event["event"] == "request"]
    assert {event["path"] for event in requests} >= {path.partition("?")[0] for path in broken}
    assert all("?" not in event["path"] for event in requests)
    assert all(event["request_id"] for event in requests)
