"""Customers and staff at work: they read the catalogue; place, confirm, dispatch and invoice orders; repeat nothing.

So every request without a good response is a failure. Connections are kept alive, as real clients keep them.
"""

import itertools
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

import httpx2

from rigs.kill.stories import Buyer
from support.backoffice import ALL_SCOPES
from support.orders import faults_in_the_books, rows
from support.service import SETTINGS, Service, running_service
from support.shop import STANDARD, order, stock_shop
from support.waiting import LONG, wait_for
from tradecounter.access.tokens import add_token
from tradecounter.kit.clock import SystemClock
from tradecounter.settings import PREFIX

ENVIRONMENT = {
    "SECRET_KEY": SETTINGS.secret_key,
    "TRUSTED_PROXIES": "127.0.0.1",
    "RATE_LIMIT": "0",
    "SELLER_NAME": "Trade & Sons",
    "SELLER_ADDRESS": "7 Sales Street, York, YO1 7HH",
    "SELLER_VAT_NUMBER": "GB123456782",
}
_ENOUGH = 1_000_000
_CUSTOMERS = 2
_PAUSE = 0.05  # seconds, after each request of a client
_READ = ("/product?limit=20", "/product/PHONE", "/customer", "/order?limit=5")


def environment(database_url: str, **more: str) -> dict[str, str]:
    """The settings of the processes that serve a shop."""
    return {
        f"{PREFIX}DATABASE_URL": database_url,
        **{f"{PREFIX}{name}": value for name, value in ENVIRONMENT.items() if value},
        **more,
    }


@dataclass
class Day:
    """Who works in a shop, what they got done, and which of their requests failed."""

    database_url: str
    customers: list[Buyer]
    token: str
    responses: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)  # references
    invoiced: list[str] = field(default_factory=list)
    _to_dispatch: SimpleQueue[str] = field(default_factory=SimpleQueue)
    _over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def at_work(self, public: str, backoffice: str) -> Iterator[None]:
        """Have them work while the block runs."""
        people: list[Callable[[], None]] = [partial(self._buy, public, customer) for customer in self.customers]
        people += [partial(self._read, public), partial(self._read, public), partial(self._dispatch, backoffice)]
        threads = [threading.Thread(target=person) for person in people]
        self._over.clear()
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._over.set()
            for thread in threads:
                thread.join(timeout=LONG)

    def goes_on(self) -> None:
        """Wait until one more order was placed, dispatched and invoiced, or a request failed."""
        done = len(self.invoiced)
        wait_for(lambda: len(self.invoiced) > done or self.failures)

    def faults(self) -> list[str]:
        """The failed requests, and what the database contradicts."""
        with running_service(self.database_url) as service:
            found = rows(service, "select order_reference from orders where state = 'confirmed'")
            missing = set(self.confirmed) - {reference for (reference,) in found}
            books = faults_in_the_books(service)
        return [*self.failures, *(f"{each} is lost" for each in missing), *(f"{k}: {v}" for k, v in books.items())]

    def _send(self, client: httpx2.Client, method: str, path: str, body: Any = None, key: str = "") -> Any:
        """The body of the response; None if the request failed."""
        self._over.wait(_PAUSE)
        try:
            response = client.request(method, path, json=body, headers={"Idempotency-Key": key} if key else {})
        except httpx2.TransportError as error:
            self.failures.append(f"{method} {path}: {error!r}")
            return None
        if not response.is_success:
            self.failures.append(f"{method} {path}: {response.status_code} {response.text[:200]}")
            return None
        self.responses[method] += 1
        return response.json()

    def _buy(self, public: str, customer: Buyer) -> None:
        with httpx2.Client(base_url=public, headers={"X-Api-Key": customer.key}, timeout=LONG) as client:
            for number in itertools.count():
                if self._over.is_set():
                    return
                key = f"{customer.id}-{id(client)}-{number}"
                created = self._send(client, "POST", "/order", order([("PHONE", 1), ("CABLE", 2)]), key)
                if created is None:
                    continue
                path = f"/order/{created['confirmation_code']}"
                placed = self._send(client, "PUT", path, {"shipping_method": {"id": STANDARD}})
                if placed is not None:
                    self.confirmed.append(placed["order_reference"])
                    self._to_dispatch.put(placed["order_reference"])

    def _read(self, public: str) -> None:
        headers = {"X-Api-Key": self.customers[0].key, "Accept": "application/json"}
        with httpx2.Client(base_url=public, headers=headers, timeout=LONG) as client:
            for path in itertools.cycle(_READ):
                if self._over.is_set():
                    return
                self._send(client, "GET", path)

    def _dispatch(self, backoffice: str) -> None:
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx2.Client(base_url=backoffice, headers=headers, timeout=LONG) as client:
            while not self._over.is_set():
                self._send(client, "GET", "/api/order?limit=5")
                try:
                    reference = self._to_dispatch.get(timeout=_PAUSE)
                except Empty:
                    continue
                dispatched = self._send(client, "POST", f"/api/order/{reference}/dispatch", {}, f"dispatch-{reference}")
                invoice = self._send(client, "POST", f"/api/order/{reference}/invoice", {}, f"invoice-{reference}")
                if dispatched is not None and invoice is not None:
                    self.invoiced.append(reference)


def fill(service: Service) -> tuple[list[Buyer], str]:
    """Give a shop plenty of everything; return its customers and a service token."""
    stock_shop(service)
    service.must_load("stock", [{"sku": sku, "available": _ENOUGH} for sku in ("PHONE", "CABLE")])
    made = [service.customer(credit="100000000.00") for _ in range(_CUSTOMERS)]
    now = service.clock.now()
    token = service.in_transaction(lambda tx: add_token(tx, "day", ALL_SCOPES, now))[1]
    return [Buyer(each.id, each.key) for each in made], token


def new_day(database_url: str) -> Day:
    """Open a shop on an empty database with the current schema."""
    with running_service(database_url, now=SystemClock().now()) as service:
        return Day(database_url, *fill(service))
