"""A receiver of webhooks, which answers as tests say, and the deliverer that posts to it."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

from support.service import Service
from tradecounter.edge.outbound_http import HttpSender
from tradecounter.kit.clock import Clock
from tradecounter.webhooks.deliver import Deliverer, deliver_all
from tradecounter.webhooks.manage import WebhookPolicy

LOOPBACK = (ip_network("127.0.0.0/8"),)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass(frozen=True, slots=True)
class Received:
    """A request as the receiver read it."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


Script = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


async def accept(_request: Received, writer: asyncio.StreamWriter) -> None:
    writer.write(OK)


def answering(*answers: bytes) -> Script:
    """Give these answers one after another, then accept all."""
    left = list(answers)

    async def answer(_request: Received, writer: asyncio.StreamWriter) -> None:
        writer.write(left.pop(0) if left else OK)

    return answer


def status(number: int, *headers: str, body: str = "") -> bytes:
    lines = [f"HTTP/1.1 {number} Status", *headers, f"Content-Length: {len(body)}", "", body]
    return "\r\n".join(lines).encode()


@dataclass
class Receiver:
    """A receiver at a free port of this machine; `script` answers."""

    script: Script = accept
    url: str = ""
    received: list[Received] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {n.lower(): v for n, _, v in (line.partition(": ") for line in head[1:] if line)}
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            request = Received(head[0].split()[1], headers, body)
            self.received.append(request)
            await self.script(request, writer)
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    @property
    def events(self) -> list[dict[str, Any]]:
        return [request.event for request in self.received]


@asynccontextmanager
async def receiving(script: Script = accept, tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """Run a receiver while the block runs."""
    receiver = Receiver(script)
    server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, ssl=tls)
    receiver.url = f"{'https' if tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook?a=b"
    try:
        yield receiver
    finally:
        server.close()


def sender(**options: Any) -> HttpSender:
    """A sender that may connect to this machine, over plain http too."""
    return HttpSender(**{"networks": LOOPBACK, "allow_http": True, **options})


def policy_of(service: Service) -> WebhookPolicy:
    """What endpoints of tests may be: addresses of this machine too."""
    made = WebhookPolicy.from_settings(service.settings)
    return WebhookPolicy(LOOPBACK, allow_http=True, vault=made.vault)


async def deliver(service: Service, *, clock: Clock | None = None, through: HttpSender | None = None) -> None:
    """Attempt all deliveries that are due, as the worker does."""
    await deliver_all(
        Deliverer(service.commands, clock or service.clock, policy_of(service).vault, through or sender())
    )


def subjects(received: Sequence[Received]) -> list[str]:
    return [request.event["subject"] for request in received]
