"""Honest clients beside hostile ones: a steady, moderate load whose every response is checked and timed."""

import asyncio
import itertools
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import Queue
from urllib.parse import urlencode

from rigs.fuzz.raw_client import RawResponse, read_response
from rigs.fuzz.raw_requests import Buyer
from support.people import PASSWORD
from support.shop import STANDARD, order

PATIENCE_SECONDS = 20.0
_CONNECTIONS = 24
_ADDRESS = "127.7.0.1"

# Requests a second. A core serves some hundreds of these, mixed; near its limit, only waiting for the processor would
# be measured.
RATES = {
    "page from memory": 10.0,
    "page not asked before": 5.0,
    "/customer": 10.0,
    "order and confirm": 2.0,
    "sign in": 1.0,
}


@dataclass(frozen=True)
class Sample:
    """One honest request: when it was due (on the monotonic clock), how long it took, and what was wrong with it."""

    due: float
    kind: str
    seconds: float
    fault: str = ""


class WrongResponseError(Exception):
    """A response is not what it should be."""


class Clients:
    """A pool of connections that are kept open."""

    def __init__(self, host: str, port: int) -> None:
        self._place = host, port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._free = asyncio.Semaphore(_CONNECTIONS)
        self._ids = itertools.count(1)

    async def fetch(self, method: str, target: str, key: str, body: bytes = b"", status: int = 200) -> RawResponse:
        """Call the API and return its response. Raises WrongResponseError or an error of the connection."""
        lines = [f"X-Api-Key: {key}", "Accept: application/json"]
        return await self._send(f"{method} {target}", [*lines, "Content-Type: application/json"], body, status)

    async def send_form(self, target: str, fields: dict[str, str], status: int) -> RawResponse:
        """Send the form of a page, as a browser does. Raises as `fetch`."""
        lines = ["Sec-Fetch-Site: same-origin", "Content-Type: application/x-www-form-urlencoded"]
        return await self._send(f"POST {target}", lines, urlencode(fields).encode(), status)

    async def _send(self, request: str, lines: list[str], body: bytes, status: int) -> RawResponse:
        request_id = f"honest-{next(self._ids)}"
        lines = [f"{request} HTTP/1.1", "Host: shop.example", f"X-Request-Id: {request_id}", *lines]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        async with self._free:
            reader, writer = self._idle.pop() if self._idle else await self._connect()
            try:
                writer.write("\r\n".join([*lines, "", ""]).encode() + body)
                response = await read_response(reader, {})
            except BaseException:
                writer.close()
                raise
            if response.headers.get("connection") == "close":
                writer.close()
            else:
                self._idle.append((reader, writer))
        if response.status != status or response.id != request_id:
            raise WrongResponseError(f"{response.status} for {response.id!r}: {response.body[:200]!r}")
        return response

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(*self._place, local_addr=(_ADDRESS, 0))


class Honest:
    """The requests of honest customers, by kind."""

    def __init__(self, clients: Clients, buyers: list[Buyer]) -> None:
        self._clients = clients
        self._buyers = itertools.cycle(buyers)
        self._numbers = itertools.count(1)
        self.kinds: dict[str, Callable[[], object]] = {
            "page from memory": self._page,
            "page not asked before": self._new_page,
            "/customer": self._account,
            "order and confirm": self._order,
            "sign in": self._sign_in,
        }

    async def _page(self) -> None:
        response = await self._clients.fetch("GET", "/product?limit=100", next(self._buyers).key)
        _require(len(json.loads(response.body)) == 100, response)

    async def _new_page(self) -> None:
        target = f"/product?limit=20&sort=price&query=product&x={next(self._numbers)}"
        response = await self._clients.fetch("GET", target, next(self._buyers).key)
        _require(len(json.loads(response.body)) == 20, response)

    async def _account(self) -> None:
        buyer = next(self._buyers)
        response = await self._clients.fetch("GET", "/customer", buyer.key)
        _require(json.loads(response.body)["email_address"] == buyer.email, response)

    async def _order(self) -> None:
        buyer, reference = next(self._buyers), f"PO-{next(self._numbers)}"
        body = json.dumps(order(customer_reference=reference)).encode()
        created = json.loads((await self._clients.fetch("POST", "/order", buyer.key, body, 201)).body)
        choice = json.dumps({"shipping_method": {"id": STANDARD}}).encode()
        response = await self._clients.fetch("PUT", f"/order/{created['confirmation_code']}", buyer.key, choice)
        _require(json.loads(response.body)["customer_reference"] == reference, response)

    async def _sign_in(self) -> None:
        fields = {"email": next(self._buyers).user, "password": PASSWORD, "next": ""}
        response = await self._clients.send_form("/account/sign-in", fields, 303)
        _require(response.headers.get("location") == "/account", response)


def _require(condition: bool, response: RawResponse) -> None:
    if not condition:
        raise WrongResponseError(f"not the expected response: {response.body[:200]!r}")


def _dues(rate: float, start: float) -> Iterator[float]:
    return (start + number / rate for number in itertools.count())


def run_honest_clients(host: str, port: int, buyers: list[Buyer], samples: "Queue[list[Sample]]") -> None:
    """Send requests until the process ends; hand over the samples every second."""
    asyncio.run(_run(host, port, buyers, samples))


async def _run(host: str, port: int, buyers: list[Buyer], samples: "Queue[list[Sample]]") -> None:
    honest = Honest(Clients(host, port), buyers)
    taken: list[Sample] = []

    async def one(kind: str, due: float) -> None:
        fault = ""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await honest.kinds[kind]()  # type: ignore[misc]
        except Exception as error:  # noqa: BLE001 whatever it is, it is a fault
            fault = f"{type(error).__name__}: {error}"
        # Counted from when it was due: a client that waits for its turn waits, too.
        taken.append(Sample(due, kind, time.monotonic() - due, fault))

    async def steadily(kind: str, rate: float) -> None:
        async with asyncio.TaskGroup() as requests:
            for due in _dues(rate, time.monotonic()):
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                requests.create_task(one(kind, due))

    async with asyncio.TaskGroup() as streams:
        for kind, rate in RATES.items():
            streams.create_task(steadily(kind, rate))
        while True:
            await asyncio.sleep(1)
            samples.put(taken.copy())
            taken.clear()
