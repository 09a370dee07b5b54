"""Receivers of webhooks beside a trial: real servers, which verify what they get and now and then fail."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from rigs.kill.sender import Sender
from support.receiver import OK, Received, receiving, status

_ONE_FAILURE_IN = 60  # events, at their first attempt; a second one would make them wait for five minutes


@dataclass
class Endpoint:
    """A webhook with its receiver: the attempts that arrived, and the ids of events that were accepted."""

    customer_id: int | None = None
    secret: str = ""
    url: str = ""
    attempts: list[dict[str, Any]] = field(default_factory=list)
    accepted: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    async def accept(self, request: Received, writer: asyncio.StreamWriter) -> None:
        """Verify an attempt and accept it; reject a few at first."""
        event = request.event
        try:
            Verifier(self.secret).verify(request.body, request.headers)
        except WebhookVerificationError as error:
            self.faults.append(f"{event}: {error}")
        if request.headers["webhook-id"] != event["id"]:
            self.faults.append(f"{event} came as {request.headers['webhook-id']}")
        is_new = event["id"] not in self._seen
        self._seen.add(event["id"])
        self.attempts.append(event)
        if is_new and crc32(event["id"].encode()) % _ONE_FAILURE_IN == 0:
            writer.write(status(500))
            return
        writer.write(OK)
        await writer.drain()
        self.accepted.add(event["id"])

    def add(self, sender: Sender, key: str) -> None:
        """Create the webhook."""
        whose = {} if self.customer_id is None else {"customer_id": self.customer_id}
        address = f"{sender.backoffice[0]}/api/webhook"
        headers = {"Authorization": f"Bearer {sender.token}", "Idempotency-Key": key}
        made = sender.http.post(address, json={"url": self.url, **whose}, headers=headers)
        made.raise_for_status()  # not repeated: a repetition would not show the secret
        self.secret = made.json()["secret"]


@contextmanager
def receiving_endpoints(*endpoints: Endpoint) -> Iterator[None]:
    """Run the receivers in a thread of their own while the block runs."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    stop = asyncio.Event()

    async def serve() -> None:
        async with AsyncExitStack() as stack:
            for endpoint in endpoints:
                endpoint.url = (await stack.enter_async_context(receiving(endpoint.accept))).url
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(timeout=30)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(timeout=30)
        loop.close()
