"""A primary that became a replica: writes and replays get 503 until a primary is found; no connection stays."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.errors import ReadOnlySqlTransaction

from support.service import Customer, Service, running_service
from support.shop import STANDARD, order, stock_shop
from support.waiting import wait_for
from tradecounter.db.embedded import EmbeddedPostgres
from tradecounter.db.migrate import upgrade
from tradecounter.db.pool import Database
from tradecounter.db.transaction import transaction

pytestmark = pytest.mark.long

BODY = order(auto_confirm=True, shipping_method={"id": STANDARD})
_BACKENDS = "select pid from pg_stat_activity where usename = 'tradecounter' and backend_type = 'client backend'"


class Demotable:
    """A server that can be turned into a replica and be promoted again, as fail-over software does."""

    def __init__(self, folder: Path) -> None:
        self._server = EmbeddedPostgres(folder)
        self._server.__enter__()
        self.url = self._server.url()

    def demote(self) -> None:
        self.stop()
        signal = self._server.data / "standby.signal"
        signal.touch()
        signal.chmod(0o666)
        self._server.__enter__()

    def promote(self) -> None:
        self._query("select pg_promote()")

    def backends(self) -> set[int]:
        """The processes that serve the service's connections."""
        return set(self._query(_BACKENDS))

    def stop(self) -> None:
        self._server.__exit__(None, None, None)

    def _query(self, query: str) -> list[int]:
        with psycopg.connect(self._server.administrator_url(), autocommit=True) as connection:
            return [row[0] for row in connection.execute(query.encode())]


@contextmanager
def demotable(folder: Path) -> Iterator[Demotable]:
    server = Demotable(folder)
    try:
        yield server
    finally:
        server.stop()


def place(customer: Customer, key: str) -> int:
    return customer.post("/order", BODY, headers={"Idempotency-Key": key}).status_code


async def acknowledge_earlier(url: str) -> None:
    async with Database(url, connections=1) as database, transaction(database) as tx:
        tx.acknowledge_earlier()


def can_read(customer: Customer) -> bool:
    return customer.get("/order").status_code == 200


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demotable]:
    with demotable(tmp_path_factory.mktemp("demotable")) as found:
        upgrade(found.url)
        yield found


@pytest.fixture(scope="module")
def shop(server: Demotable) -> Iterator[Service]:
    with running_service(server.url) as service:
        stock_shop(service)
        yield service


def test_writes_and_replays_wait_for_a_primary(server: Demotable, shop: Service) -> None:
    customer = shop.customer()
    assert place(customer, "before") == 201
    server.demote()
    wait_for(lambda: can_read(customer))
    assert place(customer, "new") == 503
    assert place(customer, "before") == 503
    with pytest.raises(ReadOnlySqlTransaction):  # becomes a 503
        asyncio.run(acknowledge_earlier(server.url))
    server.promote()
    assert place(customer, "new") == 201
    assert place(customer, "before") == 201


def test_no_connection_stays_with_a_former_primary(server: Demotable, shop: Service) -> None:
    shop.reconnect()
    customer = shop.customer()
    server.demote()
    wait_for(lambda: can_read(customer))
    used = server.backends()
    assert place(customer, "rejected") == 503
    wait_for(lambda: can_read(customer) and len(server.backends() & used) <= 1)  # the one that polls is not shared
    server.promote()


def test_a_url_of_several_machines_leads_to_the_primary(
    server: Demotable, shop: Service, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shop.reconnect()
    customer = shop.customer()
    with demotable(tmp_path_factory.mktemp("former")) as former:
        former.demote()
        hosts = ",".join(each.url.partition("?host=")[2] for each in (former, server))
        url = f"postgresql://tradecounter@/postgres?host={hosts}&target_session_attrs=read-write"
        with running_service(url) as service:
            order_of_another = {"X-Api-Key": customer.key, "Idempotency-Key": "several"}
            response = service.client().post("/order", json=BODY, headers=order_of_another)
            assert response.status_code == 201
