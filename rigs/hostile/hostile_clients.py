"""Hostile clients of a soak: they never read, dawdle, flood, guess keys and passwords, send trailers, or vanish.

They stay well below what the machine can do, since on another machine they would take none of its processor time. What
they try to use up is memory, connections, locks and patience. None of them minds being rejected or hung up on.
"""

import asyncio
import itertools
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv4Address
from random import Random
from typing import Any

from support.shop import STANDARD, order

_ADDRESSES = itertools.count(int(IPv4Address("127.66.0.1")))
_GUESSERS = int(IPv4Address("198.51.100.0"))
_LONG_LISTS = ("/product?limit=0", "/product?limit=0&accept=text/csv", "/order?limit=0", "/customer/credit")
_PATIENCE_SECONDS = 60.0
_SMALL_BUFFER = 4096

COUNTS = {
    "never read": 40,
    "idle": 60,
    "slow heads": 40,
    "slow bodies": 40,
    "flood": 30,
    "keys": 2,
    "passwords": 60,
    "trailers": 4,
    "vanish": 2,
}


class Hostile:
    """The hostile clients, all with the good key of one customer where they need one."""

    def __init__(self, host: str, port: int, key: str, seed: int) -> None:
        self._place = host, port
        self._key = key
        self._chance = Random(seed)  # noqa: S311 no secret
        self._burst = asyncio.Event()
        self.kinds: dict[str, Callable[[], Awaitable[None]]] = {
            "never read": self._never_read,
            "idle": self._idle,
            "slow heads": self._slow_head,
            "slow bodies": self._slow_body,
            "flood": self._flood,
            "keys": self._guess_keys,
            "passwords": self._guess_passwords,
            "trailers": self._send_trailers,
            "vanish": self._vanish,
        }

    async def run(self) -> None:
        """Go on until cancelled."""
        async with asyncio.TaskGroup() as clients:
            clients.create_task(self._bursts())
            for kind, count in COUNTS.items():
                for _ in range(count):
                    clients.create_task(self._again_and_again(self.kinds[kind]))

    async def _again_and_again(self, client: Callable[[], Awaitable[None]]) -> None:
        await asyncio.sleep(self._chance.uniform(0, 2))
        while True:
            with suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                await client()
            await asyncio.sleep(self._chance.uniform(0, 1))

    async def _bursts(self) -> None:
        while True:
            await asyncio.sleep(0.5)
            self._burst.set()
            self._burst = asyncio.Event()

    @asynccontextmanager
    async def _connected(self, address: str = "") -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        plain = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
        plain.bind((address or str(IPv4Address(next(_ADDRESSES))), 0))
        plain.settimeout(0)
        await asyncio.get_running_loop().sock_connect(plain, self._place)
        reader, writer = await asyncio.open_connection(sock=plain, limit=_SMALL_BUFFER)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()

    def _head(self, method: str, target: str, *lines: str, key: str = "") -> bytes:
        head = [f"{method} {target} HTTP/1.1", "Host: shop.example", f"X-Api-Key: {key or self._key}", *lines, "", ""]
        return "\r\n".join(head).encode()

    async def _never_read(self) -> None:
        async with self._connected() as (_, writer):
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            target = self._chance.choice(_LONG_LISTS)
            version = self._chance.choice([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0"])
            writer.write(self._head("GET", target, "Accept: application/json").replace(b"HTTP/1.1", version, 1))
            await asyncio.sleep(_PATIENCE_SECONDS)

    async def _idle(self) -> None:
        async with self._connected() as (reader, _):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await reader.read()

    async def _slow_head(self) -> None:
        await self._drip(self._head("GET", "/product", *[f"X-{n}: {n}" for n in range(100)]))

    async def _slow_body(self) -> None:
        await self._drip(b"{" * 1000, after=self._head("POST", "/order", "Content-Length: 100000"))

    async def _drip(self, data: bytes, after: bytes = b"") -> None:
        async with self._connected() as (reader, writer), asyncio.timeout(_PATIENCE_SECONDS):
            writer.write(after)
            for byte in data:
                if reader.at_eof():
                    return
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.5)

    async def _flood(self) -> None:
        """Place an order at the same moment as all others; every other one is confirmed at once."""
        choice: dict[str, Any] = (
            {"auto_confirm": True, "shipping_method": {"id": STANDARD}} if self._chance.random() < 0.5 else {}
        )
        body = json.dumps(order(**choice)).encode()
        async with self._connected() as (reader, writer), asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                await self._burst.wait()
                writer.write(
                    self._head("POST", "/order", "Content-Type: application/json", f"Content-Length: {len(body)}")
                )
                writer.write(body)
                await reader.readuntil(b"}")

    async def _guess_keys(self) -> None:
        """Present wrong keys, through a trusted proxy, from some addresses that get blocked and many that do not."""
        async with self._connected("127.0.0.1") as (reader, writer), asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                address = IPv4Address(_GUESSERS + self._chance.choice([1, 2, 3, self._chance.randrange(4, 250)]))
                key = f"{self._chance.getrandbits(256):064x}"
                writer.write(self._head("GET", "/customer", f"X-Forwarded-For: {address}", key=key))
                await reader.readuntil(b"}")
                await asyncio.sleep(0.1)

    async def _guess_passwords(self) -> None:
        """Sign in at the same moment as all others, from one address, to account after account."""
        async with self._connected("127.65.0.1") as (reader, writer), asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                await self._burst.wait()
                body = f"email=person{self._chance.randrange(1, 9)}%40shop.example&password=guess-{next(_ADDRESSES)}"
                form = "Content-Type: application/x-www-form-urlencoded", f"Content-Length: {len(body)}"
                head = self._head("POST", "/account/sign-in", "Sec-Fetch-Site: same-origin", *form)
                writer.write(head + body.encode())
                await reader.readuntil(b"</html>")

    async def _send_trailers(self) -> None:
        head = self._head("POST", "/order", "Content-Type: application/json", "Transfer-Encoding: chunked")
        async with self._connected() as (reader, writer), asyncio.timeout(_PATIENCE_SECONDS):
            writer.write(head + b"2\r\n{}\r\n0\r\n")
            line = self._chance.choice([b"a:b\r\n" * 3000, b"x" * 15_000])
            while not reader.at_eof():
                writer.write(line)
                await writer.drain()
                await asyncio.sleep(0.05)

    async def _vanish(self) -> None:
        """Send many requests at once and reset the connection without reading a response."""
        async with self._connected() as (_, writer):
            writer.write(self._head("GET", "/customer") * 20 + self._head("GET", "/order?limit=0"))
            await asyncio.sleep(self._chance.choice([0, 0.01, 0.1]))


def be_hostile(host: str, port: int, key: str, seed: int) -> None:
    """Be hostile until the process is ended."""
    os.nice(10)
    asyncio.run(Hostile(host, port, key, seed).run())
