"""`serve` where few files may be open: it takes as many connections as fit, and tells all others so."""

import json
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from support.command_line import SECRET, Running, started

pytestmark = pytest.mark.long

MANY = 300
ADDRESSES = 8


@pytest.fixture
def environment(database_url: str) -> dict[str, str]:
    return {"TRADECOUNTER_DATABASE_URL": database_url, "TRADECOUNTER_SECRET_KEY": SECRET}


def status_line(address: tuple[str, int]) -> bytes:
    """The beginning of the response to a request on a connection of its own."""
    with socket.create_connection(address, timeout=10) as connection:
        connection.sendall(b"GET /check-health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return connection.recv(12)


def connected(address: tuple[str, int], client: str) -> socket.socket:
    """A connection from one of the loopback addresses."""
    return socket.create_connection(address, timeout=10, source_address=(client, 0))


def logged(running: Running) -> list[dict[str, Any]]:
    """What the service logged, but for settings that are still examples."""
    lines = [json.loads(line) for line in running.logs]
    return [line for line in lines if "connection" in line["event"]]


def test_more_connections_than_files_are_rejected_with_a_message(environment: dict[str, str], tmp_path: Path) -> None:
    words = ("serve", "--port", "0", "--json")
    with started(*words, folder=tmp_path, environment=environment, most_files=256) as running, ExitStack() as stack:
        place = urlsplit(running.announced["base_url"])
        address = (place.hostname or "", place.port or 0)
        clients = [f"127.0.0.{2 + number % ADDRESSES}" for number in range(MANY)]
        idle = [stack.enter_context(connected(address, client)) for client in clients]
        assert status_line(address) == b"HTTP/1.1 503"
        possible = logged(running)[0]["possible"]
        assert 100 < possible < 256
        for error in idle[possible:]:
            assert error.recv(12) == b"HTTP/1.1 503"
        for kept in idle[:possible]:
            kept.sendall(b"GET /check-health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert kept.recv(12) == b"HTTP/1.1 200"
        assert status_line(address) == b"HTTP/1.1 200"
    few, turned_away, *_ = logged(running)
    assert few["event"] == "fewer client connections than wanted: the process may not open enough files"
    assert (few["setting"], few["wanted"], few["files"]) == ("TRADECOUNTER_MAX_CONNECTIONS", 4096, 256)
    assert turned_away["event"] == "connection rejected"
    assert turned_away["setting"] == "TRADECOUNTER_MAX_CONNECTIONS"


def test_idle_connections_of_one_address_do_not_shut_others_out(environment: dict[str, str], tmp_path: Path) -> None:
    words = ("serve", "--port", "0", "--json")
    with started(*words, folder=tmp_path, environment=environment, most_files=256) as running, ExitStack() as stack:
        place = urlsplit(running.announced["base_url"])
        address = (place.hostname or "", place.port or 0)
        idle = [stack.enter_context(connected(address, "127.0.0.2")) for _ in range(MANY)]
        assert idle[-1].recv(12) == b"HTTP/1.1 503"
        assert status_line(address) == b"HTTP/1.1 200"
        possible = logged(running)[0]["possible"]
        assert idle[possible // 4].recv(12) == b"HTTP/1.1 503"
        kept = idle[possible // 4 - 1]
        kept.sendall(b"GET /check-health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert kept.recv(12) == b"HTTP/1.1 200"
    assert logged(running)[1]["setting"] == "TRADECOUNTER_MAX_CONNECTIONS_PER_ADDRESS"


def test_it_does_not_start_without_room_for_a_connection(environment: dict[str, str], tmp_path: Path) -> None:
    words = ("serve", "--port", "0")
    with started(*words, folder=tmp_path, environment=environment, most_files=64, wait=False) as running:
        assert running.process.wait(timeout=30) == 1
    assert running.logs[-1].startswith("error: the process may open only 64 files and needs ")
    assert running.logs[-1].endswith(" by itself: raise `ulimit -n`\n")
