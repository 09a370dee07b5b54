"""A stopping service announces the stop, responds to every request, and only then refuses connections."""

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
from tradecounter.sites.http.winding_down import Server

pytestmark = pytest.mark.long

QUIET = 0.5


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the delays, to keep the tests fast."""
    monkeypatch.setattr(Server, "quiet_seconds", QUIET)
    monkeypatch.setattr(Server, "longest_announcement", 1.0)


@dataclass
class StoppingService:
    """A service that a test stops."""

    service: Service
    customer: Customer
    stop_requested: threading.Event

    def stop(self) -> None:
        """Request the stop, and wait until the service has noticed."""
        self.stop_requested.set()
        wait_for(self.service.application.stopping.is_set)

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        address = urlsplit(self.service.url)
        with socket.create_connection((address.hostname, address.port or 0), timeout=10) as connection:
            yield connection

    def request(self, path: str) -> bytes:
        return f"GET {path} HTTP/1.1\r\nHost: shop\r\nX-Api-Key: {self.customer.key}\r\n\r\n".encode()


@pytest.fixture
def stopping(database_url: str) -> Iterator[StoppingService]:
    stop_requested, ready = threading.Event(), threading.Event()
    found: list[StoppingService] = []

    def run() -> None:
        with running_service(database_url) as service:
            stock_shop(service)
            customer = service.customer()
            assert customer.get("/customer").status_code == 200
            service.close()
            found.append(StoppingService(service, customer, stop_requested))
            ready.set()
            stop_requested.wait(60)

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(30)
    try:
        yield found[0]
    finally:
        stop_requested.set()
        thread.join(30)


def read_response(connection: socket.socket) -> HTTPResponse:
    """Read one response to its stop."""
    response = HTTPResponse(connection)
    response.begin()
    response.read()
    return response


def is_last(response: HTTPResponse) -> bool:
    return response.getheader("connection") == "close"


def test_eight_reconnecting_clients_lose_no_request(stopping: StoppingService) -> None:
    paths = ["/product?limit=2", "/customer", "/check-health", "/product?query=phone"]
    headers = {"X-Api-Key": stopping.customer.key, "Accept": "application/json"}
    with steady_clients(8, stopping.service.url, paths, headers) as clients:
        wait_for(lambda: clients.statuses[200] > 100)
        stopping.stop()
        wait_for(lambda: clients.gone + len(clients.broken) == 8)
    assert clients.broken == []
    assert set(clients.statuses) == {200}
    assert clients.closed >= 8


@pytest.mark.parametrize("path", ["/product?limit=1", "/customer"])
def test_every_response_closes_its_connection_even_when_cached(stopping: StoppingService, path: str) -> None:
    with stopping.connected() as kept, stopping.connected() as other:
        for _ in range(3):
            kept.sendall(stopping.request(path))
            assert not is_last(read_response(kept))
        stopping.stop()
        for connection in (kept, other):
            connection.sendall(stopping.request(path))
            response = read_response(connection)
            assert response.status == 200
            assert is_last(response)
            assert connection.recv(1) == b""
        with stopping.connected() as new:
            new.sendall(stopping.request(path))
            assert is_last(read_response(new))


def test_a_request_in_progress_gets_its_response(stopping: StoppingService) -> None:
    body = b'{"city": 7}'
    head = b"POST /customer/address HTTP/1.1\r\nHost: x\r\nX-Api-Key: %b\r\nContent-Length: %d\r\n\r\n"
    with stopping.connected() as connection:
        connection.sendall(head % (stopping.customer.key.encode(), len(body)))
        time.sleep(0.1)
        stopping.stop()
        time.sleep(QUIET * 2 + 1.5)  # long after everything else has stopped
        connection.sendall(body)
        response = read_response(connection)
        assert response.status == 400
        assert is_last(response)


def test_the_kernel_drops_new_connections_before_the_service_stops_listening(stopping: StoppingService) -> None:
    """Closing the socket resets the connections in its queue, so the queue must be empty by then."""
    found: list[str] = []
    with stopping.connected() as busy:  # delays the stop
        busy.sendall(b"POST /order HTTP/1.1\r\nHost: shop\r\nContent-Length: 9\r\n\r\n{")
        address = urlsplit(stopping.service.url)
        stopping.stop()
        while found[-1:] != ["refused"]:
            try:
                socket.create_connection((address.hostname, address.port or 0), timeout=0.05).close()
                found.append("accepted")
            except TimeoutError:
                found.append("dropped")
            except ConnectionRefusedError:
                found.append("refused")
    assert list(dict.fromkeys(found)) == ["accepted", "dropped", "refused"]


def test_an_idle_connection_is_closed_and_new_ones_are_refused(stopping: StoppingService) -> None:
    with stopping.connected() as idle, stopping.connected() as used:
        used.sendall(stopping.request("/customer"))
        assert not is_last(read_response(used))
        stopping.stop()
        assert idle.recv(1) == b""
        assert used.recv(1) == b""
    with pytest.raises(OSError, match=r"refused|timed out"), stopping.connected():
        pass
