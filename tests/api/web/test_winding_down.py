"""A service that ends breaks no request: it says so, answers, and only then refuses connections."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from urllib.parse import urlsplit

import pytest

from support.service import Customer, Service, running_service
from support.shop import stock_shop
from support.steady_clients import steady_clients
from support.waiting import wait_for
from tradecounter.web.winding_down import Server

QUIET = 0.5


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorter times, so that the tests do not take longer than they have to."""
    monkeypatch.setattr(Server, "quiet_seconds", QUIET)
    monkeypatch.setattr(Server, "longest_announcement", 1.0)


@dataclass
class Ending:
    """A service that a test tells to end."""

    service: Service
    customer: Customer
    told: threading.Event

    def end(self) -> None:
        """Tell it, and wait until it knows."""
        self.told.set()
        wait_for(self.service.application.stopping.is_set)

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        address = urlsplit(self.service.url)
        with socket.create_connection((address.hostname, address.port or 0), timeout=10) as connection:
            yield connection

    def request(self, path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: shop\r\nX-Api-Key: {self.customer.key}\r\n\r\n".encode()


@pytest.fixture
def ending(database_url: str) -> Iterator[Ending]:
    told, ready = threading.Event(), threading.Event()
    found: list[Ending] = []

    def run() -> None:
        with running_service(database_url) as service:
            stock_shop(service)
            customer = service.customer()
            assert customer.get("/customer").status_code == 200
            service.close()
            found.append(Ending(service, customer, told))
            ready.set()
            told.wait(60)

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(30)
    try:
        yield found[0]
    finally:
        told.set()
        thread.join(30)


def answer(connection: socket.socket) -> HTTPResponse:
    """One response, read to its end."""
    response = HTTPResponse(connection)
    response.begin()
    response.read()
    return response


def is_last(response: HTTPResponse) -> bool:
    return response.getheader("connection") == "close"


def test_eight_clients_that_connect_again_lose_no_request(ending: Ending) -> None:
    paths = ["/product?limit=2", "/customer", "/check-health", "/product?query=phone"]
    headers = {"X-Api-Key": ending.customer.key, "Accept": "application/json"}
    with steady_clients(8, ending.service.url, paths, headers) as clients:
        wait_for(lambda: clients.statuses[200] > 100)
        ending.end()
        wait_for(lambda: clients.gone + len(clients.broken) == 8)
    assert clients.broken == []
    assert set(clients.statuses) == {200}
    assert clients.closed >= 8


@pytest.mark.parametrize("path", ["/product?limit=1", "/customer"])
def test_every_response_closes_its_connection_also_from_memory(ending: Ending, path: str) -> None:
    with ending.connected() as kept, ending.connected() as other:
        for _ in range(3):
            kept.sendall(ending.request(path))
            assert not is_last(answer(kept))
        ending.end()
        for connection in (kept, other):
            connection.sendall(ending.request(path))
            response = answer(connection)
            assert response.status == 200
            assert is_last(response)
            assert connection.recv(1) == b""
        with ending.connected() as new:
            new.sendall(ending.request(path))
            assert is_last(answer(new))


def test_a_request_under_way_is_answered(ending: Ending) -> None:
    body = b'{"city": 7}'
    head = b"POST /customer/address HTTP/1.1\r\nHost: x\r\nX-Api-Key: %b\r\nContent-Length: %d\r\n\r\n"
    with ending.connected() as connection:
        connection.sendall(head % (ending.customer.key.encode(), len(body)))
        time.sleep(0.1)
        ending.end()
        time.sleep(QUIET * 2 + 1.5)  # long after everything else has ended
        connection.sendall(body)
        response = answer(connection)
        assert response.status == 400
        assert is_last(response)


def test_before_it_stops_listening_the_kernel_drops_new_connections(ending: Ending) -> None:
    """Closing the socket resets what waits in its queue, so nothing may come in any more by then."""
    found: list[str] = []
    with ending.connected() as busy:  # which gives the end some time
        busy.sendall(b"POST /order HTTP/1.1\r\nHost: shop\r\nContent-Length: 9\r\n\r\n{")
        address = urlsplit(ending.service.url)
        ending.end()
        while found[-1:] != ["refused"]:
            try:
                socket.create_connection((address.hostname, address.port or 0), timeout=0.05).close()
                found.append("taken")
            except TimeoutError:
                found.append("dropped")
            except ConnectionRefusedError:
                found.append("refused")
    assert list(dict.fromkeys(found)) == ["taken", "dropped", "refused"]


def test_an_idle_connection_is_closed_and_no_new_one_is_taken(ending: Ending) -> None:
    with ending.connected() as idle, ending.connected() as used:
        used.sendall(ending.request("/customer"))
        assert not is_last(answer(used))
        ending.end()
        assert idle.recv(1) == b""
        assert used.recv(1) == b""
    with pytest.raises(OSError, match=r"refused|timed out"), ending.connected():
        pass
