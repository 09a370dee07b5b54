"""How many connections there may be, and what becomes of those whose client takes nothing."""

import asyncio
import json
import resource
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvloop
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from support.error_bodies import error_body
from support.protocol import Served, Server, serving
from tradecounter.edge.server.connection.connections import Connections
from tradecounter.sites.http.fast_path.protocol import FastPathProtocol

WHOLE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
LONG = 4_000_000


class Impatient(FastPathProtocol):
    longest_stuck_seconds = 0.5
    linger_seconds = 0.2


class Brief(Served):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("done")(scope, receive, send)


class Long(Served):
    """Responds at length, in one piece or in many; notes how much was sent."""

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self.sent = 0
        self.ended = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/whole":
            await Response(bytes(LONG))(scope, receive, send)
        else:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for _ in range(LONG // 1000):
                await send({"type": "http.response.body", "body": bytes(1000), "more_body": True})
                self.sent += 1000
            await send({"type": "http.response.body", "body": b""})
        self.ended.set()


def bounded(most: int = 1000, most_per_address: int = 1000, trusted: str | None = None) -> Connections:
    return Connections(most, most_per_address, lambda peer: peer == trusted, sweep_seconds=0.02)


def run(app: Callable[[], Served], work: Callable[[Server, Any], Awaitable[None]]) -> None:
    async def main() -> None:
        made = app()
        async with asyncio.timeout(20), serving(made, Impatient) as server:
            await work(server, made)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


async def first_bytes(server: Server, count: int = 12) -> bytes:
    reader, writer = await server.connect()
    writer.write(WHOLE)
    return await reader.readexactly(count)


def test_one_connection_too_many_is_rejected_until_another_one_ends() -> None:
    async def work(server: Server, _app: Served) -> None:
        others = [await server.connect() for _ in range(3)]
        await server.has(3)
        reader, writer = await server.connect()
        writer.write(WHOLE)
        head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 503 ")
        assert {b"Retry-After: 5", b"Connection: close", b"Content-Type: application/json"} <= set(head.split(b"\r\n"))
        assert json.loads(body) == error_body("unavailable", "too many connections; try again in 5 seconds")
        others[0][1].close()
        await server.has(2)
        assert await first_bytes(server) == b"HTTP/1.1 200"

    run(lambda: Brief(bounded(most=3)), work)


@pytest.mark.parametrize("trusted", [None, "127.0.0.1"])
def test_only_a_trusted_proxy_may_have_more_than_others_from_one_address(trusted: str | None) -> None:
    async def work(server: Server, _app: Served) -> None:
        for _ in range(3):
            await server.connect()
        await server.has(3)
        assert await first_bytes(server) == (b"HTTP/1.1 200" if trusted else b"HTTP/1.1 503")

    run(lambda: Brief(bounded(most_per_address=3, trusted=trusted)), work)


def test_rejected_connections_take_few_lines_of_the_log() -> None:
    async def work(server: Server, _app: Served) -> None:
        with capture_logs() as logs:
            for _ in range(40):
                await first_bytes(server)
        expected = {"setting": "TRADECOUNTER_MAX_CONNECTIONS_PER_ADDRESS", "address": "127.0.0.1"}
        assert logs == [{"event": "connection rejected", "log_level": "warning", **expected}]

    run(lambda: Brief(bounded(most_per_address=0)), work)


def test_no_rejected_client_keeps_its_connection() -> None:
    async def work(server: Server, app: Served) -> None:
        opened = [await server.connect() for _ in range(100)]
        for reader, _ in opened:
            assert (await reader.read(-1)).startswith(b"HTTP/1.1 503")
        await server.is_quiet()
        assert len(app.connections) == 0

    run(lambda: Brief(bounded(most=0)), work)


class Opened:
    """A connection that is counted, and no more."""

    def cut_if_stuck(self, now: float) -> bool:
        return False

    def announce_end(self) -> None:
        raise AssertionError


@pytest.mark.parametrize(
    ("first", "second", "are_one"),
    [
        ("192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        (None, None, False),
    ],
)
def test_ipv6_addresses_count_by_their_subnet(first: str | None, second: str | None, are_one: bool) -> None:
    async def main() -> None:
        connections = bounded(most_per_address=1)
        one, other, third = Opened(), Opened(), Opened()
        assert connections.admit(one, first)
        assert connections.admit(other, second) is not are_one
        connections.forget(one)
        connections.forget(other)
        assert connections.admit(third, first)

    asyncio.run(main())


@pytest.mark.sweep
@pytest.mark.parametrize("path", [b"/whole", b"/pieces"])
@pytest.mark.parametrize("close", [b"", b"Connection: close\r\n"], ids=["kept", "closed after it"])
def test_a_client_that_takes_nothing_is_cut_off(path: bytes, close: bytes) -> None:
    async def work(server: Server, app: Long) -> None:
        _, writer = await server.connect(receive_buffer=4096)
        with capture_logs() as logs:
            writer.write(b"GET %b HTTP/1.1\r\nHost: x\r\n%b\r\n" % (path, close))
            await app.ended.wait()
            await server.is_quiet()
        assert app.sent == LONG or path == b"/whole"
        assert [line["event"] for line in logs] == ["connection cut: its client does not read"]

    run(lambda: Long(bounded()), work)


@pytest.mark.sweep
def test_a_client_that_takes_little_at_a_time_gets_all() -> None:
    async def work(server: Server, _app: Long) -> None:
        reader, writer = await server.connect(receive_buffer=4096)
        start = asyncio.get_running_loop().time()
        writer.write(b"GET /whole HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        taken = 0
        while piece := await reader.read(60_000):
            taken += len(piece)
            if taken < LONG * 3 // 4:
                await asyncio.sleep(0.01)
        assert taken > LONG
        assert asyncio.get_running_loop().time() - start > 2 * Impatient.longest_stuck_seconds

    run(lambda: Long(bounded()), work)


def test_what_waits_for_a_pipelining_client_that_never_reads_stays_small() -> None:
    async def work(server: Server, app: Long) -> None:
        _, writer = await server.connect(receive_buffer=4096)
        writer.write(b"GET /whole HTTP/1.1\r\nHost: x\r\n\r\n" * 1000)
        await app.ended.wait()
        [connection] = server.state.connections
        assert isinstance(connection, FastPathProtocol)
        assert connection.transport.get_write_buffer_size() < 2 * LONG
        await server.is_quiet()

    run(lambda: Long(bounded()), work)


def test_files_running_out_are_logged() -> None:
    async def work(server: Server, _app: Served) -> None:
        await first_bytes(server)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        with capture_logs() as logs:
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
            try:
                await asyncio.sleep(0.1)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        assert [line["event"] for line in logs] == ["no file can be opened: connections are lost"]

    run(lambda: Brief(bounded()), work)


def test_where_few_connections_fit_one_address_has_a_quarter_of_them() -> None:
    for fit, of_one_address in ((4000, 1000), (2000, 500), (100, 25), (3, 1)):
        connections = Connections(4096, 1000, lambda _: False)
        connections.limit_to(fit)
        assert (connections.most, connections.most_per_address) == (fit, of_one_address)


def test_where_all_connections_fit_the_limits_are_those_of_the_settings() -> None:
    connections = Connections(4096, 3000, lambda _: False)
    connections.limit_to(4096)
    assert (connections.most, connections.most_per_address) == (4096, 3000)
