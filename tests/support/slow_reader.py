"""A client that takes a response one message at a time: what it has not taken, the service cannot have sent."""

import asyncio
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from support.service import Customer, Service, unused_client_address

Message = MutableMapping[str, Any]


class SlowReader:
    """A request to the application over ASGI, whose `send` waits until the client takes the message."""

    def __init__(self, service: Service, customer: Customer, path: str, accept: str) -> None:
        self._service = service
        parts = urlsplit(path)
        headers = {"host": "shop.example", "accept": accept, "x-api-key": customer.key}
        headers["x-forwarded-for"] = unused_client_address()
        self._scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": parts.path,
            "raw_path": parts.path.encode(),
            "root_path": "",
            "query_string": parts.query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
        }
        self._messages: asyncio.Queue[Message | BaseException] = asyncio.Queue()
        self._wanted = asyncio.Semaphore(0)
        self._task: asyncio.Task[None] | None = None

    def take(self) -> Message:
        """Take the next message of the response. Raises what the application raises instead."""

        async def next_message() -> Message | BaseException:
            if self._task is None:
                self._task = asyncio.create_task(self._run())
            self._wanted.release()
            return await self._messages.get()

        found = self._service.call(next_message)
        if isinstance(found, BaseException):
            raise found
        return found

    def rest(self) -> bytes:
        """Take all messages that are left; the part of the body in them."""
        body = bytearray()
        while True:
            message = self.take()
            body += message.get("body", b"")
            if not message.get("more_body", False):
                return bytes(body)

    def go_away(self) -> None:
        async def cancel() -> None:
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait([self._task])

        self._service.call(cancel)

    async def _run(self) -> None:
        try:
            await self._service.application(self._scope, self._receive, self._send)
        except Exception as error:  # noqa: BLE001 the client is told, whatever it is
            await self._messages.put(error)

    async def _receive(self) -> Message:
        await asyncio.Event().wait()
        return {}

    async def _send(self, message: Message) -> None:
        await self._wanted.acquire()
        await self._messages.put(message)


@contextmanager
def slow_reader(
    service: Service, customer: Customer, path: str, accept: str = "application/json"
) -> Iterator[SlowReader]:
    """A client that has asked, and takes nothing yet; it goes away at the end."""
    reader = SlowReader(service, customer, path, accept)
    try:
        yield reader
    finally:
        reader.go_away()
