"""The real API over real HTTP: a server on a free port in a thread of its own, on a database of its own."""

import asyncio
import itertools
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from typing import Any, TypeVar

import httpx2
import msgspec

from support.interface import checked_client
from tradecounter.bulk.import_options import ImportOptions, ImportReport
from tradecounter.bulk.rows import Row
from tradecounter.customers.queries.accounts import add_account
from tradecounter.customers.settings import CustomerChange
from tradecounter.db.pool import Database
from tradecounter.db.transaction import Transaction, transaction
from tradecounter.edge.permissions import KeyScope
from tradecounter.identity.queries.api_keys import add_key
from tradecounter.imports.kinds import IMPORT_KINDS
from tradecounter.imports.run import import_and_commit
from tradecounter.kit.clock import FrozenClock, SystemClock
from tradecounter.settings import Settings
from tradecounter.sites.back_office import BackOffice
from tradecounter.sites.http.server import database_for_requests, listen, run_server
from tradecounter.sites.public import Application

Result = TypeVar("Result")

# A Tuesday in summer time, before every cut-off.
MORNING = datetime(2026, 6, 16, 8, 0, tzinfo=UTC)

# Tests say when the server notices changes (`Service.refresh`), so that nothing depends on timing. They stand in for a
# proxy in front of many callers, and may ask as often as they like.
SETTINGS = Settings(
    secret_key="s" * 64,
    refresh_interval=timedelta(hours=1),
    stale_after=timedelta(days=1),
    trusted_proxies="127.0.0.1",
    rate_limit=0,
    security_contact="security@shop.example",
)

_numbers = itertools.count(1)


def unused_client_address() -> str:
    """An address that no other client has."""
    return str(IPv4Address(0x0A000000 + next(_numbers)))


def own_address(request: httpx2.Request) -> None:
    """Have a request come from an address of its own, unless the test says from where: wrong credentials block one."""
    if "X-Forwarded-For" not in request.headers:
        request.headers["X-Forwarded-For"] = unused_client_address()


def run_on(loop: asyncio.AbstractEventLoop, work: Callable[[], Awaitable[Result]]) -> Result:
    """Run something on the event loop of another thread and wait for it."""

    async def run() -> Result:
        return await work()

    return asyncio.run_coroutine_threadsafe(run(), loop).result(timeout=60)


@dataclass
class Customer:
    """A customer of a test, and a client that calls the API with its key."""

    id: int
    key: str
    http: httpx2.Client

    def get(self, path: str, **options: Any) -> httpx2.Response:
        return self.http.get(path, **options)

    def post(self, path: str, json: Any = None, **options: Any) -> httpx2.Response:
        return self.http.post(path, json=json, **options)

    def put(self, path: str, json: Any = None, **options: Any) -> httpx2.Response:
        return self.http.put(path, json=json, **options)

    def delete(self, path: str, **options: Any) -> httpx2.Response:
        return self.http.delete(path, **options)


