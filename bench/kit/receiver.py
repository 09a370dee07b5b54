"""A receiver of webhooks that accepts everything at once, in a thread of its own, and counts."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

_ACCEPTED = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
_LENGTH = b"content-length:"


@dataclass(slots=True)
class Receiver:
    """Where it listens, and how many requests it has accepted."""

    port: int = 0
    accepted: int = 0


class _Delivery(asyncio.Protocol):
    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, end, body = self._received.partition(b"\r\n\r\n")
        if end and len(body) >= _length(head):
            self._received = b""
            self._receiver.accepted += 1
            if isinstance(self._transport, asyncio.WriteTransport):
                self._transport.write(_ACCEPTED)


def _length(head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    return next((int(line.removeprefix(_LENGTH)) for line in lines if line.startswith(_LENGTH)), 0)


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Receive while the block runs."""
    receiver, loop, listening = Receiver(), asyncio.new_event_loop(), threading.Event()

    async def listen() -> None:
        server = await loop.create_server(lambda: _Delivery(receiver), "127.0.0.1", 0)
        receiver.port = server.sockets[0].getsockname()[1]
        listening.set()

    def run() -> None:
        loop.run_until_complete(listen())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    listening.wait()
    try:
        yield receiver
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