@dataclass
class Service:
    """A running API with what tests need to set it up; everything goes through the project's own use cases."""

    url: str
    database_url: str
    clock: FrozenClock
    application: Application
    commands: Database  # for what the command line does: it waits for locks as long as it takes
    settings: Settings
    loop: asyncio.AbstractEventLoop
    clients: list[httpx2.Client] = field(default_factory=list)

    def call(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run something on the server's own event loop and wait for it."""
        return run_on(self.loop, work)

    def reconnect(self) -> None:
        """Replace the connections of commands, which broke when the database was away."""
        self.call(self.commands.renew)

    def in_transaction(self, work: Callable[[Transaction], Awaitable[Result]]) -> Result:
        """Run a use case in a transaction of its own."""

        async def run() -> Result:
            async with transaction(self.commands) as tx:
                return await work(tx)

        return self.call(run)

    def refresh(self) -> None:
        """Make the server notice changes in the database immediately."""
        self.call(self.application.refresher.refresh)

    def run_import(
        self, kind: str, rows: Iterable[dict[str, Any]], *, on_hand: bool = False, force: bool = True, **options: Any
    ) -> ImportReport:
        """Import rows of a kind, as the command line does."""
        shape = IMPORT_KINDS[kind].shape
        typed = [Row(line, msgspec.convert(row, shape, strict=False)) for line, row in enumerate(rows, start=1)]
        wanted = ImportOptions(confirmed=True, force=force, **options)
        return self.call(
            lambda: import_and_commit(
                self.application.database, kind, iter(typed), wanted, now=SystemClock().now(), on_hand=on_hand
            )
        )

    def load(self, kind: str, rows: Iterable[dict[str, Any]], **options: Any) -> ImportReport:
        """Import rows of a kind, as the command line does, and let the server notice."""
        report = self.run_import(kind, rows, **options)
        self.refresh()
        return report

    def must_load(self, kind: str, rows: Iterable[dict[str, Any]], **options: Any) -> ImportReport:
        """Import rows; fails unless all are valid."""
        report = self.load(kind, rows, **options)
        assert not report.errors, report.errors
        return report

    def client(self, **headers: str) -> httpx2.Client:
        """A client without a key unless the headers contain one; checks responses against the interface document."""
        made = checked_client(base_url=self.url, headers={"Accept": "application/json", **headers})
        made.event_hooks["request"].append(own_address)
        self.clients.append(made)
        return made

    def customer(self, *, credit: str | None = "1000000.00", term_days: int = 30, **values: Any) -> Customer:
        """A new customer with an API key; by default with ample credit, a trade account and no order mails."""
        number = next(_numbers)
        change = CustomerChange(
            **{
                "email_address": f"customer{number}@test.example",
                "first_name": "Test",
                "last_name": f"Customer {number}",
                "trade_account": True,
                "order_mails": False,
                "credit_limit": credit,
                "term_days": None if credit is None else term_days,
                **values,
            }
        )

        async def add(tx: Transaction) -> tuple[int, str]:
            account = await add_account(tx, change)
            return account.id, (await add_key(tx, account.id, "test", self.clock.now())).key

        customer_id, key = self.in_transaction(add)
        return Customer(customer_id, key, self.client(**{"X-Api-Key": key}))

    def limited(self, customer: Customer, *scopes: KeyScope, **limits: Any) -> httpx2.Client:
        """A client with another key of a customer, with limits; without scopes, the key has all."""

        async def add(tx: Transaction) -> str:
            return (await add_key(tx, customer.id, "limited", self.clock.now(), scopes=scopes or None, **limits)).key

        return self.client(**{"X-Api-Key": self.in_transaction(add)})

    def close(self) -> None:
        for client in self.clients:
            client.close()


@dataclass
class Site:
    """A running site of either kind."""

    url: str
    clock: FrozenClock
    site: Any
    settings: Settings
    commands: Database
    loop: asyncio.AbstractEventLoop

    def call(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """Run something on the site's own event loop and wait for it."""
        return run_on(self.loop, work)


@contextmanager
def running_backoffice(service: Service, **settings: Any) -> Iterator[Site]:
    """Serve the back office on a service's database, with its clock, while the block runs."""
    chosen = replace(service.settings, **settings)
    with running_site(BackOffice, service.database_url, service.clock, chosen) as site:
        yield site


@contextmanager
def running_service(
    database_url: str, *, now: datetime = MORNING, kind: type[Application] = Application, **settings: Any
) -> Iterator[Service]:
    """Serve the API on a database while the block runs; settings are those of the tests but for the ones given."""
    with running_site(kind, database_url, FrozenClock(now), replace(SETTINGS, **settings)) as site:
        service = Service(site.url, database_url, site.clock, site.site, site.commands, site.settings, site.loop)
        try:
            yield service
        finally:
            service.close()


@contextmanager
def running_site(kind: Any, database_url: str, clock: FrozenClock, chosen: Settings) -> Iterator[Site]:
    """Serve a kind of site in a thread of its own while the block runs."""
    listener = listen("127.0.0.1", 0)
    database = database_for_requests(chosen, database_url)
    application = kind(chosen, database, clock)
    commands = Database(database_url, connections=chosen.database_connections)
    ready: threading.Event = threading.Event()
    state: dict[str, Any] = {}

    async def serve() -> None:
        state["loop"], state["stop"] = asyncio.get_running_loop(), asyncio.Event()
        async with commands, run_server(application, listener):
            ready.set()
            await state["stop"].wait()

    def run() -> None:
        try:
            asyncio.run(serve())
        except BaseException as error:
            state["error"] = error
            raise
        finally:
            ready.set()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait(timeout=30)
    if "error" in state:
        raise state["error"]
    try:
        yield Site(listener.url, clock, application, chosen, commands, state["loop"])
    finally:
        state["loop"].call_soon_threadsafe(state["stop"].set)
        thread.join(timeout=30)
